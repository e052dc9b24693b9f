package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"plexus/sim/trace"
)

type traceCommand struct {
	File string        `arg:"" type:"existingfile" help:"The trace file."`
	Task string        `help:"Only tasks whose host and name contain this."`
	Grep string        `help:"Only lines that contain this."`
	From time.Duration `help:"Only from this virtual time on."`
	To   time.Duration `help:"Only up to this virtual time."`
}

func (t *traceCommand) Run(c *console) error {
	f, err := os.Open(t.File)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", errUsage, t.File, err)
	}
	h := r.Header
	c.printf("%s seed %d, strategy %s, build %s, %s\n", h.Scenario, h.Seed, h.Strategy, h.Build, h.Arch)
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.File, err)
		}
		if rec.At < t.From || t.To > 0 && rec.At > t.To || t.Task != "" && !strings.Contains(r.Who(rec), t.Task) {
			continue
		}
		if line := r.Render(rec); strings.Contains(line, t.Grep) {
			c.printf("%s\n", line)
		}
	}
}

type diffCommand struct {
	A string `arg:"" type:"existingfile" help:"A trace file."`
	B string `arg:"" type:"existingfile" help:"Another trace file."`
}

func (d *diffCommand) Run(c *console) error { return diffFiles(c, d.A, d.B) }
