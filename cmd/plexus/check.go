package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"golang.org/x/term"

	"plexus/engine/script"
)

type checkCommand struct {
	Against []string `placeholder:"FILE" help:"Check as what follows this script; may be repeated."`
	Paths   []string `arg:"" name:"files" help:"Files that are one script, in order; - is standard input. Of a directory, each *.nspl file is a script of its own."`
}

func (c *checkCommand) run(_ context.Context, p *program) int {
	before, scripts, err := c.files(p)
	if err != nil {
		fmt.Fprintf(p.err, "plexus: %v\n", err)
		return statusUsage
	}
	r, files := script.CheckEach(before, scripts)
	if p.options.Format == "json" {
		report, err := r.JSON(files)
		if err != nil {
			fmt.Fprintf(p.err, "plexus: %v\n", err)
			return statusUsage
		}
		fmt.Fprintf(p.out, "%s\n", report)
	} else {
		colours := script.NoColours
		if p.coloured() {
			colours = script.Terminal
		}
		fmt.Fprint(p.out, r.Text(files, colours))
	}
	if len(r.Findings) > 0 {
		return statusFailed
	}
	return statusDone
}

// files reads what is to be checked: the script of the files that are named, and one
// for each file of a directory.
func (c *checkCommand) files(p *program) (before []script.File, list [][]script.File, err error) {
	for _, name := range c.Against {
		f, err := p.script(name)
		if err != nil {
			return nil, nil, err
		}
		before = append(before, f)
	}
	var named []script.File
	for _, path := range c.Paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() { // standard input, too
			f, err := p.script(path)
			if err != nil {
				return nil, nil, err
			}
			named = append(named, f)
			continue
		}
		names, err := scripts(path)
		if err == nil && len(names) == 0 {
			err = fmt.Errorf("%s holds no *.nspl files", path)
		}
		if err != nil {
			return nil, nil, err
		}
		for _, name := range names {
			f, err := p.script(name)
			if err != nil {
				return nil, nil, err
			}
			list = append(list, []script.File{f})
		}
	}
	if len(named) > 0 {
		list = append([][]script.File{named}, list...)
	}
	return before, list, nil
}

// script reads a file of a script.
func (p *program) script(name string) (script.File, error) {
	text, err := p.read(name)
	if err == nil && !utf8.Valid(text) {
		err = fmt.Errorf("%s is not UTF-8", name)
	}
	return script.File{Name: name, Text: string(text)}, err
}

// read reads a file, or standard input for -.
func (p *program) read(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(p.in)
	}
	return os.ReadFile(name)
}

// coloured reports whether output goes to a terminal that shows colours.
func (p *program) coloured() bool {
	out, ok := p.out.(*os.File)
	return ok && term.IsTerminal(int(out.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
