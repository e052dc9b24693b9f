package transaction_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/engine/schedule"
	"plexus/engine/transaction"
	"plexus/engine/transaction/transactionpb"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

const domain = "d"

// world is a state with the nodes that planning sees.
type world struct {
	state *catalog.State
	nodes []schedule.Node
	seed  *uint64 // of a random scheduler
}

func newWorld(t rapid.TB) *world {
	w := &world{state: catalog.New(primitives.UUID{1})}
	w.apply(t, &catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: domain}}})
	for i := range uint64(2) {
		id := fmt.Sprintf("n%d", i+1)
		w.apply(t, &catalogpb.Step{Body: &catalogpb.Step_AddNode{AddNode: &catalogpb.AddNode{Node: &catalogpb.Node{
			Id: id, RaftId: i + 1, Role: catalogpb.Node_VOTER}}}})
		w.nodes = append(w.nodes, schedule.Node{ID: id, Live: true, Voter: true})
	}
	return w
}

func (w *world) view() transaction.View {
	return transaction.View{State: w.state, Cluster: decide.Cluster{Nodes: w.nodes, Random: w.seed}}
}

func (w *world) apply(t rapid.TB, steps ...*catalogpb.Step) {
	t.Helper()
	next, result, _ := w.state.Apply(w.state.Applied+1, &catalogpb.Command{Steps: steps})
	if result.Refused != nil {
		t.Fatalf("refused: %v", result.Refused)
	}
	w.state = next
}

// carry applies a plan step by step, as a leader does.
func (w *world) carry(t rapid.TB, p *transaction.Plan) {
	t.Helper()
	for _, step := range p.Steps {
		d, _ := w.state.Domain(domain)
		w.apply(t, transaction.Changes(step, 0, w.state.CapturedOf(d))...)
	}
}

// models lists the definitions with their text.
func (w *world) models() (list []string) {
	for m := range w.state.Models(domain) {
		list = append(list, m.Text)
	}
	return list
}

var templates = []string{
	"CREATE SCHEMA %[1]s (x U8)", "CREATE SCHEMA %[1]s (x U8, y STRING)", "CREATE IF NOT EXISTS SCHEMA %[1]s (x U8)", "DROP SCHEMA %[1]s",
	"CREATE RELAY %[1]s SCHEMA %[2]s UNBRANCHED", "CREATE RELAY %[1]s SCHEMA %[2]s UNBRANCHED CAPACITY 5", "DROP RELAY %[1]s",
	"CREATE JUNCTION %[1]s FROM %[2]s UNBRANCHED TO %[1]s INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG", "DROP JUNCTION %[1]s",
	"CREATE PLACEMENT %[1]s FROM %[1]s TO %[2]s PREFER COLOCATION", "CREATE PLACEMENT p FROM a TO b REQUIRE COLOCATION", "DROP PLACEMENT %[1]s", "ALTER PLACEMENT %[1]s SET RANK 2",
	"START", "STOP", "START AT NOW", "ALTER DOMAIN SET PLACEMENT REQUIRE COLOCATION", "ALTER DOMAIN SET PLACEMENT NEUTRAL",
}

