package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"plexus/engine/script"
	"plexus/nspl/ast"
	"plexus/nspl/format"
	"plexus/nspl/parse"
)

// The exit statuses of plexus fmt; the highest that applies is returned.
const (
	fmtDone = iota
	fmtUnformatted
	fmtUsage
	fmtNotParsed
	fmtUnreadable
	fmtDefect
)

type fmtCommand struct {
	Check  bool     `xor:"mode" help:"List the files that are not formatted and change nothing."`
	Stdout bool     `xor:"mode" help:"Print what is formatted instead of writing it."`
	Paths  []string `arg:"" help:"Files, directories to search for *.nspl, or - to filter standard input."`
}

func (c *fmtCommand) run(_ context.Context, p *program) int {
	status := fmtDone
	for _, path := range c.Paths {
		status = max(status, c.path(p, path))
	}
	return status
}

// path formats a file, what a directory holds, or standard input.
func (c *fmtCommand) path(p *program, path string) int {
	if path == "-" {
		text, err := io.ReadAll(p.in)
		if err != nil {
			return c.failed(p, "standard input", err)
		}
		formatted, status := c.text(p, "standard input", text)
		if status != fmtDone {
			return status
		}
		if c.Check {
			return c.compare(p, "standard input", text, formatted)
		}
		fmt.Fprint(p.out, formatted)
		return fmtDone
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return c.failed(p, path, err)
	case !info.IsDir():
		return c.file(p, path)
	}
	files, err := scripts(path)
	status := fmtDone
	if err != nil {
		status = c.failed(p, path, err)
	}
	for _, file := range files {
		status = max(status, c.file(p, file))
	}
	return status
}

func (c *fmtCommand) failed(p *program, path string, err error) int {
	fmt.Fprintf(p.err, "plexus: %s: %v\n", path, err)
	return fmtUnreadable
}

func (c *fmtCommand) compare(p *program, path string, text []byte, formatted string) int {
	if string(text) == formatted {
		return fmtDone
	}
	fmt.Fprintln(p.out, path)
	return fmtUnformatted
}

// file formats one file.
func (c *fmtCommand) file(p *program, path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return c.failed(p, path, err)
	}
	formatted, status := c.text(p, path, text)
	switch {
	case status != fmtDone:
		return status
	case c.Check:
		return c.compare(p, path, text, formatted)
	case c.Stdout:
		fmt.Fprint(p.out, formatted)
		return fmtDone
	case string(text) == formatted:
		return fmtDone
	}
	if err := replace(path, formatted); err != nil {
		return c.failed(p, path, err)
	}
	return fmtDone
}

// text formats one text; the status tells why there is none.
func (c *fmtCommand) text(p *program, path string, text []byte) (string, int) {
	if !utf8.Valid(text) {
		return "", c.failed(p, path, errors.New("not UTF-8"))
	}
	formatted, err := format.Text(string(text))
	var d *ast.Diagnostic
	switch {
	case err == nil:
		return formatted, fmtDone
	case errors.As(err, &d):
		_, faults := parse.Script(string(text)) // all of them
		fmt.Fprint(p.err, script.File{Name: path, Text: string(text)}.Explain(faults, script.NoColours))
		return "", fmtNotParsed
	}
	fmt.Fprintf(p.err, "plexus: %s: %v; nothing was written: please report this\n", path, err)
	return "", fmtDefect
}

// replace writes a file beside the old one and moves it into its place, with its
// mode.
func replace(path, text string) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		return err
	}
	_, err = temp.WriteString(text)
	err = errors.Join(err, temp.Chmod(info.Mode().Perm()), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), target)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

// ignoring is the .gitignore files that count below a directory, each with where
// it lies.
type ignoring struct {
	dir   string
	rules *format.Ignore
	outer *ignoring
}

// enter adds the .gitignore file of a directory, if it has one.
func (ig *ignoring) enter(dir string) *ignoring {
	text, err := os.ReadFile(filepath.Join(dir, ".gitignore"))
	if err != nil {
		return ig
	}
	return &ignoring{dir, format.ParseIgnore(string(text)), ig}
}

// ignored asks the files from the innermost on.
func (ig *ignoring) ignored(path string, dir bool) bool {
	for ; ig != nil; ig = ig.outer {
		name, err := filepath.Rel(ig.dir, path)
		if err != nil {
			continue
		}
		if ignored, decided := ig.rules.Match(filepath.ToSlash(name), dir); decided {
			return ignored
		}
	}
	return false
}

// scripts lists the *.nspl files below a directory in order, without what
// .gitignore leaves out, hidden directories and symbolic links.
func scripts(root string) ([]string, error) {
	absolute, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	var files []string
	var walk func(dir string, ig *ignoring) error
	walk = func(dir string, ig *ignoring) error {
		ig = ig.enter(dir)
		entries, err := os.ReadDir(dir) // in order
		for _, entry := range entries {
			path := filepath.Join(dir, entry.Name())
			switch {
			case ig.ignored(path, entry.IsDir()):
			case entry.IsDir() && !strings.HasPrefix(entry.Name(), "."):
				err = errors.Join(err, walk(path, ig))
			case entry.Type().IsRegular() && filepath.Ext(path) == ".nspl":
				files = append(files, filepath.Join(root, strings.TrimPrefix(path, absolute)))
			}
		}
		return err
	}
	err = walk(absolute, above(absolute))
	slices.Sort(files)
	return files, err
}

// above collects the .gitignore files between a directory and the root of its
// repository.
func above(dir string) *ignoring {
	var outer []string
	for at := dir; ; {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil || !errors.Is(err, fs.ErrNotExist) {
			break
		}
		parent := filepath.Dir(at)
		if parent == at {
			return nil // no repository
		}
		outer = append(outer, parent)
		at = parent
	}
	var ig *ignoring
	for _, at := range slices.Backward(outer) {
		ig = ig.enter(at)
	}
	return ig
}
