package decide

import (
	"fmt"
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/parse"
)

// relocate plans a statement and prints the members: name group reason strategy
// owner, with * for those that move.
func (s *clustered) relocate(text string) (*Relocation, string) {
	s.Helper()
	x, err := parse.Statement("RELOCATE " + text)
	if err != nil {
		s.Fatal(err)
	}
	r, found := Relocate(s.state, "d", &x.(*ast.Relocate).Relocation, s.cluster)
	if len(found) > 0 {
		return nil, found.Error()
	}
	var b strings.Builder
	for _, m := range r.Members {
		fmt.Fprintf(&b, "%s/%d/%s/%s/%s", m.Name, m.Group, m.Reason, strings.ToLower(m.Strategy.String()), m.Owner)
		if m.Moves {
			b.WriteString("*")
		}
		b.WriteString(" ")
	}
	return r, strings.TrimSpace(b.String())
}

// on commits a schedule in which everything is on one node.
func (s *clustered) on(node string) {
	s.Helper()
	for i := range s.cluster.Nodes {
		s.cluster.Nodes[i].Cordoned = s.cluster.Nodes[i].ID != node
	}
	s.schedule()
	for i := range s.cluster.Nodes {
		s.cluster.Nodes[i].Cordoned = false
	}
}

func TestRelocateOne(t *testing.T) {
	s := newCluster(t, "n1 n2", pipeline)
	s.cluster.ReplicaCount = 1
	s.on("n1")
	s.start()
	r, shown := s.relocate("INGESTOR i, INGESTOR i ONTO NODE n2 IGNORE PREFERENCES")
	s.expect("members", shown, "i/0/selected/ignore/n1*")
	if r.Level() != EntityPause || r.Moved() != 1 || strings.Join(r.Boundary().Gates, "") != "" || keysText(r.Boundary().Sources) != "i" {
		t.Errorf("%s %+v", r.Level(), r.Boundary())
	}
	s.expect("committed", s.commit(&r.Assigned), "a=n1 b=n1 c=n1 d=n1 x=n1 i=n2(n1) l=* j=n1 k=n1 m=n1 e=n1 f=n1")
	r, shown = s.relocate("INGESTOR i ONTO NODE n2 IGNORE PREFERENCES")
	s.expect("again", shown, "i/0/selected/ignore/n2")
	if r.Step != nil || r.Level() != Dynamic {
		t.Error("nothing moves, and something is committed")
	}
	r, _ = s.relocate("INGESTOR i ONTO NODE n1 IGNORE PREFERENCES")
	if !r.Members[0].Promoted || r.Moves[0].Replicas[0] != "n2" {
		t.Errorf("back: %+v", r.Members)
	}
}

// TestRelocateGates: relays that others fill are held, those that move with all
// their producers are not.
func TestRelocateGates(t *testing.T) {
	s := newCluster(t, "n1 n2", pipeline)
	s.on("n1")
	s.start()
	r, _ := s.relocate("JUNCTION m, RELAY d, RELAY c, EMITTER e ONTO NODE n2 IGNORE PREFERENCES")
	s.expect("gates", strings.Join(r.Boundary().Gates, " "), "c")
	s.expect("drain", keysText(r.Boundary().Drain), "c d m e")
	r, _ = s.relocate("RELAY b ONTO NODE n2 IGNORE PREFERENCES")
	s.expect("a listener fills it", strings.Join(r.Boundary().Gates, " "), "b")
}

func TestRelocateStopped(t *testing.T) {
	s := newCluster(t, "n1 n2", pipeline)
	s.on("n1")
	r, _ := s.relocate("JUNCTION m ONTO NODE n2 IGNORE PREFERENCES")
	if r.Level() != Dynamic || !r.Boundary().Empty() || r.Moved() != 1 {
		t.Errorf("%s %+v", r.Level(), r.Boundary())
	}
}

