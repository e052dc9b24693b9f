package catalog

import (
	"fmt"
	"testing"

	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
)

func TestNodeRefusals(t *testing.T) {
	update := func(id string, raftID, counter uint64) *catalogpb.Step {
		return &catalogpb.Step{Body: &catalogpb.Step_UpdateNode{UpdateNode: &catalogpb.UpdateNode{Id: id, RaftId: raftID, Counter: counter}}}
	}
	remove := func(id string, raftID uint64) *catalogpb.Step {
		return &catalogpb.Step{Body: &catalogpb.Step_RemoveNode{RemoveNode: &catalogpb.RemoveNode{Id: id, RaftId: raftID}}}
	}
	for _, c := range []struct {
		name  string
		steps []*catalogpb.Step
		want  string
	}{
		{"a member's name", []*catalogpb.Step{addNode("n1", 5, 0)}, "node: node 'n1' is a member already"},
		{"a member's raft id", []*catalogpb.Step{addNode("n5", 3, 0)}, "node: raft id 3 belongs to another member"},
		{"a dropped raft id", []*catalogpb.Step{addNode("n4", 4, 0)}, "node: raft id 4 was dropped"},
		{"a raft id of the future", []*catalogpb.Step{addNode("n5", 6, 0)}, "node: raft id 6 was not handed out; the next one is 5"},
		{"no name", []*catalogpb.Step{addNode("", 5, 0)}, "invalid: a node needs a name and a raft id"},
		{"a dropped name comes back", []*catalogpb.Step{addNode("n4", 5, 0)}, ""},
		{"an older process", []*catalogpb.Step{update("n1", 1, 0)}, "node: stale incarnation of node 'n1': start 1 was admitted already, this is start 0"},
		{"another process with the counter", []*catalogpb.Step{{Body: &catalogpb.Step_UpdateNode{UpdateNode: &catalogpb.UpdateNode{
			Id: "n1", RaftId: 1, Counter: 1, Token: []byte("other")}}}}, "node: stale incarnation of node 'n1': start 1 was admitted already, this is start 1"},
		{"the same process", []*catalogpb.Step{update("n1", 1, 1)}, ""},
		{"another's raft id", []*catalogpb.Step{update("n1", 2, 2)}, "node: node 'n1' has raft id 1, not 2"},
		{"a stranger", []*catalogpb.Step{update("n9", 9, 2)}, "node: node 'n9' is not a member"},
		{"the last voter", []*catalogpb.Step{remove("n1", 1), remove("n2", 2)}, "node: node 'n2' is the last voter"},
		{"a learner", []*catalogpb.Step{remove("n1", 1), remove("n3", 3)}, ""},
		{"promoted twice", []*catalogpb.Step{{Body: &catalogpb.Step_PromoteNode{PromoteNode: &catalogpb.PromoteNode{Id: "n2", RaftId: 2}}}}, "node: node 'n2' is a voter already"},
		{"cordon of a stranger", []*catalogpb.Step{{Body: &catalogpb.Step_CordonNode{CordonNode: &catalogpb.CordonNode{Id: "n9"}}}}, "node: node 'n9' is not a member"},
	} {
		before := populated()
		next, result, effects := before.Apply(startIndex, &catalogpb.Command{Steps: c.steps})
		got := ""
		if result.Refused != nil {
			got = result.Refused.Error()
		}
		if got != c.want || got != "" && (!sameTrees(before, next) || len(effects.Nodes) > 0) {
			t.Errorf("%s: %q, want %q; effects %v", c.name, got, c.want, effects)
		}
	}
}

func TestClusterIsFull(t *testing.T) {
	s := New(primitives.UUID{7})
	for i := range uint64(NodesMax + 1) {
		next, result, _ := s.Apply(i+2, &catalogpb.Command{Steps: []*catalogpb.Step{addNode(fmt.Sprintf("n%d", i+1), i+1, 0)}})
		if full := result.Refused != nil; full != (i == NodesMax) {
			t.Fatalf("node %d: %v", i+1, result.Refused)
		}
		s = next
	}
}
