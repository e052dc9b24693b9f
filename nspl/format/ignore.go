package format

import (
	"path"
	"strings"
)

// Ignore is the rules of one .gitignore file.
type Ignore struct{ rules []rule }

// rule is one line.
type rule struct {
	segments []string // of the pattern
	keep     bool     // the line begins with !
	dirs     bool     // it ends with /
	anchored bool     // it has a / before its end, so it counts from the file's directory
}

// ParseIgnore reads the text of a .gitignore file.
func ParseIgnore(text string) *Ignore {
	ig := &Ignore{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		var r rule
		if r.keep = line[0] == '!'; r.keep {
			line = line[1:]
		}
		line = strings.TrimPrefix(line, `\`)
		if r.dirs = strings.HasSuffix(line, "/"); r.dirs {
			line = strings.TrimRight(line, "/")
		}
		r.anchored = strings.Contains(line, "/")
		r.segments = strings.Split(strings.TrimPrefix(line, "/"), "/")
		ig.rules = append(ig.rules, r)
	}
	return ig
}

// Match tells what the rules say about a path relative to their directory, with
// slashes: whether one of them decides it, and whether it is ignored then.
func (ig *Ignore) Match(name string, dir bool) (ignored, decided bool) {
	for _, r := range ig.rules { // the last one that fits decides
		if r.dirs && !dir {
			continue
		}
		segments := strings.Split(name, "/")
		if !r.anchored {
			segments = segments[len(segments)-1:]
		}
		if fits(r.segments, segments) {
			ignored, decided = !r.keep, true
		}
	}
	return ignored, decided
}

// fits matches the segments of a path with those of a pattern, in which ** stands
// for any number of them.
func fits(pattern, name []string) bool {
	if len(pattern) == 0 {
		return len(name) == 0
	}
	if pattern[0] == "**" {
		if len(pattern) == 1 {
			return len(name) > 0
		}
		for i := range len(name) + 1 {
			if fits(pattern[1:], name[i:]) {
				return true
			}
		}
		return false
	}
	if len(name) == 0 {
		return false
	}
	ok, err := path.Match(pattern[0], name[0])
	return err == nil && ok && fits(pattern[1:], name[1:])
}
