package main

import (
	"cmp"
	"fmt"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"plexus/primitives/check"
)

// configurations are the builds whose files together are all files that rules
// hold for; those of another platform are in real/ only.
var configurations = []struct {
	name, tags string
}{
	{name: "default"},
	{name: "planted", tags: "planted"},
}

func main() {
	patterns := os.Args[1:]
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	r := report{findings: map[finding]bool{}, exemptions: map[string]int{}}
	for _, c := range configurations {
		config := packages.Config{Mode: packages.LoadSyntax | packages.NeedModule, Tests: true, BuildFlags: []string{"-tags=" + c.tags}}
		if err := r.add(&config, patterns); err != nil {
			fmt.Fprintf(os.Stderr, "plexus-vet: %s build: %v\n", c.name, err)
			os.Exit(2)
		}
	}
	if !r.print() {
		os.Exit(1)
	}
}

// finding is one line of the report.
type finding struct {
	file    string
	line    int
	column  int
	message string
}

// report collects what all configurations show.
type report struct {
	findings   map[finding]bool
	exemptions map[string]int // by package, the most of any configuration
}

// add runs the rules on one configuration.
func (r *report) add(config *packages.Config, patterns []string) error {
	loaded, err := packages.Load(config, patterns...)
	if err != nil {
		return err
	}
	// A package that does not compile hides nothing in the others.
	loaded = slices.DeleteFunc(loaded, func(p *packages.Package) bool {
		for _, e := range p.Errors {
			r.findings[finding{file: p.PkgPath, message: e.Error()}] = true
		}
		return p.IllTyped
	})
	graph, err := checker.Analyze(check.Analyzers(), widest(loaded), nil)
	if err != nil {
		return err
	}
	for _, action := range graph.Roots {
		if action.Err != nil {
			return fmt.Errorf("%s: %w", action, action.Err)
		}
		for _, d := range action.Diagnostics {
			r.findings[newFinding(action.Package.Fset.Position(d.Pos), d.Message)] = true
		}
		if action.Analyzer == check.Exemptions {
			p := action.Package.PkgPath
			r.exemptions[p] = max(r.exemptions[p], action.Result.(int))
		}
	}
	return nil
}

// widest leaves out test binaries, and a package whose variant with its tests is
// there as well.
func widest(loaded []*packages.Package) []*packages.Package {
	withTests := map[string]bool{}
	isVariant := func(p *packages.Package) bool { return strings.Contains(p.ID, " [") }
	for _, p := range loaded {
		if isVariant(p) {
			withTests[p.PkgPath] = true
		}
	}
	return slices.DeleteFunc(loaded, func(p *packages.Package) bool {
		return strings.HasSuffix(p.PkgPath, ".test") || !isVariant(p) && withTests[p.PkgPath]
	})
}

func newFinding(at token.Position, message string) finding {
	file := at.Filename
	if dir, err := os.Getwd(); err == nil {
		if relative, err := filepath.Rel(dir, file); err == nil && !strings.HasPrefix(relative, "..") {
			file = relative
		}
	}
	return finding{file, at.Line, at.Column, message}
}

// print writes the report and reports whether all is well.
func (r *report) print() bool {
	order := func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column), cmp.Compare(a.message, b.message))
	}
	for _, f := range slices.SortedFunc(maps.Keys(r.findings), order) {
		fmt.Printf("%s:%d:%d: %s\n", f.file, f.line, f.column, f.message)
	}
	ok, total := len(r.findings) == 0, 0
	for _, p := range slices.Sorted(maps.Keys(r.exemptions)) {
		n, recorded := r.exemptions[p], check.Allowed.Packages[p]
		total += n
		if n > recorded {
			fmt.Printf("%s: %d exemptions, %d recorded in primitives/check/allow.txt\n", p, n, recorded)
			ok = false
		}
	}
	fmt.Printf("%d findings, %d exemptions\n", len(r.findings), total)
	return ok
}
