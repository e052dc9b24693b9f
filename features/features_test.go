package features

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plexus/features/containerworld"
	"plexus/features/harness"
	"plexus/features/realworld"
	"plexus/features/simworld"
)

var run *harness.Run

func TestMain(m *testing.M) {
	options := harness.Flags(flag.CommandLine)
	flag.Parse()
	world, err := open(options.World)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	run = harness.NewRun(*options, world)
	os.Exit(run.Finish(m.Run(), "required.txt"))
}

func open(name string) (harness.World, error) {
	switch name {
	case "sim":
		return simworld.New(), nil
	case "local":
		return realworld.New("local", realworld.Local)
	case "containers":
		return containerworld.New()
	default:
		return nil, fmt.Errorf("no world %q: sim, local or containers", name)
	}
}

func TestFeatures(t *testing.T) {
	files, err := harness.Features(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.ToSlash(file), ".feature")
		t.Run(name, func(t *testing.T) { run.Feature(t, file) })
	}
}

// TestMatrix keeps the map from faults to scenarios true: every row that applies
// names scenarios, and each of them exists.
func TestMatrix(t *testing.T) {
	scenarios, err := harness.Scenarios(".")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := harness.Matrix("matrix.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 {
		t.Fatal("matrix.md has no rows")
	}
	for _, row := range rows {
		if len(row.Scenarios) == 0 {
			t.Errorf("fault %q has no scenario", row.Fault)
		}
		for _, scenario := range row.Scenarios {
			if !scenarios[scenario] {
				t.Errorf("fault %q names %q, which is no scenario", row.Fault, scenario)
			}
		}
	}
}