// TestRelocateGroups: a hard group moves whole.
func TestRelocateGroups(t *testing.T) {
	s := newCluster(t, "n1 n2", pipeline, "CREATE PLACEMENT p FROM c TO d REQUIRE COLOCATION", "CREATE PLACEMENT q FROM x TO f REQUIRE COLOCATION")
	s.on("n1")
	_, shown := s.relocate("RELAY x, JUNCTION m ONTO NODE n2 IGNORE PREFERENCES")
	s.expect("members", shown, "c/1/required/ignore/n1* d/1/required/ignore/n1* x/2/selected/ignore/n1* m/1/selected/ignore/n1* f/2/required/ignore/n1*")
}

// TestRelocatePreferences: FOLLOW captures partners with their groups, whose
// preferences count as well; what would rather be apart is held out.
func TestRelocatePreferences(t *testing.T) {
	s := newCluster(t, "n1 n2", pipeline,
		"CREATE PLACEMENT chain FROM a TO j PREFER COLOCATION", "CREATE PLACEMENT more FROM j TO c PREFER COLOCATION RANK 1",
		"CREATE PLACEMENT group FROM c TO d REQUIRE COLOCATION RANK 1", "CREATE PLACEMENT apart FROM x TO f SUGGEST SEPARATION",
		"CREATE PLACEMENT far FROM x TO m PREFER COLOCATION", "CREATE PLACEMENT e FROM m TO x PREFER COLOCATION", "CREATE PLACEMENT mf FROM m TO f PREFER COLOCATION RANK 9")
	s.on("n1")
	_, shown := s.relocate("RELAY a ONTO NODE n2 FOLLOW PREFERENCES")
	s.expect("follow", shown, "a/0/selected/follow/n1* c/1/preferred/follow/n1* d/1/required/follow/n1* x/0/preferred/follow/n1* j/0/preferred/follow/n1* "+
		"m/1/required/follow/n1* f/0/preferred/follow/n1*")
	r, shown := s.relocate("RELAY a ONTO NODE n2 IGNORE PREFERENCES")
	s.expect("ignore", shown, "a/0/selected/ignore/n1*")
	if u := r.Unsatisfied; len(u) != 1 || u[0].A.Name != "a" || u[0].B.Name != "j" || u[0].Rule != "chain" {
		t.Errorf("unsatisfied %+v", u)
	}
	_, shown = s.relocate("RELAY a ONTO NODE n2 FOLLOW PREFERENCES FOR JUNCTION m IGNORE PREFERENCES")
	s.expect("FOR a captured group", shown, "a/0/selected/follow/n1* c/1/preferred/ignore/n1* d/1/required/ignore/n1* j/0/preferred/follow/n1* m/1/required/ignore/n1*")
}

// TestRelocateHoldsOut: SUGGEST SEPARATION keeps a partner that another member
// prefers out, unless nobody follows.
func TestRelocateHoldsOut(t *testing.T) {
	s := newCluster(t, "n1 n2", "i>a a>j>b a>k>b", "CREATE PLACEMENT near FROM i TO a PREFER COLOCATION", "CREATE PLACEMENT far FROM a TO k SUGGEST SEPARATION",
		"CREATE PLACEMENT pulls FROM k TO b PREFER COLOCATION", "CREATE PLACEMENT with FROM j TO b PREFER COLOCATION", "CREATE PLACEMENT in FROM a TO j PREFER COLOCATION")
	s.on("n1")
	r, shown := s.relocate("INGESTOR i ONTO NODE n2 FOLLOW PREFERENCES")
	s.expect("k stays", shown, "a/0/preferred/follow/n1* b/0/preferred/follow/n1* i/0/selected/follow/n1* j/0/preferred/follow/n1*")
	if u := r.Unsatisfied; len(u) != 1 || u[0].A.Name != "b" || u[0].B.Name != "k" || u[0].Rule != "pulls" {
		t.Errorf("unsatisfied %+v", u)
	}
	r, shown = s.relocate("INGESTOR i, JUNCTION k, RELAY a ONTO NODE n2 IGNORE PREFERENCES")
	s.expect("selected all the same", shown, "a/0/selected/ignore/n1* i/0/selected/ignore/n1* k/0/selected/ignore/n1*")
	if u := r.Unsatisfied; len(u) != 3 || u[1].A.Name != "a" || u[1].B.Name != "k" || u[1].Rule != "far" {
		t.Errorf("unsatisfied %+v", u)
	}
	_, shown = s.relocate("INGESTOR i ONTO NODE n2 FOLLOW PREFERENCES FOR RELAY b IGNORE PREFERENCES FOR RELAY a IGNORE PREFERENCES")
	if !strings.Contains(shown, "RELAY 'b' is not part of the relocation") {
		t.Error(shown)
	}
}

