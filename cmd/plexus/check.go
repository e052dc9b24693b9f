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
	Files   []string `arg:"" help:"Files that are one script, in order; - is standard input."`
}

func (c *checkCommand) run(_ context.Context, p *program) int {
	var files []script.File
	for _, name := range append(c.Against, c.Files...) {
		text, err := p.read(name)
		if err == nil && !utf8.Valid(text) {
			err = fmt.Errorf("%s is not UTF-8", name)
		}
		if err != nil {
			fmt.Fprintf(p.err, "plexus: %v\n", err)
			return statusUsage
		}
		files = append(files, script.File{Name: name, Text: string(text)})
	}
	r := script.Check(files...)
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
