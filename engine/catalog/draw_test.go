package catalog

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/engine/catalog/catalogpb"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// startIndex is behind every command of populated.
const startIndex = 11

// populated returns a state in which every family has records.
func populated() *State {
	s := New(primitives.UUID{7})
	apply := func(index uint64, steps ...*catalogpb.Step) {
		next, result, _ := s.Apply(index, &catalogpb.Command{At: 1, Steps: steps, Execution: &catalogpb.Execution{
			Reference: []byte{15: byte(index)}, Owner: "u", Digest: []byte("d"), Reply: []byte("r"), To: catalogpb.Phase_FINISHED,
		}})
		if result.Refused != nil {
			panic(result.Refused)
		}
		s = next
	}
	apply(2, addNode("n1", 1, catalogpb.Node_VOTER), addNode("n2", 2, catalogpb.Node_VOTER), addNode("n3", 3, catalogpb.Node_LEARNER),
		addNode("n4", 4, catalogpb.Node_LEARNER), &catalogpb.Step{Body: &catalogpb.Step_RemoveNode{RemoveNode: &catalogpb.RemoveNode{Id: "n4", RaftId: 4}}},
		&catalogpb.Step{Body: &catalogpb.Step_CreateUser{CreateUser: &catalogpb.CreateUser{Name: "a", PasswordHash: "x"}}})
	apply(3, createDomain("a"), createDomain("b"), createResource("a", "files"), recordVersion("a", "files", 0, catalogpb.Version_APPLYING))
	apply(4, &catalogpb.Step{Body: &catalogpb.Step_ChangeModels{ChangeModels: &catalogpb.ChangeModels{Domain: "a", Expected: 3, Changes: []*catalogpb.ModelChange{
		{Kind: "SCHEMA", Name: "s", Text: "CREATE SCHEMA s (x U8);"}, relayChange("a"), relayChange("b"),
	}}}})
	apply(5, (&Schedule{Domain: "a", Assignments: []Assignment{
		{Key: relayKey("a"), Primary: "n1", Replicas: []string{"n2"}, Transition: Transition{ID: primitives.UUID{1}, From: "n2", To: "n1", Cause: "planned"}},
		{Key: relayKey("b"), Primary: "n1"},
	}, Groups: []Group{{Host: "n1", Members: []Key{relayKey("a"), relayKey("b")}}}}).Step(0))
	apply(6, &catalogpb.Step{Body: &catalogpb.Step_AcquireLease{AcquireLease: &catalogpb.AcquireLease{Domain: "b", Owner: "transaction 1"}}})
	apply(7, beginStep(someTransactions[0], "a"), appendStep(someTransactions[0], 1), beginStep(someTransactions[1], "a"), appendStep(someTransactions[1], 1),
		appendStep(someTransactions[1], 2), stageStep(someTransactions[1], 0), stageStep(someTransactions[1], 1), createDomain("c"),
		beginStep(someTransactions[2], "c"), &catalogpb.Step{Body: &catalogpb.Step_RevertTransaction{RevertTransaction: &catalogpb.RevertTransaction{
			Id: someTransactions[2][:], Owner: "u"}}})
	a, _ := s.Domain("a")
	apply(8, &catalogpb.Step{Body: &catalogpb.Step_CommitTransaction{CommitTransaction: &catalogpb.CommitTransaction{
		Id: someTransactions[1][:], Owner: "u", Position: 2, Reference: []byte{15: 8}, Parts: 2, Content: []byte("plan"), Steps: 2,
		Captured: s.CapturedOf(a).Record()}}})
	apply(9, &catalogpb.Step{Body: &catalogpb.Step_AdvanceTransaction{AdvanceTransaction: &catalogpb.AdvanceTransaction{
		Id: someTransactions[1][:], To: catalogpb.StepPhase_APPLYING, Level: "DYNAMIC", Engagement: &catalogpb.Engagement{Level: "DYNAMIC"}}}},
		&catalogpb.Step{Body: &catalogpb.Step_CompleteHandoff{CompleteHandoff: &catalogpb.CompleteHandoff{Domain: "a", Transition: []byte{1, 15: 0}}}})
	s, _, _ = s.Apply(10, &catalogpb.Command{At: 1, Execution: &catalogpb.Execution{
		Reference: []byte{15: 10}, Owner: "u", Domain: "b", Digest: []byte("d"), To: catalogpb.Phase_ADMITTED, Work: []byte("w"),
	}})
	return s
}

var someTransactions = []primitives.UUID{{1}, {2}, {3}, {4}}

func beginStep(id primitives.UUID, domain string) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_BeginTransaction{BeginTransaction: &catalogpb.BeginTransaction{Id: id[:], Owner: "u", Domain: domain}}}
}

func appendStep(id primitives.UUID, position uint32) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_AppendOperation{AppendOperation: &catalogpb.AppendOperation{
		Id: id[:], Owner: "u", Position: position, Text: "STOP"}}}
}

