package parse_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plexus/nspl/parse"
)

// TestReservedWords compares the list of the manual with the table of the parser.
func TestReservedWords(t *testing.T) {
	data, err := os.ReadFile("../../docs/manual/language.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(data), "### Reserved words")
	_, block, _ := strings.Cut(section, "```text\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatal("the manual has no list of reserved words")
	}
	shown := strings.Fields(strings.ToLower(block))
	if want := parse.ReservedWords(); !slices.Equal(shown, want) {
		t.Errorf("the manual lists %v\nthe parser has   %v", shown, want)
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)#]*)(#[^)]*)?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// TestLinks follows every link between the documents, to its heading.
func TestLinks(t *testing.T) {
	anchors := func(page string) (list []string) {
		data, _ := os.ReadFile(page)
		for _, h := range heading.FindAllStringSubmatch(string(data), -1) {
			slug := strings.Map(func(r rune) rune {
				switch {
				case r == ' ':
					return '-'
				case r == '-', r == '_', r >= 'a' && r <= 'z', r >= '0' && r <= '9':
					return r
				}
				return -1
			}, strings.ToLower(strings.TrimSpace(h[1])))
			list = append(list, "#"+slug)
		}
		return list
	}
	err := filepath.WalkDir("../../docs", func(page string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(page) != ".md" {
			return err
		}
		data, err := os.ReadFile(page)
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			to := page
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(page), m[1])
			}
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %s leads nowhere", page, m[0])
			} else if m[2] != "" && !slices.Contains(anchors(to), m[2]) {
				t.Errorf("%s: %s has no such heading", page, m[0])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
