package campaign

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/sim"
	"plexus/sim/fault"
	"plexus/sim/oracle"
)

// TestMain lets the test binary be a worker.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "worker" {
		if err := Work(scenarios(), os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

const deadlySeed = 7

// scenarios holds a sound one, one that ends its worker at one seed, one whose
// outcomes are long as well, and one that no two runs of agree about.
func scenarios() []Scenario {
	base := func(name string, setup func(*Run)) Scenario {
		return Scenario{Name: name, Horizon: time.Second, Quiet: time.Second, Setup: func(r *Run) {
			setup(r)
			r.Hold(oracle.Oracle{Name: "quiet", Quiet: func() error { return nil }})
		}}
	}
	other := uint64(0)
	deadly := func(r *Run) {
		if r.Sim.Seed() == deadlySeed {
			fmt.Fprintln(os.Stderr, "last words")
			os.Exit(9)
		}
	}
	return []Scenario{
		base("sound", func(r *Run) { r.Sim.Go("sleeper", func() { r.Sim.Sleep(time.Millisecond, "nothing") }) }),
		base("deadly", deadly),
		base("wordy", func(r *Run) {
			deadly(r)
			r.Sim.Fail("wordy", strings.Repeat("word ", 2<<10))
		}),
		base("moody", func(r *Run) {
			other++
			r.Sim.Mark(r.Sim.Label("mood"), other, 0)
		}),
	}
}

func coordinate(t *testing.T, job Job) []Outcome {
	t.Helper()
	c := &Coordinator{Command: []string{os.Args[0], "worker"}, Workers: 2}
	var out []Outcome
	if err := c.Run(job, func(o Outcome) bool { out = append(out, o); return true }); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(out, func(a, b Outcome) int { return int(a.Seed) - int(b.Seed) })
	return out
}

func TestADeadWorkerCostsItsSeed(t *testing.T) {
	out := coordinate(t, Job{Scenario: "deadly", Count: 60})
	if len(out) != 60 {
		t.Fatalf("%d outcomes of 60 seeds", len(out))
	}
	for i, o := range out {
		if o.Seed != uint64(i) || (o.Broken != "") != (i == deadlySeed) {
			t.Errorf("outcome %d: seed %d, %q", i, o.Seed, o.Broken)
		}
	}
	if !strings.Contains(out[deadlySeed].Broken, "last words") {
		t.Error(out[deadlySeed].Broken)
	}
}

// TestAProcessEndsBetweenChunks has chunks end elsewhere than processes do, by the
// rest that a dead worker leaves behind, and answers longer than a pipe holds.
func TestAProcessEndsBetweenChunks(t *testing.T) {
	const seeds = processSeeds + 4*chunkSeeds
	seen := 0
	c := &Coordinator{Command: []string{os.Args[0], "worker"}, Workers: 1}
	if err := c.Run(Job{Scenario: "wordy", Count: seeds}, func(Outcome) bool { seen++; return true }); err != nil {
		t.Fatal(err)
	}
	if seen != seeds {
		t.Errorf("%d outcomes of %d seeds", seen, seeds)
	}
}

func TestDifferentRunsAreNoticed(t *testing.T) {
	for _, o := range coordinate(t, Job{Scenario: "moody", Count: 4, Twice: 2}) {
		if o.Differs() != (o.Seed%2 == 0) {
			t.Errorf("seed %d: digests %x and %x", o.Seed, o.Digest, o.Again)
		}
	}
	for _, name := range []string{"sound", "moody"} {
		sc, err := Find(scenarios(), name)
		if err != nil {
			t.Fatal(err)
		}
		mismatches, err := Check(sc, Job{Scenario: name, Count: 3}, []Way{{Name: "again"}}, func(string, uint64) {})
		if err != nil || (len(mismatches) == 3) != (name == "moody") {
			t.Errorf("%s: %v, %v", name, mismatches, err)
		}
	}
}

func TestUnknownWorkIsRefused(t *testing.T) {
	for _, job := range []Job{{Scenario: "nothing", Count: 1}, {Scenario: "sound", Strategy: "best", Count: 1}} {
		if out := coordinate(t, job); len(out) != 1 || out[0].Broken == "" {
			t.Errorf("%+v gave %+v", job, out)
		}
	}
}

func TestCommandSaysEverythingThatDecides(t *testing.T) {
	spec := Spec{
		Scenario: "s", Seed: 3, Nodes: 2, Profile: fault.ProfileAll, Strategy: sim.StrategyPCT,
		Horizon: time.Minute, Without: []fault.Class{fault.LinkCut},
	}
	const decides = " --nodes 2 --profile all --strategy pct --for 1m0s --without link-cut"
	for got, want := range map[string]string{ //plexus:orderfree every pair is checked
		Command(spec):      "plexus-sim run --scenario s --seed 3" + decides,
		CheckCommand(spec): "plexus-sim check --scenario s --first 3 --seeds 1" + decides,
	} {
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestReplayFilesKeepTheSpec(t *testing.T) {
	sc, err := Find(scenarios(), "sound")
	if err != nil {
		t.Fatal(err)
	}
	plan := fault.Plan{{At: time.Millisecond, For: time.Second, Class: fault.NameLate, Target: "x", Amount: 5}}
	ran := Execute(sc, Spec{Seed: 4, Plan: &plan, Strategy: sim.StrategySticky}, Watch{})
	data, err := NewReplay(ran).Encode()
	if err != nil {
		t.Fatal(err)
	}
	p, err := DecodeReplay(data)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := p.Spec()
	if err != nil || !reflect.DeepEqual(*spec.Plan, plan) {
		t.Fatalf("%v, %+v", err, spec)
	}
	if again := Execute(sc, spec, Watch{}); again.Digest != ran.Digest {
		t.Error("another run")
	}
	for _, bad := range []string{"", "{}", `{"format":"plexus-replay/9"}`, `{"format":"plexus-replay/1","plan":[{"at":"soon"}]}`} {
		if _, err := DecodeReplay([]byte(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestSilentClassesFailACampaign(t *testing.T) {
	s := NewSummary("s")
	for range silentAfter {
		s.Add(Outcome{Profile: fault.ProfileAll, Allowed: []fault.Class{fault.LinkCut, fault.DiskFull}, Fired: map[fault.Class]int{fault.DiskFull: 1}})
	}
	if got := s.Silent(); !slices.Equal(got, []fault.Class{fault.LinkCut}) {
		t.Errorf("silent: %v", got)
	}
}