func stageStep(id primitives.UUID, part uint32) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_StageTransaction{StageTransaction: &catalogpb.StageTransaction{Id: id[:], Part: part, Content: []byte("part")}}}
}

func addNode(id string, raftID uint64, role catalogpb.Node_Role) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_AddNode{AddNode: &catalogpb.AddNode{Node: &catalogpb.Node{
		Id: id, RaftId: raftID, Role: role, Counter: 1, Interconnect: id + ":1",
	}}}}
}

func createDomain(name string) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: name, Placement: "PREFER COLOCATION"}}}
}

func createResource(domain, name string) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_CreateResource{CreateResource: &catalogpb.CreateResource{Domain: domain, Name: name}}}
}

func recordVersion(domain, name string, number uint64, state catalogpb.Version_State) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_RecordVersion{RecordVersion: &catalogpb.RecordVersion{
		Domain: domain, Resource: name, Version: &catalogpb.Version{Number: number, State: state, Digest: []byte("d"), Files: 1}}}}
}

func drawResource(t *rapid.T, _ *State) *catalogpb.Step {
	domain, name := drawName(t, "resource domain"), rapid.SampledFrom([]string{"files", "certs", ""}).Draw(t, "resource")
	if rapid.Bool().Draw(t, "create") {
		return createResource(domain, name)
	}
	return recordVersion(domain, name, rapid.Uint64Range(0, 3).Draw(t, "number"), catalogpb.Version_State(rapid.Int32Range(0, 3).Draw(t, "state")))
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
	return a.users == b.users && a.domains == b.domains && a.models == b.models && a.resources == b.resources &&
		a.nodes == b.nodes && a.removed == b.removed && a.schedules == b.schedules && a.handoffs == b.handoffs && a.NextRaftID == b.NextRaftID &&
		a.transactions == b.transactions && a.operations == b.operations && a.parts == b.parts && a.Limits == b.Limits
}

var (
	someNames = []string{"a", "b", "c"}
	someNodes = []string{"n1", "n2", "n3", "n4", "n5"}
)

func drawName(t *rapid.T, label string) string { return rapid.SampledFrom(someNames).Draw(t, label) }

