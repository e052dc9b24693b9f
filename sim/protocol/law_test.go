package protocol

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/sim/campaign"
	"plexus/sim/fault"
)

// Every prefix of the protocol followed by any crash ends in one owner with the
// latest prepared or reported-reset state (handoff; CP-5, CP-6): a calm cluster
// that moves its operators all the time, and one or two processes or machines that
// end between two turns of their tasks.
func TestHandoffLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := fault.Plan{}
		at := 2 * time.Second
		for range rapid.IntRange(1, 2).Draw(t, "crashes") {
			at += time.Duration(rapid.Int64Range(0, int64(4*time.Second)).Draw(t, "at"))
			plan = append(plan, fault.Entry{
				At: at, Class: rapid.SampledFrom([]fault.Class{fault.ProcessKill, fault.HostCrash}).Draw(t, "class"),
				Target: rapid.SampledFrom(machines).Draw(t, "node"), For: time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(6*time.Second)).Draw(t, "for")),
				Amount: rapid.Int64Range(0, 500).Draw(t, "turns"),
			})
		}
		handsOver(t, rapid.Uint64Range(0, 1000).Draw(t, "seed"), plan)
	})
}

// handsOver runs the cluster of the law.
func handsOver(t rapid.TB, seed uint64, plan fault.Plan) {
	s := Handoffs()
	s.Horizon, s.Quiet = 8*time.Second, 25*time.Second
	if r := campaign.Execute(s, campaign.Spec{Seed: seed, Plan: &plan}, campaign.Watch{}); r.Failure != nil {
		t.Fatalf("%v\n%v\n%s", plan, r.Failure.Report(), r.Evidence)
	}
}

// A forced recovery whose commit is in doubt and whose lost owner comes back leaves
// a preparation that no gate and no other process will ever end.
func TestARecoveryInDoubtLeavesNothing(t *testing.T) {
	handsOver(t, 20, fault.Plan{
		{At: 2 * time.Second, Class: fault.ProcessKill, Target: "a", Amount: 196, For: 6 * time.Second},
		{At: 2*time.Second + 390, Class: fault.ProcessKill, Target: "b", Amount: 6, For: 1168368},
	})
}