func drawStatement(t *rapid.T) transaction.Statement {
	name := rapid.SampledFrom([]string{"a", "b", "c"})
	text := rapid.SampledFrom(templates).Draw(t, "statement")
	if bytes.ContainsRune([]byte(text), '%') {
		text = fmt.Sprintf(text+"%[3]s", name.Draw(t, "name"), name.Draw(t, "other"), "")
	}
	s, err := transaction.Read(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// graph is a domain in which something flows.
func graph(t rapid.TB) (list []transaction.Statement) {
	for _, text := range []string{
		"CREATE SCHEMA a (x U8)", "CREATE RELAY a SCHEMA a UNBRANCHED", "CREATE RELAY b SCHEMA a UNBRANCHED",
		"CREATE JUNCTION c FROM a UNBRANCHED TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR SEND TO b SET x = input.x", "START",
	} {
		s, err := transaction.Read(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		list = append(list, s)
	}
	return list
}

func drawStatements(t *rapid.T, label string) (list []transaction.Statement) {
	for range rapid.IntRange(0, 8).Draw(t, label) {
		list = append(list, drawStatement(t))
	}
	return list
}

// drawWorld has the effect of some complete statements.
func drawWorld(t *rapid.T) *world {
	w := newWorld(t)
	if rapid.Bool().Draw(t, "random") {
		seed := rapid.Uint64().Draw(t, "seed")
		w.seed = &seed
	}
	list := drawStatements(t, "before")
	if rapid.Bool().Draw(t, "graph") {
		list = append(graph(t), list...)
	}
	for _, s := range list {
		if p, fault := transaction.Make(w.view(), domain, []transaction.Statement{s}); fault == nil && p.Incomplete == nil {
			w.carry(t, p)
		}
	}
	return w
}

// Planning is repeatable, and what is planned applies and does what the report
// says, wherever the plan was kept meanwhile (X1, X2).
func TestPlansApply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		list := drawStatements(t, "statements")
		p, fault := transaction.Make(w.view(), domain, list)
		again, sameFault := transaction.Make(w.view(), domain, list)
		if (fault == nil) != (sameFault == nil) {
			t.Fatalf("planned twice: %v, %v", fault, sameFault)
		}
		if fault != nil {
			return
		}
		encoded, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if second, err := again.Encode(); err != nil || !bytes.Equal(encoded, second) {
			t.Fatalf("the same view gives another plan: %v", err)
		}
		if p.Incomplete != nil {
			if p.Report.GetComplete() || len(p.Report.GetFindings()) == 0 {
				t.Fatalf("incomplete, and not reported: %v", p.Report)
			}
			return
		}
		kept, err := transaction.Decode(encoded)
		if err != nil {
			t.Fatal(err)
		}
		checkOrder(t, kept, list)
		for i, step := range kept.Steps {
			before := w.state
			d, _ := w.state.Domain(domain)
			w.apply(t, transaction.Changes(step, 0, w.state.CapturedOf(d))...)
			checkEffects(t, before, w.state, kept.Report.GetSteps()[i])
		}
	})
}

// checkOrder checks that the steps are made of the operations in order.
func checkOrder(t *rapid.T, p *transaction.Plan, list []transaction.Statement) {
	last := uint32(0)
	for i, s := range p.Steps {
		if s.GetFirst() <= last || s.GetLast() < s.GetFirst() || int(s.GetLast()) > len(list) {
			t.Fatalf("step %d covers operations %d to %d behind %d", i, s.GetFirst(), s.GetLast(), last)
		}
		last = s.GetLast()
	}
	if len(p.Outcomes) != len(list) || len(p.Report.GetOperations()) != len(list) || len(p.Report.GetSteps()) != len(p.Steps) {
		t.Fatalf("%d statements, %d outcomes, %d operations", len(list), len(p.Outcomes), len(p.Report.GetOperations()))
	}
}

// checkEffects compares what a step did with what was reported of it.
func checkEffects(t *rapid.T, before, after *catalog.State, r *transactionpb.StepReport) {
	var created, dropped, changed []string
	for m := range after.Models(domain) {
		switch old, ok := before.Model(domain, m.Key); {
		case !ok:
			created = append(created, m.Key.String())
		case old.Text != m.Text:
			changed = append(changed, m.Key.String())
		}
	}
	for m := range before.Models(domain) {
		if _, ok := after.Model(domain, m.Key); !ok {
			dropped = append(dropped, m.Key.String())
		}
	}
	reported := func(keys []*catalogpb.Key) (list []string) {
		for _, k := range keys {
			list = append(list, transaction.KeyOf(k).String())
		}
		return list
	}
	e := r.GetEffects()
	for _, c := range []struct {
		what      string
		got, want []string
	}{{"created", reported(e.GetCreated()), created}, {"dropped", reported(e.GetDropped()), dropped}, {"changed", reported(e.GetChanged()), changed}} {
		if !slices.Equal(c.got, c.want) {
			t.Fatalf("reported as %s: %v, want %v", c.what, c.got, c.want)
		}
	}
	wasRunning, _ := before.Domain(domain)
	isRunning, _ := after.Domain(domain)
	if wasRunning.Running && isRunning.Running && len(e.GetActivated()) != len(executing(created)) {
		t.Fatalf("activated %v, created %v", e.GetActivated(), created)
	}
}

func executing(keys []string) (list []string) {
	for _, k := range keys {
		for _, kind := range []vocab.EntityKind{vocab.EntityRelay, vocab.EntityJunction} {
			if len(k) > len(kind.String()) && k[:len(kind.String())+1] == kind.String()+" " {
				list = append(list, k)
			}
		}
	}
	return list
}

