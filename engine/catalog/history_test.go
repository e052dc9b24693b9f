package catalog

import (
	"encoding/binary"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
)

// history is what execution references should do, told without a state machine:
// every reference ever used is remembered.
type history struct {
	limit    int
	fence    int64
	phases   map[int64]Phase // by the time in the reference
	finished map[int64]int64
	lost     map[int64]bool // reclaimed
}

func (h *history) kept() (n int) {
	for made := range h.phases { //plexus:orderfree counted
		if !h.lost[made] {
			n++
		}
	}
	return n
}

// answer says what a command should meet, and takes its effect.
func (h *history) answer(made int64, from, to Phase, at int64) string {
	phase, known := h.phases[made]
	known = known && !h.lost[made]
	switch {
	case to < Admitted || to > Finished || to <= from:
		return "invalid"
	case from != 0 && (!known || phase != from):
		return "stale"
	case from == 0 && known:
		return fmt.Sprint("known in ", phase)
	case from == 0 && made < h.fence:
		return "expired"
	case from == 0 && h.kept() >= h.limit:
		return "full"
	}
	h.phases[made] = to
	if to == Finished {
		h.finished[made] = at
	}
	return "applied"
}

func (h *history) reclaim(before int64) {
	for made, phase := range h.phases { //plexus:orderfree the fence is a maximum
		if !h.lost[made] && phase == Finished && h.finished[made] < before && made < before {
			h.lost[made] = true
			h.fence = max(h.fence, made+referenceTick)
		}
	}
}

func outcomeOf(r Result) string {
	switch {
	case r.Known != nil:
		return fmt.Sprint("known in ", r.Known.Phase)
	case r.Refused == nil:
		return "applied"
	case r.Refused.Stale:
		return "stale"
	case r.Refused.Code == ReferenceExpired:
		return "expired"
	case r.Refused.Code == Busy:
		return "full"
	}
	return string(r.Refused.Code)
}

// Admission, joining, expiry and the fence against the model (execution-history).
// A reference that finished once never applies again, reclaimed or not.
func TestExecutionHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := DefaultLimits
		limits.History = uint32(rapid.IntRange(1, 12).Draw(t, "limit"))
		s, _, _ := New(primitives.UUID{7}).Apply(2, &catalogpb.Command{Steps: []*catalogpb.Step{limits.Step()}})
		h := &history{limit: int(limits.History), phases: map[int64]Phase{}, finished: map[int64]int64{}, lost: map[int64]bool{}}
		created := 0 // domains, one for each command that applied
		for i := range rapid.Uint64Range(1, 60).Draw(t, "commands") {
			at := rapid.Int64Range(0, 60).Draw(t, "at") * 1e6
			if rapid.IntRange(0, 5).Draw(t, "reclaim") == 0 {
				before := rapid.Int64Range(0, 60).Draw(t, "before") * 1e6
				s, _, _ = s.Apply(i+3, &catalogpb.Command{At: at, Steps: []*catalogpb.Step{{Body: &catalogpb.Step_Reclaim{Reclaim: &catalogpb.Reclaim{Before: before}}}}})
				h.reclaim(before)
				continue
			}
			reference := primitives.UUID{}
			made := rapid.Int64Range(0, 30).Draw(t, "reference")
			binary.BigEndian.PutUint16(reference[4:], uint16(made))
			made *= 1e6
			from, to := Phase(0), Phase(rapid.IntRange(0, 3).Draw(t, "to"))
			if phase, ok := h.phases[made]; ok && rapid.Bool().Draw(t, "go on") {
				from = phase
			}
			next, result, _ := s.Apply(i+3, &catalogpb.Command{
				At: at, Steps: []*catalogpb.Step{createDomain(fmt.Sprintf("d%d", i))},
				Execution: &catalogpb.Execution{Reference: reference[:], Owner: "u", From: catalogpb.Phase(from), To: catalogpb.Phase(to)},
			})
			got, want := outcomeOf(result), h.answer(made, from, to, next.HighWater)
			if got != want {
				t.Fatalf("command %d from %d to %d: %s, want %s", i, from, to, got, want)
			}
			if want == "applied" {
				created++
			}
			if next.domains.len() != created || next.Fence != h.fence || next.executions.len() != h.kept() {
				t.Fatalf("%d domains, want %d; fence %d, want %d; %d kept, want %d",
					next.domains.len(), created, next.Fence, h.fence, next.executions.len(), h.kept())
			}
			s = next
		}
	})
}

func TestExecutionOutcomes(t *testing.T) {
	reference := []byte{15: 1}
	owner := LeaseOwner(primitives.UUID(reference))
	s, _, _ := New(primitives.UUID{7}).Apply(2, &catalogpb.Command{Steps: []*catalogpb.Step{createDomain("d")}})
	acquire := &catalogpb.Step{Body: &catalogpb.Step_AcquireLease{AcquireLease: &catalogpb.AcquireLease{Domain: "d", Owner: owner}}}
	running := &catalogpb.Step{Body: &catalogpb.Step_SetRunning{SetRunning: &catalogpb.SetRunning{Domain: "d", Running: true}}}
	run := func(index uint64, from, to catalogpb.Phase, steps ...*catalogpb.Step) (*Execution, Result) {
		next, result, _ := s.Apply(index, &catalogpb.Command{At: int64(index), Steps: steps, Execution: &catalogpb.Execution{
			Reference: reference, Owner: "u", Domain: "d", From: from, To: to, Work: []byte("w"), Awaits: []string{"d"}, Reply: []byte("r"),
		}})
		s = next
		x, _ := s.Execution(primitives.UUID(reference))
		return x, result
	}
	held := func() bool {
		d, _ := s.Domain("d")
		return d.Lease != nil && d.Lease.Owner == owner
	}
	x, _ := run(3, catalogpb.Phase_ABSENT, catalogpb.Phase_ADMITTED, acquire)
	if x.Phase != Admitted || string(x.Work) != "w" || !held() {
		t.Fatalf("admitted: %+v, held %t", x, held())
	}
	// What the command was planned from is gone: it is planned again.
	outdated := (&Schedule{Domain: "d"}).Step(99)
	outdated.Lease = 3
	if x, result := run(4, catalogpb.Phase_ADMITTED, catalogpb.Phase_EFFECTIVE, outdated); result.Refused == nil || x.Phase != Admitted {
		t.Fatalf("stale: %+v %+v", x, result)
	}
	running.Lease = 3
	x, _ = run(5, catalogpb.Phase_ADMITTED, catalogpb.Phase_EFFECTIVE, running)
	if x.Phase != Effective || x.Effect != 5 || len(x.Awaits) != 1 || !held() {
		t.Fatalf("effective: %+v", x)
	}
	x, _ = run(6, catalogpb.Phase_EFFECTIVE, catalogpb.Phase_FINISHED)
	if x.Phase != Finished || x.Finished != 6 || x.Work != nil || held() {
		t.Fatalf("finished: %+v, held %t", x, held())
	}
	// A refused effect finishes the command, and gives its lease back.
	reference = []byte{15: 2}
	owner = LeaseOwner(primitives.UUID(reference))
	acquire.GetAcquireLease().Owner = owner
	if run(7, catalogpb.Phase_ABSENT, catalogpb.Phase_ADMITTED, acquire); !held() {
		t.Fatal("not held")
	}
	running.Lease = 7
	x, result := run(8, catalogpb.Phase_ADMITTED, catalogpb.Phase_EFFECTIVE, running)
	if x.Phase != Finished || x.Refusal == nil || x.Refusal != result.Refused || held() {
		t.Fatalf("refused: %+v, held %t", x, held())
	}
}
