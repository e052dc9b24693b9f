package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test binary be the worker that campaigns start.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "worker" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func try(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if got := run(args, &out, &out); got != want {
		t.Fatalf("plexus-sim %s: exit status %d, want %d\n%s", strings.Join(args, " "), got, want, out.String())
	}
	return out.String()
}

func TestUsage(t *testing.T) {
	try(t, exitUsage, "frob")
	try(t, exitUsage, "run", "--scenario", "nope", "--seed", "1")
	try(t, exitUsage, "run", "--scenario", "register")
	try(t, exitUsage, "campaign", "--scenario", "nope*")
	try(t, exitUsage, "campaign", "--scenario", "[")
	if out := try(t, exitUsage, "check", "--scenario", "register-*"); !strings.Contains(out, "whole name") || !strings.Contains(out, "register-torn") {
		t.Error(out)
	}
	try(t, exitClean, "--help")
	if out := try(t, exitClean, "list"); !strings.Contains(out, "register-torn") || !strings.Contains(out, "power-loss") {
		t.Error(out)
	}
}

func TestAFailureFromCampaignToReplay(t *testing.T) {
	dir := t.TempDir()
	out := try(t, exitViolated, "campaign", "--scenario", "register-unsynced", "--seeds", "200", "--out", dir)
	if !strings.HasPrefix(out, "FAIL register-unsynced oracle=linearizable seed=") ||
		!strings.Contains(out, "plexus-sim run --scenario register-unsynced --seed ") {
		t.Fatal(out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.plr"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if out = try(t, exitViolated, "replay", files[0]); strings.Contains(out, "another failure") {
		t.Error(out)
	}
	small := filepath.Join(dir, "small.plr")
	try(t, exitClean, "shrink", files[0], "--budget", "5s", "--out", small)
	out = try(t, exitViolated, "replay", small)
	for _, told := range []string{"event for event", "plexus-sim replay " + small, "last operations on "} {
		if !strings.Contains(out, told) {
			t.Errorf("the report does not tell %q:\n%s", told, out)
		}
	}
	try(t, exitUsage, "replay", filepath.Join(dir, "missing.plr"))
	if err := os.WriteFile(small, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	try(t, exitUsage, "replay", small)
}

func TestCleanCampaignAndCheck(t *testing.T) {
	out := try(t, exitClean, "campaign", "--scenario", "register", "--seeds", "60", "--json", filepath.Join(t.TempDir(), "sum.json"))
	if !strings.Contains(out, "register: 60 seeds, 0 failed, 0 broken") {
		t.Error(out)
	}
	out = try(t, exitClean, "check", "--scenario", "register", "--seeds", "10", "--fresh")
	if !strings.Contains(out, "10 seeds, 3 ways, 0 differences") {
		t.Error(out)
	}
}

func TestTraceAndDiff(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.plt"), filepath.Join(dir, "b.plt")
	try(t, exitClean, "run", "--scenario", "register", "--seed", "5", "--strategy", "random", "--trace", a)
	try(t, exitClean, "run", "--scenario", "register", "--seed", "5", "--strategy", "pct", "--trace", b)
	if out := try(t, exitClean, "diff", a, a); !strings.Contains(out, "no difference") {
		t.Error(out)
	}
	if out := try(t, exitNondeterministic, "diff", a, b); !strings.Contains(out, "first difference at event") {
		t.Error(out)
	}
	if out := try(t, exitClean, "trace", a, "--task", "register/", "--to", "5s"); strings.Count(out, "\n") < 20 {
		t.Error(out)
	}
}

// TestTheCorpusHolds runs the confirmed failures of the repository.
func TestTheCorpusHolds(t *testing.T) {
	out := try(t, exitClean, "corpus", "run", "../../sim/corpus")
	if !strings.Contains(out, "caught") {
		t.Error(out)
	}
}

// TestFailoverStaysInItsBounds looks at a few failovers; many are for the command.
func TestFailoverStaysInItsBounds(t *testing.T) {
	out := try(t, exitClean, "failover", "--seeds", "6", "--workers", "1")
	for _, told := range []string{"commands accepted", "records flowing", "records in flight", "6 values: least"} {
		if !strings.Contains(out, told) {
			t.Errorf("the report does not tell %q:\n%s", told, out)
		}
	}
}