// A batch comes to what its statements come to one by one, when each of them is
// complete behind those before it (registry-batch), and a list with a fault plans
// nothing (X3).
func TestBatchesAreTheirStatements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		single := &world{state: w.state, nodes: w.nodes, seed: w.seed}
		var accepted []transaction.Statement
		for _, s := range drawStatements(t, "statements") {
			p, fault := transaction.Make(single.view(), domain, []transaction.Statement{s})
			if fault != nil || p.Incomplete != nil {
				continue
			}
			single.carry(t, p)
			accepted = append(accepted, s)
		}
		p, fault := transaction.Make(w.view(), domain, accepted)
		if fault != nil || p.Incomplete != nil {
			t.Fatalf("valid one by one, and not together: %v %v", fault, p)
		}
		w.carry(t, p)
		if got, want := w.models(), single.models(); !slices.Equal(got, want) {
			t.Fatalf("together %v, one by one %v", got, want)
		}
	})
}

// A rehearsal accepts and refuses what planning does, list by list, and finds the
// fault that planning finds (X5).
func TestRehearsal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		r := transaction.NewRehearsal(w.view())
		for range rapid.IntRange(1, 6).Draw(t, "lists") {
			list := drawStatements(t, "statements")
			p, fault := transaction.Make(w.view(), domain, list)
			if fault == nil {
				fault = p.Incomplete
			}
			faults := r.Run(domain, list)
			if fault == nil != (len(faults) == 0) {
				t.Fatalf("planning says %v, the rehearsal %v", fault, faults)
			}
			if fault == nil {
				w.carry(t, p)
				continue
			}
			same := func(f *transaction.Fault) bool {
				return f.Operation == fault.Operation && f.Found.Error() == fault.Found.Error()
			}
			if !slices.ContainsFunc(faults, same) {
				t.Fatalf("planning finds %v, the rehearsal %v", fault.Found, faults[0].Found)
			}
		}
		end := &world{state: r.State()}
		if got, want := end.models(), w.models(); !slices.Equal(got, want) {
			t.Fatalf("the rehearsal leaves %v, planning %v", got, want)
		}
	})
}

// What does not concern planning leaves the basis, and one basis leads to one plan
// (X4).
func TestBasis(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		other := &world{state: w.state, nodes: slices.Clone(w.nodes), seed: w.seed}
		switch rapid.IntRange(0, 5).Draw(t, "change") {
		case 0:
			other.apply(t, &catalogpb.Step{Body: &catalogpb.Step_CreateUser{CreateUser: &catalogpb.CreateUser{Name: "u", PasswordHash: "x"}}})
		case 1:
			other.apply(t, &catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: "e"}}})
		case 2:
			slices.Reverse(other.nodes)
		case 3:
			other.nodes[0].Live = false
		default:
			s := drawStatement(t)
			if p, fault := transaction.Make(other.view(), domain, []transaction.Statement{s}); fault == nil && p.Incomplete == nil {
				other.carry(t, p)
			}
		}
		if transaction.Basis(w.view(), domain) != transaction.Basis(other.view(), domain) {
			return
		}
		list := drawStatements(t, "statements")
		a, faultA := transaction.Make(w.view(), domain, list)
		b, faultB := transaction.Make(other.view(), domain, list)
		if (faultA == nil) != (faultB == nil) {
			t.Fatalf("one basis, two judgements: %v, %v", faultA, faultB)
		}
		if faultA == nil && (!proto.Equal(a.Report, b.Report) || a.Level() != b.Level()) {
			t.Fatalf("one basis, two reports:\n%v\n%v", a.Report, b.Report)
		}
	})
}

func FuzzPlan(f *testing.F) {
	w := newWorld(f)
	for _, texts := range [][]string{{"CREATE SCHEMA a (x U8)", "CREATE RELAY b SCHEMA a UNBRANCHED", "START"}, {"ALTER DOMAIN SET PLACEMENT NEUTRAL"}, nil} {
		var list []transaction.Statement
		for _, text := range texts {
			s, err := transaction.Read(text)
			if err != nil {
				f.Fatal(err)
			}
			list = append(list, s)
		}
		p, fault := transaction.Make(w.view(), domain, list)
		if fault != nil {
			f.Fatal(fault)
		}
		b, err := p.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := transaction.Decode(b)
		if err != nil {
			return
		}
		p.Level()
		for _, step := range p.Steps {
			transaction.Changes(step, 1, catalog.Captured{})
			transaction.MovesOf(step)
			transaction.BoundaryOf(step)
			_, _ = transaction.Target(step)
		}
	})
}