// drawStep draws any step, often one that is refused.
func drawStep(t *rapid.T, s *State) *catalogpb.Step {
	draws := []func(*rapid.T, *State) *catalogpb.Step{
		drawUser, drawTransaction, drawTransaction, drawTransaction, drawAdvance, drawAdvance, drawLimits, drawHandoff, drawDomain, drawDomain, drawModels, drawModels, drawResource, drawLifecycle, drawSchedule, drawSchedule, drawLease, drawMembership, drawMembership,
		func(t *rapid.T, _ *State) *catalogpb.Step {
			return &catalogpb.Step{Body: &catalogpb.Step_Reclaim{Reclaim: &catalogpb.Reclaim{
				Before: rapid.Int64Range(0, 40).Draw(t, "before") * 1e6, TransactionsBefore: rapid.Int64Range(0, 40).Draw(t, "transactions before") * 1e6}}}
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
	release := &catalogpb.ReleaseLease{Domain: name, Index: drawPresented(t, s), Owner: "transaction 1"}
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
		x.Groups = []Group{{Host: "n1", Members: []Key{a, b}}}
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

func drawLimits(t *rapid.T, _ *State) *catalogpb.Step {
	return Limits{
		History: uint32(rapid.IntRange(0, 30).Draw(t, "history")), TransactionIdle: time.Duration(rapid.IntRange(0, 20).Draw(t, "idle")) * time.Millisecond,
		TransactionStatements: uint32(rapid.IntRange(0, 5).Draw(t, "statements")), TransactionSource: uint64(rapid.IntRange(0, 20).Draw(t, "source")),
		TransactionOpen: uint32(rapid.IntRange(0, 4).Draw(t, "open")),
	}.Step()
}

func drawHandoff(t *rapid.T, _ *State) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_CompleteHandoff{CompleteHandoff: &catalogpb.CompleteHandoff{
		Domain: drawName(t, "domain"), Transition: []byte{byte(rapid.IntRange(0, 2).Draw(t, "transition")), 15: 0}}}}
}

// drawTransaction draws a step of a transaction by one of two users; most of them
// are what the transaction can take.
func drawTransaction(t *rapid.T, s *State) *catalogpb.Step {
	id := rapid.SampledFrom(someTransactions).Draw(t, "transaction")
	owner := rapid.SampledFrom([]string{"u", "u", "u", "v"}).Draw(t, "owner")
	x, ok := s.Transaction(id)
	if !ok {
		return beginStep(id, drawName(t, "domain"))
	}
	position := x.Operations
	if rapid.IntRange(0, 9).Draw(t, "wrong position") == 0 {
		position++
	}
	switch rapid.IntRange(0, 7).Draw(t, "transaction step") {
	case 0, 1:
		return &catalogpb.Step{Body: &catalogpb.Step_AppendOperation{AppendOperation: &catalogpb.AppendOperation{
			Id: id[:], Owner: owner, Position: position + 1, Text: rapid.SampledFrom([]string{"STOP", "a longer statement"}).Draw(t, "text")}}}
	case 2:
		return &catalogpb.Step{Body: &catalogpb.Step_TouchTransaction{TouchTransaction: &catalogpb.TouchTransaction{Id: id[:], Owner: owner}}}
	case 3:
		return &catalogpb.Step{Body: &catalogpb.Step_RevertTransaction{RevertTransaction: &catalogpb.RevertTransaction{Id: id[:], Owner: owner}}}
	case 4:
		return stageStep(id, uint32(rapid.IntRange(0, 2).Draw(t, "part")))
	case 5:
		return &catalogpb.Step{Body: &catalogpb.Step_ExpireTransaction{ExpireTransaction: &catalogpb.ExpireTransaction{Id: id[:]}}}
	}
	commit := &catalogpb.CommitTransaction{
		Id: id[:], Owner: owner, Position: position, Parts: uint32(rapid.IntRange(0, 2).Draw(t, "parts")), Content: []byte("plan"),
		Steps: uint32(rapid.IntRange(0, 3).Draw(t, "plan steps")),
	}
	if d, ok := s.Domain(x.Domain); ok {
		commit.Captured = s.CapturedOf(d).Record()
	}
	return &catalogpb.Step{Body: &catalogpb.Step_CommitTransaction{CommitTransaction: commit}}
}

// drawAdvance draws a move of the step in progress, often the next one.
func drawAdvance(t *rapid.T, s *State) *catalogpb.Step {
	id := rapid.SampledFrom(someTransactions).Draw(t, "transaction")
	a := &catalogpb.AdvanceTransaction{Id: id[:], To: catalogpb.StepPhase(rapid.IntRange(0, 3).Draw(t, "to"))}
	if x, ok := s.Transaction(id); ok {
		step, steps := x.Current()
		a.Step = uint32(step)
		if step < steps {
			a.From = catalogpb.StepPhase(x.Steps[step].Phase)
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "next") > 0 {
		a.To = a.From + 1
	}
	if a.To == catalogpb.StepPhase_STEP_FAILED && rapid.Bool().Draw(t, "failure") {
		a.Failure = &catalogpb.Refusal{Code: "conflict"}
	}
	if rapid.Bool().Draw(t, "engagement") {
		a.Engagement = &catalogpb.Engagement{Kind: catalogpb.Engagement_Kind(rapid.IntRange(0, 6).Draw(t, "kind"))}
	}
	return &catalogpb.Step{Body: &catalogpb.Step_AdvanceTransaction{AdvanceTransaction: a}}
}

func FuzzCommand(f *testing.F) {
	for _, steps := range [][]*catalogpb.Step{
		{createDomain("d"), {Body: &catalogpb.Step_ChangeModels{ChangeModels: &catalogpb.ChangeModels{Domain: "d", Expected: 2, Changes: []*catalogpb.ModelChange{
			{Kind: "SCHEMA", Name: "s", Text: "CREATE SCHEMA s (x U8);"}}}}}},
		{addNode("n5", 5, catalogpb.Node_LEARNER)},
		{(&Schedule{Domain: "a", Assignments: []Assignment{{Key: relayKey("a"), Primary: "n2"}}}).Step(5)},
		{{Lease: 6, Body: &catalogpb.Step_SetRunning{SetRunning: &catalogpb.SetRunning{Domain: "b", Running: true}}}},
		{{Body: &catalogpb.Step_ReleaseLease{ReleaseLease: &catalogpb.ReleaseLease{Domain: "b", Index: 6, Owner: "transaction 1"}}}},
		{{Body: &catalogpb.Step_DropDomain{DropDomain: &catalogpb.DropDomain{Name: "a"}}}},
		{{Body: &catalogpb.Step_UpdateNode{UpdateNode: &catalogpb.UpdateNode{Id: "n2", RaftId: 2, Counter: 3}}}},
		{{Body: &catalogpb.Step_PromoteNode{PromoteNode: &catalogpb.PromoteNode{Id: "n3", RaftId: 3}}}},
		{appendStep(someTransactions[0], 2), stageStep(someTransactions[0], 0)},
		{{Body: &catalogpb.Step_AdvanceTransaction{AdvanceTransaction: &catalogpb.AdvanceTransaction{
			Id: someTransactions[1][:], From: catalogpb.StepPhase_APPLYING, To: catalogpb.StepPhase_APPLIED}}}},
		{{Body: &catalogpb.Step_Reclaim{Reclaim: &catalogpb.Reclaim{Before: 2, TransactionsBefore: 2}}}},
		{DefaultLimits.Step()},
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
			if err := s.Coherent(); err != nil {
				t.Fatal(err)
			}
			reloadAndCompare(t, s, 100)
		}
	})
}
