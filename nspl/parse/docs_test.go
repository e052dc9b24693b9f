package parse_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
)

// TestDocumentedStatements parses and lowers every nspl block of the documents
// and every file of the examples: what people copy must work.
func TestDocumentedStatements(t *testing.T) {
	root := filepath.Join("..", "..")
	texts := map[string]string{}
	for _, dir := range []string{"docs", "examples"} {
		collect(t, filepath.Join(root, dir), texts)
	}
	for _, file := range []string{"README.md", "ARCHITECTURE.md"} {
		read(t, filepath.Join(root, file), texts)
	}
	blocks := 0
	for file, text := range texts { //plexus:orderfree independent cases
		for _, block := range nsplBlocks(file, text) {
			blocks++
			checkDocumented(t, file, block)
		}
	}
	if blocks < 15 {
		t.Errorf("only %d blocks found", blocks)
	}
}

func checkDocumented(t *testing.T, file, block string) {
	all, err := parse.Statements(block)
	var d *ast.Diagnostic
	if errors.As(err, &d) {
		t.Errorf("%s: %s", file, d.Explain(block))
	}
	for _, s := range all {
		if c, ok := s.(ast.Declaration); ok {
			if _, found := model.Lower(c); found != nil {
				t.Errorf("%s: %s", file, found.Explain(block))
			}
		}
	}
}

func collect(t *testing.T, dir string, texts map[string]string) {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			read(t, path, texts)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string, texts map[string]string) {
	if ext := filepath.Ext(path); ext != ".md" && ext != ".nspl" {
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	texts[path] = string(data)
}

// nsplBlocks returns the fenced nspl blocks of a document, or a script as one.
func nsplBlocks(file, text string) []string {
	if strings.HasSuffix(file, ".nspl") {
		return []string{text}
	}
	var blocks []string
	parts := strings.Split(text, "```nspl\n")
	for _, part := range parts[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		blocks = append(blocks, block)
	}
	return blocks
}
