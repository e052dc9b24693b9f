package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"plexus/engine/catalog/catalogpb"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// startIndex is behind every command of populated.
const startIndex = 10

// populated returns a state in which every family has records.
func populated() *State {
	s := New(primitives.UUID{7})
	apply := func(index uint64, steps ...*catalogpb.Step) {
		next, result, _ := s.Apply(index, &catalogpb.Command{At: 1, Steps: steps, Execution: &catalogpb.Execution{
			Reference: []byte{15: byte(index)}, Owner: "u", Digest: []byte("d"), Reply: []byte("r"),
		}})
		if result.Refused != nil {
			panic(result.Refused)
		}
		s = next
	}
	apply(2, addNode("n1", 1, catalogpb.Node_VOTER), addNode("n2", 2, catalogpb.Node_VOTER), addNode("n3", 3, catalogpb.Node_LEARNER),
		addNode("n4", 4, catalogpb.Node_LEARNER), &catalogpb.Step{Body: &catalogpb.Step_RemoveNode{RemoveNode: &catalogpb.RemoveNode{Id: "n4", RaftId: 4}}},
		&catalogpb.Step{Body: &catalogpb.Step_CreateUser{CreateUser: &catalogpb.CreateUser{Name: "a", PasswordHash: "x"}}})
	apply(3, createDomain("a"), createDomain("b"))
	apply(4, &catalogpb.Step{Body: &catalogpb.Step_ChangeModels{ChangeModels: &catalogpb.ChangeModels{Domain: "a", Expected: 3, Changes: []*catalogpb.ModelChange{
		{Kind: "SCHEMA", Name: "s", Text: "CREATE SCHEMA s (x U8);"}, relayChange("a"), relayChange("b"),
	}}}})
	apply(5, (&Schedule{Domain: "a", Assignments: []Assignment{
		{Key: relayKey("a"), Primary: "n1", Replicas: []string{"n2"}, Transition: Transition{ID: primitives.UUID{1}, From: "n2", To: "n1", Cause: "planned"}},
		{Key: relayKey("b"), Primary: "n1"},
	}, Groups: []Group{{Host: "n1", Members: []Key{relayKey("a"), relayKey("b")}, Pairs: [][2]Key{{relayKey("a"), relayKey("b")}}}}}).Step(0))
	apply(6, &catalogpb.Step{Body: &catalogpb.Step_AcquireLease{AcquireLease: &catalogpb.AcquireLease{Domain: "b", Owner: "transaction 1"}}})
	return s
}

func addNode(id string, raftID uint64, role catalogpb.Node_Role) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_AddNode{AddNode: &catalogpb.AddNode{Node: &catalogpb.Node{
		Id: id, RaftId: raftID, Role: role, Counter: 1, Interconnect: id + ":1",
	}}}}
}

func createDomain(name string) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: name, Placement: "PREFER COLOCATION"}}}
}

func relayKey(name string) Key { return Key{Kind: vocab.EntityRelay, Name: name} }

func relayChange(name string) *catalogpb.ModelChange {
	return &catalogpb.ModelChange{Kind: "RELAY", Name: name, Text: "CREATE RELAY " + name + " SCHEMA s UNBRANCHED;"}
}

// drawStart draws an empty state or a populated one.
func drawStart(t *rapid.T) *State {
	if rapid.Bool().Draw(t, "populated") {
		return populated()
	}
	return New(primitives.UUID{7})
}

// sameTrees reports whether nothing but outcomes and time differs.
func sameTrees(a, b *State) bool {
	return a.users == b.users && a.domains == b.domains && a.models == b.models &&
		a.nodes == b.nodes && a.removed == b.removed && a.schedules == b.schedules && a.NextRaftID == b.NextRaftID
}

var (
	someNames = []string{"a", "b", "c"}
	someNodes = []string{"n1", "n2", "n3", "n4", "n5"}
)

func drawName(t *rapid.T, label string) string { return rapid.SampledFrom(someNames).Draw(t, label) }

// drawStep draws any step, often one that is refused.
func drawStep(t *rapid.T, s *State) *catalogpb.Step {
	draws := []func(*rapid.T, *State) *catalogpb.Step{
		drawUser, drawDomain, drawDomain, drawModels, drawModels, drawLifecycle, drawSchedule, drawSchedule, drawLease, drawMembership, drawMembership,
		func(t *rapid.T, _ *State) *catalogpb.Step {
			return &catalogpb.Step{Body: &catalogpb.Step_Reclaim{Reclaim: &catalogpb.Reclaim{Before: rapid.Int64Range(0, 40).Draw(t, "before") * 1e6}}}
		},
		func(*rapid.T, *State) *catalogpb.Step { return &catalogpb.Step{} },
	}
	step := rapid.SampledFrom(draws).Draw(t, "step")(t, s)
	step.Lease = drawPresented(t, s)
	return step
}

