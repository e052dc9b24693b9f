package catalog

import (
	"testing"

	"pgregory.net/rapid"

	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
)

// While a lease is held, nothing of the domain but the lease changes, except by a
// command that presents it (C5, leases).
func TestLeases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := populated()
		for i := range rapid.Uint64Range(1, 40).Draw(t, "commands") {
			command := drawCommand(t, s, i)
			index := i + startIndex
			next, result, _ := s.Apply(index, command)
			presented := map[uint64]bool{}
			for _, step := range command.GetSteps() {
				presented[step.GetLease()] = true
				if release := step.GetReleaseLease(); release != nil {
					presented[release.GetIndex()] = true
				}
				if advance := step.GetAdvanceTransaction(); advance != nil {
					// The end of a transaction gives its lease back.
					if x, ok := s.Transaction(uuid(advance.GetId())); ok {
						presented[x.Lease] = true
					}
				}
			}
			for d := range s.Domains() {
				if d.Lease == nil || presented[d.Lease.Index] {
					continue
				}
				after, ok := next.Domain(d.Name)
				if !ok || after != d || next.schedules != s.schedules && scheduleOf(next, d.Name) != scheduleOf(s, d.Name) {
					t.Fatalf("domain %s changed under lease %v: %v", d.Name, d.Lease, result)
				}
			}
			for d := range next.Domains() {
				if d.Lease == nil || d.Lease.Index != index {
					continue
				}
				if before, ok := s.Domain(d.Name); ok && before.Lease != nil && !presented[before.Lease.Index] {
					t.Fatalf("domain %s has a second lease", d.Name)
				}
			}
			s = next
		}
	})
}

func scheduleOf(s *State, domain string) *Schedule {
	x, _ := s.Schedule(domain)
	return x
}

func TestLeaseRefusals(t *testing.T) {
	s := populated()
	start := &catalogpb.SetRunning{Domain: "b", Running: true}
	for _, c := range []struct {
		name  string
		steps []*catalogpb.Step
		want  string
	}{
		{"another owner", []*catalogpb.Step{{Body: &catalogpb.Step_AcquireLease{AcquireLease: &catalogpb.AcquireLease{Domain: "b", Owner: "command 2"}}}},
			"conflict: domain 'b' is being changed by transaction 1"},
		{"no lease", []*catalogpb.Step{{Body: &catalogpb.Step_SetRunning{SetRunning: start}}},
			"conflict: domain 'b' is being changed by transaction 1"},
		{"an older lease", []*catalogpb.Step{{Lease: 5, Body: &catalogpb.Step_SetRunning{SetRunning: start}}},
			"conflict: domain 'b' is being changed by transaction 1"},
		{"a lease nobody holds", []*catalogpb.Step{{Lease: 6, Body: &catalogpb.Step_SetRunning{SetRunning: &catalogpb.SetRunning{Domain: "c", Running: true}}}},
			"conflict: lease 6 of domain 'c' is not held"},
		{"release of another", []*catalogpb.Step{{Body: &catalogpb.Step_ReleaseLease{ReleaseLease: &catalogpb.ReleaseLease{Domain: "b", Index: 5, Owner: "transaction 1"}}}},
			"conflict: lease 5 of domain 'b' is not held"},
		{"the held one", []*catalogpb.Step{{Lease: 6, Body: &catalogpb.Step_SetRunning{SetRunning: start}}}, ""},
		{"acquired by the same command", []*catalogpb.Step{
			{Body: &catalogpb.Step_ReleaseLease{ReleaseLease: &catalogpb.ReleaseLease{Domain: "b", Index: 6, Owner: "transaction 1"}}},
			{Body: &catalogpb.Step_AcquireLease{AcquireLease: &catalogpb.AcquireLease{Domain: "b", Owner: "command 2"}}},
			{Body: &catalogpb.Step_SetRunning{SetRunning: start}},
		}, ""},
	} {
		_, result, _ := s.Apply(startIndex, &catalogpb.Command{Steps: c.steps})
		got := ""
		if result.Refused != nil {
			got = result.Refused.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A state tells whether its leases were respected.
func TestRespected(t *testing.T) {
	s := New(primitives.UUID{7})
	reference := []byte{15: 1}
	run := func(index uint64, x *catalogpb.Execution, steps ...*catalogpb.Step) {
		next, result, _ := s.Apply(index, &catalogpb.Command{Steps: steps, Execution: x})
		if result.Refused != nil {
			t.Fatal(result.Refused)
		}
		s = next
	}
	start := func(running bool, lease uint64) *catalogpb.Step {
		return &catalogpb.Step{Lease: lease, Body: &catalogpb.Step_SetRunning{SetRunning: &catalogpb.SetRunning{Domain: "d", Running: running}}}
	}
	run(2, nil, createDomain("d"))
	run(3, &catalogpb.Execution{Reference: reference, Owner: "u", To: catalogpb.Phase_ADMITTED},
		&catalogpb.Step{Body: &catalogpb.Step_AcquireLease{AcquireLease: &catalogpb.AcquireLease{Domain: "d", Owner: LeaseOwner(primitives.UUID(reference))}}})
	run(4, &catalogpb.Execution{Reference: reference, Owner: "u", From: catalogpb.Phase_ADMITTED, To: catalogpb.Phase_EFFECTIVE}, start(true, 3))
	if err := s.Respected(); err != nil {
		t.Fatal(err)
	}
	run(5, nil, start(false, 3))
	if err := s.Respected(); err == nil {
		t.Fatal("a write of somebody else went unnoticed")
	}
}