func TestRelocateCorridors(t *testing.T) {
	s := newCluster(t, "n1 n2", pipeline)
	s.on("n1")
	r, shown := s.relocate("FROM RELAY a, RELAY d TO RELAY c, EMITTER f ONTO NODE n2 IGNORE PREFERENCES")
	s.expect("members", shown, "a/0/selected/ignore/n1* c/0/selected/ignore/n1* x/0/selected/ignore/n1* j/0/selected/ignore/n1* m/0/selected/ignore/n1* f/0/selected/ignore/n1*")
	var pairs []string
	for _, p := range r.Pairs {
		pairs = append(pairs, fmt.Sprintf("%s-%s %v: %s", p.From.Name, p.To.Name, p.Connected, keysText(p.Captured)))
	}
	s.expect("pairs", strings.Join(pairs, "\n"), "a-c true: a c j\na-f true: a c x j m f\nd-c false: \nd-f false: ")
}

// TestRelocateRefusals in the order in which they are looked for.
func TestRelocateRefusals(t *testing.T) {
	s := newCluster(t, "n1 n2 n3 n4 n5", pipeline, "CREATE PLACEMENT p FROM c TO m REQUIRE COLOCATION")
	s.on("n1")
	s.node("n2").Voter, s.node("n3").Live, s.node("n4").Terminating, s.node("n5").Cordoned = false, false, true, true
	for text, want := range map[string]string{ //plexus:orderfree independent cases
		"JUNCTION z, RELAY i ONTO NODE nowhere IGNORE PREFERENCES":                                                    "ref.missing: JUNCTION 'z' does not exist\nref.missing: RELAY 'i' does not exist",
		"INGESTOR l ONTO NODE n2 IGNORE PREFERENCES":                                                                  "ref.kind: INGESTOR 'l' listens on every node and cannot be relocated",
		"FROM EMITTER e TO RELAY a, RELAY b ONTO NODE nowhere IGNORE PREFERENCES":                                     "invalid: no way leads from any of FROM to any of TO",
		"FROM RELAY a TO RELAY a ONTO NODE nowhere IGNORE PREFERENCES":                                                "invalid: no way leads from any of FROM to any of TO",
		"JUNCTION m ONTO NODE n2 IGNORE PREFERENCES FOR RELAY z FOLLOW PREFERENCES":                                   "ref.missing: RELAY 'z' does not exist",
		"JUNCTION m ONTO NODE n2 IGNORE PREFERENCES FOR RELAY a FOLLOW PREFERENCES":                                   "invalid: RELAY 'a' is not part of the relocation, so a FOR cannot speak of it",
		"JUNCTION m ONTO NODE n2 IGNORE PREFERENCES FOR RELAY c FOLLOW PREFERENCES FOR JUNCTION m IGNORE PREFERENCES": "invalid: two FOR disagree about the group of JUNCTION 'm': FOLLOW and IGNORE PREFERENCES",
		"JUNCTION m ONTO NODE nowhere IGNORE PREFERENCES":                                                             "node: node 'nowhere' is not a member of the cluster",
		"JUNCTION m ONTO NODE n2 IGNORE PREFERENCES":                                                                  "node: node 'n2' is not a voter yet",
		"JUNCTION m ONTO NODE n3 IGNORE PREFERENCES":                                                                  "node: node 'n3' is not live",
		"JUNCTION m ONTO NODE n4 IGNORE PREFERENCES":                                                                  "node: node 'n4' is terminating",
		"JUNCTION m ONTO NODE n5 IGNORE PREFERENCES":                                                                  "node: node 'n5' is cordoned",
	} {
		if r, got := s.relocate(text); r != nil || got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	s.node("n1").Live, s.node("n5").Cordoned = false, false
	_, got := s.relocate("JUNCTION k ONTO NODE n5 IGNORE PREFERENCES")
	s.expect("lost owner", got, "node: the owner of JUNCTION 'k', node 'n1', is not available")
	s.run("d", junction("later", "a", "b"))
	_, got = s.relocate("JUNCTION later ONTO NODE n5 IGNORE PREFERENCES")
	s.expect("no owner", got, "node: JUNCTION 'later' has no owner")
}

// TestRelocateLeavesOthersAlone: what else a new schedule would change has its own
// time.
func TestRelocateLeavesOthersAlone(t *testing.T) {
	s := newCluster(t, "n1 n2 n3", pipeline)
	s.on("n1")
	s.cluster.ReplicaCount = 2
	r, _ := s.relocate("JUNCTION m ONTO NODE n2 IGNORE PREFERENCES")
	s.expect("replicas come with the next schedule", s.commit(&r.Assigned), "a=n1 b=n1 c=n1 d=n1 x=n1 i=n1 l=* j=n1 k=n1 m=n2 e=n1 f=n1")
}

// TestDrain moves every unit of a node, groups whole, in canonical order.
func TestDrain(t *testing.T) {
	s := newCluster(t, "n1 n2 n3", pipeline, "CREATE PLACEMENT p FROM c TO x REQUIRE COLOCATION")
	s.domain("a")
	s.run("a", definitions("i>z")...)
	s.cluster.ReplicaCount = 1
	s.on("n1")
	a, refused := Schedule(s.state, "a", Cluster{Nodes: s.cluster.Nodes[:1]})
	if refused != nil {
		t.Fatal(refused)
	}
	s.apply(a.Step)
	s.start()
	var order []string
	for _, u := range DrainOrder(s.state, "n1") {
		order = append(order, u.Domain+":"+keysText(u.Members))
	}
	s.expect("order", strings.Join(order, ", "), "a:z, a:i, d:a, d:b, d:c x m, d:d, d:i, d:j, d:k, d:e, d:f")
	s.node("n1").Cordoned = true
	for _, u := range DrainOrder(s.state, "n1") {
		a, refused := Evacuate(s.state, u, s.cluster)
		if refused != nil || len(a.Moves) != len(u.Members) || u.Domain == "d" && a.Level() != EntityPause {
			t.Fatalf("%+v: %+v %v", u, a, refused)
		}
		s.apply(a.Step)
	}
	if left := DrainOrder(s.state, "n1"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if !strings.Contains(s.shown(), "(n1)") {
		t.Errorf("the former owner is no replica: %s", s.shown())
	}
	s.node("n2").Cordoned, s.node("n3").Cordoned = true, true
	here := append(DrainOrder(s.state, "n2"), DrainOrder(s.state, "n3")...)
	if _, refused := Evacuate(s.state, here[0], s.cluster); refused == nil || refused.Code != CodeNode {
		t.Errorf("nobody can take it: %v", refused)
	}
}

// TestOrphaned plans the removal of a node in all domains, or says what it would
// leave behind.
func TestOrphaned(t *testing.T) {
	s := newCluster(t, "n1 n2", "i>a a>e")
	s.domain("other")
	s.run("other", definitions("i>a")...)
	s.on("n1")
	if all, refused := Orphaned(s.state, "n2", s.cluster); refused != nil || len(all) > 0 {
		t.Errorf("a node without work: %v %v", all, refused)
	}
	s.node("n1").Live = false
	all, refused := Orphaned(s.state, "n1", s.cluster)
	if refused != nil || len(all) != 1 || len(all[0].Moves) != 3 {
		t.Fatalf("%v %v", all, refused)
	}
	s.node("n2").Cordoned = true
	_, refused = Orphaned(s.state, "n1", s.cluster)
	if refused == nil || refused.Message != "no node can take RELAY 'a' of domain 'd' from node 'n1'" {
		t.Error(refused)
	}
}