// drawPresented mostly draws the right lease of some domain, or none.
func drawPresented(t *rapid.T, s *State) uint64 {
	d, ok := s.Domain(drawName(t, "leased domain"))
	switch held := ok && d.Lease != nil; {
	case held && rapid.IntRange(0, 2).Draw(t, "presented") > 0:
		return d.Lease.Index
	case rapid.IntRange(0, 9).Draw(t, "wrong lease") == 0:
		return 3
	}
	return 0
}

func drawUser(t *rapid.T, _ *State) *catalogpb.Step {
	name := drawName(t, "user")
	switch rapid.IntRange(0, 2).Draw(t, "user step") {
	case 0:
		return &catalogpb.Step{Body: &catalogpb.Step_CreateUser{CreateUser: &catalogpb.CreateUser{Name: name, PasswordHash: "x"}}}
	case 1:
		return &catalogpb.Step{Body: &catalogpb.Step_AlterUser{AlterUser: &catalogpb.AlterUser{Name: name, PasswordHash: "y"}}}
	}
	return &catalogpb.Step{Body: &catalogpb.Step_DropUser{DropUser: &catalogpb.DropUser{Name: name}}}
}

func drawDomain(t *rapid.T, _ *State) *catalogpb.Step {
	name := drawName(t, "domain")
	policy := rapid.SampledFrom([]string{"", "NEUTRAL", "SUGGEST SEPARATION", "NEVER"}).Draw(t, "policy")
	switch rapid.IntRange(0, 3).Draw(t, "domain step") {
	case 0:
		return &catalogpb.Step{Body: &catalogpb.Step_DropDomain{DropDomain: &catalogpb.DropDomain{Name: name}}}
	case 1:
		return &catalogpb.Step{Body: &catalogpb.Step_AlterDomain{AlterDomain: &catalogpb.AlterDomain{Domain: name, Placement: policy}}}
	}
	return &catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: name, Placement: policy}}}
}

func drawLifecycle(t *rapid.T, _ *State) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_SetRunning{SetRunning: &catalogpb.SetRunning{
		Domain: drawName(t, "domain"), Running: rapid.Bool().Draw(t, "running"), Fresh: rapid.Bool().Draw(t, "fresh")}}}
}

func drawLease(t *rapid.T, s *State) *catalogpb.Step {
	name := drawName(t, "domain")
	if rapid.Bool().Draw(t, "acquire") {
		owner := rapid.SampledFrom([]string{"", "transaction 1", "command 2"}).Draw(t, "owner")
		return &catalogpb.Step{Body: &catalogpb.Step_AcquireLease{AcquireLease: &catalogpb.AcquireLease{Domain: name, Owner: owner}}}
	}
	release := &catalogpb.ReleaseLease{Domain: name, Index: drawPresented(t, s)}
	return &catalogpb.Step{Body: &catalogpb.Step_ReleaseLease{ReleaseLease: release}}
}

// drawModels draws a batch; half of them expect the right revision.
func drawModels(t *rapid.T, s *State) *catalogpb.Step {
	change := &catalogpb.ChangeModels{Domain: drawName(t, "domain")}
	if d, ok := s.Domain(change.Domain); ok && rapid.Bool().Draw(t, "current") {
		change.Expected = d.Definition
	}
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		name := drawName(t, "model")
		c := &catalogpb.ModelChange{Kind: "SCHEMA", Name: name, Text: "CREATE SCHEMA " + name + " (x U8);"}
		if rapid.Bool().Draw(t, "relay") {
			c = relayChange(name)
		}
		if rapid.IntRange(0, 2).Draw(t, "drop") == 0 {
			c.Op, c.Text = catalogpb.ModelChange_DROP, ""
		}
		change.Changes = append(change.Changes, c)
	}
	return &catalogpb.Step{Body: &catalogpb.Step_ChangeModels{ChangeModels: change}}
}

// drawSchedule draws assignments of relays that may exist to nodes that may be
// members.
func drawSchedule(t *rapid.T, s *State) *catalogpb.Step {
	x := &Schedule{Domain: drawName(t, "domain")}
	var expected uint64
	if old, ok := s.Schedule(x.Domain); ok && rapid.IntRange(0, 3).Draw(t, "current") > 0 {
		expected = old.Index
	}
	for _, name := range someNames {
		key := relayKey(name)
		if _, ok := s.Model(x.Domain, key); !ok && rapid.IntRange(0, 5).Draw(t, "missing") > 0 {
			continue
		}
		a := Assignment{Key: key, Primary: rapid.SampledFrom(someNodes).Draw(t, "primary")}
		if rapid.Bool().Draw(t, "replica") {
			a.Replicas = []string{rapid.SampledFrom(someNodes).Draw(t, "replica node")}
		}
		a.Everywhere = rapid.IntRange(0, 5).Draw(t, "everywhere") == 0
		x.Assignments = append(x.Assignments, a)
	}
	if len(x.Assignments) > 1 {
		a, b := x.Assignments[0].Key, x.Assignments[1].Key
		x.Groups = []Group{{Host: "n1", Members: []Key{a, b}, Pairs: [][2]Key{{a, b}}}}
	}
	if rapid.IntRange(0, 5).Draw(t, "reversed") == 0 {
		slices.Reverse(x.Assignments)
	}
	return x.Step(expected)
}

