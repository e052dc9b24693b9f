package decide

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRules holds the list of rules to the cases that show them: every place exists,
// every case of a stage is the place of a rule, and a case says what the rule
// refuses.
func TestRules(t *testing.T) {
	text, err := os.ReadFile("testdata/rules.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen, placed := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.SplitN(line, " | ", 4)
		if len(parts) != 4 || seen[parts[0]] {
			t.Errorf("%q is no new rule | section | place | what", line)
			continue
		}
		rule, place := parts[0], parts[2]
		seen[rule] = true
		if file, name, ok := strings.Cut(place, "#"); ok {
			placed[place] = true
			if c := caseOf(t, file, name); c == nil {
				t.Errorf("%s: there is no case %s", rule, place)
			} else if refuses := strings.Contains(c.output, ": "); refuses == strings.HasPrefix(parts[3], "nothing: ") {
				t.Errorf("%s: %s says\n%s", rule, place, c.output)
			}
			continue
		}
		where, what, _ := strings.Cut(place, ": ")
		if where != "unreachable" && !shown(t, where, what) {
			t.Errorf("%s: %s does not show %q", rule, where, what)
		}
	}
	for _, stage := range []string{"v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "sessions"} {
		_, cases := golden(t, "testdata/"+stage)
		for _, c := range cases {
			if place := stage + "#" + c.name; !placed[place] {
				t.Errorf("%s shows no rule", place)
			}
		}
	}
}

// caseOf finds a case by its name.
func caseOf(t *testing.T, file, name string) *goldenCase {
	_, cases := golden(t, "testdata/"+file)
	for i := range cases {
		if cases[i].name == name {
			return &cases[i]
		}
	}
	return nil
}

// shown reports whether a file of the repository, or of this package's cases, or one
// of a directory holds a text.
func shown(t *testing.T, where, what string) bool {
	path := filepath.Join("..", "..", where)
	if !strings.Contains(where, "/") {
		path = filepath.Join("testdata", where)
	}
	files := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		files, _ = filepath.Glob(filepath.Join(path, "*"))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		if strings.Contains(string(text), what) {
			return true
		}
	}
	return false
}
