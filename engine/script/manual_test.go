package script_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plexus/engine/script"
	"plexus/nspl/ast"
	"plexus/nspl/parse"
)

const manual = "../../docs/manual"

// piece is one statement of a page.
type piece struct{ key, text string }

// pieces returns the statements of the nspl blocks of a page. Those that declare
// something have its kind and name as key.
func pieces(t *testing.T, page string) (list []piece) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(data), "```nspl\n")[1:] {
		block, _, _ = strings.Cut(block, "\n```")
		spans, _, _ := parse.Split(block)
		for _, span := range spans {
			text := block[span.Start:span.End]
			s, err := parse.Statement(text)
			if err != nil {
				t.Errorf("%s: %s: %v", page, text, err)
				continue
			}
			key := ""
			if d, ok := s.(ast.Declaration); ok {
				key = d.Declares().String() + " " + d.Declared().Name.Text
			}
			list = append(list, piece{key, strings.TrimSuffix(text, ";") + ";\n"})
		}
	}
	return list
}

// TestManual checks each page of the manual as one script: on top of the definitions
// that examples use, in which what the page defines itself takes the place of its
// namesake.
func TestManual(t *testing.T) {
	example := filepath.Join(manual, "nspl", "example.md")
	pages, err := filepath.Glob(filepath.Join(manual, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob(filepath.Join(manual, "nspl", "*.md"))
	for _, page := range append(pages, more...) {
		own := pieces(t, page)
		if len(own) == 0 {
			continue
		}
		var before, after strings.Builder
		if alone := filepath.Base(page) == "pipeline.md"; page != example && !alone {
			base := pieces(t, example)
			at := map[string]int{}
			for i, p := range base {
				if p.key != "" {
					at[p.key] = i
				}
			}
			for _, p := range own {
				if i, ok := at[p.key]; ok && p.key != "" {
					base[i] = p
					delete(at, p.key) // the second one is a change
					continue
				}
				after.WriteString(p.text)
			}
			for _, p := range base {
				before.WriteString(p.text)
			}
		} else {
			for _, p := range own {
				after.WriteString(p.text)
			}
		}
		texts := []string{before.String(), after.String()}
		r := script.Check(script.File{Name: "example", Text: texts[0]}, script.File{Name: page, Text: texts[1]})
		for _, f := range r.Findings {
			t.Errorf("%s: %s", page, f.Explain(texts[f.File]))
		}
	}
}