func drawMembership(t *rapid.T, s *State) *catalogpb.Step {
	id := rapid.SampledFrom(someNodes).Draw(t, "node")
	raftID := s.NextRaftID
	if n, ok := s.Node(id); ok {
		raftID = n.RaftID
	}
	if rapid.IntRange(0, 4).Draw(t, "another raft id") == 0 {
		raftID = rapid.Uint64Range(0, 6).Draw(t, "raft id")
	}
	switch rapid.IntRange(0, 5).Draw(t, "membership") {
	case 0:
		return &catalogpb.Step{Body: &catalogpb.Step_UpdateNode{UpdateNode: &catalogpb.UpdateNode{
			Id: id, RaftId: raftID, Counter: rapid.Uint64Range(0, 3).Draw(t, "counter"), Token: []byte(drawName(t, "token")), Interconnect: "h:2", Client: "http://h:3"}}}
	case 1:
		return &catalogpb.Step{Body: &catalogpb.Step_PromoteNode{PromoteNode: &catalogpb.PromoteNode{Id: id, RaftId: raftID}}}
	case 2:
		return &catalogpb.Step{Body: &catalogpb.Step_RemoveNode{RemoveNode: &catalogpb.RemoveNode{Id: id, RaftId: raftID}}}
	case 3:
		return &catalogpb.Step{Body: &catalogpb.Step_CordonNode{CordonNode: &catalogpb.CordonNode{Id: id, Cordoned: rapid.Bool().Draw(t, "cordoned")}}}
	}
	return addNode(id, raftID, catalogpb.Node_Role(rapid.IntRange(0, 1).Draw(t, "role")))
}

// coherent says what is wrong with a state, whatever commands led to it.
func coherent(s *State) error {
	byRaft := map[uint64]string{}
	for n := range s.Nodes() {
		if other, ok := byRaft[n.RaftID]; ok || s.Removed(n.RaftID) || n.RaftID >= s.NextRaftID {
			return fmt.Errorf("node %s has raft id %d, also of %q, removed %t, next %d", n.ID, n.RaftID, other, s.Removed(n.RaftID), s.NextRaftID)
		}
		byRaft[n.RaftID] = n.ID
	}
	for _, x := range s.schedules.all() {
		if _, ok := s.Domain(x.Domain); !ok {
			return fmt.Errorf("schedule of domain %s, which does not exist", x.Domain)
		}
		if !slices.IsSortedFunc(x.Assignments, func(a, b Assignment) int { return cmp.Or(a.Compare(b.Key), 1) }) {
			return fmt.Errorf("schedule of domain %s is out of order: %v", x.Domain, x.Assignments)
		}
		for _, a := range x.Assignments {
			if _, ok := s.Model(x.Domain, a.Key); !ok {
				return fmt.Errorf("domain %s schedules %s, which does not exist", x.Domain, a.Key)
			}
		}
	}
	return nil
}

func FuzzCommand(f *testing.F) {
	for _, steps := range [][]*catalogpb.Step{
		{createDomain("d"), {Body: &catalogpb.Step_ChangeModels{ChangeModels: &catalogpb.ChangeModels{Domain: "d", Expected: 2, Changes: []*catalogpb.ModelChange{
			{Kind: "SCHEMA", Name: "s", Text: "CREATE SCHEMA s (x U8);"}}}}}},
		{addNode("n5", 5, catalogpb.Node_LEARNER)},
		{(&Schedule{Domain: "a", Assignments: []Assignment{{Key: relayKey("a"), Primary: "n2"}}}).Step(5)},
		{{Lease: 6, Body: &catalogpb.Step_SetRunning{SetRunning: &catalogpb.SetRunning{Domain: "b", Running: true}}}},
		{{Body: &catalogpb.Step_ReleaseLease{ReleaseLease: &catalogpb.ReleaseLease{Domain: "b", Index: 6}}}},
		{{Body: &catalogpb.Step_DropDomain{DropDomain: &catalogpb.DropDomain{Name: "a"}}}},
		{{Body: &catalogpb.Step_UpdateNode{UpdateNode: &catalogpb.UpdateNode{Id: "n2", RaftId: 2, Counter: 3}}}},
		{{Body: &catalogpb.Step_PromoteNode{PromoteNode: &catalogpb.PromoteNode{Id: "n3", RaftId: 3}}}},
		{{Body: &catalogpb.Step_CordonNode{CordonNode: &catalogpb.CordonNode{Id: "n1", Cordoned: true}}}},
	} {
		b, err := Encode(&catalogpb.Command{Steps: steps})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		command, err := Decode(b)
		if err != nil {
			return
		}
		for _, s := range []*State{New(primitives.UUID{7}), populated()} {
			for i := range uint64(3) {
				s, _, _ = s.Apply(i+startIndex, command)
			}
			if err := coherent(s); err != nil {
				t.Fatal(err)
			}
			reloadAndCompare(t, s, 100)
		}
	})
}
