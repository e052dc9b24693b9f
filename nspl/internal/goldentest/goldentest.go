package goldentest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the outputs of golden files")

// Case is one case of a file.
type Case struct {
	Command string
	Input   string
	Output  string
	before  string // comments and blank lines in front
}

// Run runs every file of a directory; eval returns the output of a case, which
// ends in a newline.
func Run(t *testing.T, dir string, eval func(t *testing.T, c Case) string) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files in %s (%v)", dir, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { runFile(t, file, eval) })
	}
}

func runFile(t *testing.T, file string, eval func(t *testing.T, c Case) string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cases, tail := split(t, file, string(data))
	var rewritten strings.Builder
	for _, c := range cases {
		got := eval(t, c)
		if *update {
			rewritten.WriteString(c.before + c.Command + "\n" + c.Input + "\n----\n" + got)
		} else if got != c.Output {
			t.Errorf("%s: %s\n%s\n---- want\n%s---- got\n%s", file, c.Command, c.Input, c.Output, got)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(rewritten.String()+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Cases returns the cases of a file, for tests of something else that want its
// inputs.
func Cases(t testing.TB, file, data string) []Case {
	cases, _ := split(t, file, data)
	return cases
}

// All returns the cases of every file of a directory.
func All(t testing.TB, dir string) (cases []Case) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files in %s (%v)", dir, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, Cases(t, file, string(data))...)
	}
	return cases
}

func split(t testing.TB, file, data string) (cases []Case, tail string) {
	lines := strings.SplitAfter(data, "\n")
	for i := 0; i < len(lines); {
		var c Case
		for i < len(lines) && (strings.TrimSpace(lines[i]) == "" || lines[i][0] == '#') {
			c.before += lines[i]
			i++
		}
		if i == len(lines) {
			return cases, c.before
		}
		c.Command = strings.TrimSpace(lines[i])
		var input string
		for i++; i < len(lines) && lines[i] != "----\n"; i++ {
			input += lines[i]
		}
		if i == len(lines) {
			t.Fatalf("%s: case %q has no ----", file, c.Command)
		}
		c.Input = strings.TrimSuffix(input, "\n")
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != ""; i++ {
			c.Output += lines[i]
		}
		cases = append(cases, c)
	}
	return cases, ""
}
