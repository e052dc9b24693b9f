package decide

import (
	"fmt"
	"strings"
	"testing"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/schedule"
	"plexus/nspl/ast"
	"plexus/nspl/parse"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// clustered is a state with a cluster around it.
type clustered struct {
	*testing.T
	state   *catalog.State
	cluster Cluster
}

// newCluster is a cluster of live voters with one domain d. A word of the graph is
// an operator: i1>a is an ingestor i1 that writes relay a, l>a a listener, a>j>b+c
// a junction j from a to b and c, a>e an emitter.
func newCluster(t *testing.T, nodes, graph string, statements ...string) *clustered {
	s := &clustered{T: t, state: catalog.New(primitives.UUID{1})}
	for i, n := range strings.Fields(nodes) {
		s.apply(&catalogpb.Step{Body: &catalogpb.Step_AddNode{AddNode: &catalogpb.AddNode{Node: &catalogpb.Node{
			Id: n, RaftId: uint64(i + 1), Role: catalogpb.Node_VOTER,
		}}}})
		s.cluster.Nodes = append(s.cluster.Nodes, schedule.Node{ID: n, Live: true, Voter: true})
	}
	s.domain("d")
	s.run("d", definitions(graph)...)
	s.run("d", statements...)
	return s
}

func (s *clustered) domain(name string) {
	s.apply(&catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: name}}})
}

func (s *clustered) start() {
	s.apply(&catalogpb.Step{Body: &catalogpb.Step_SetRunning{SetRunning: &catalogpb.SetRunning{Domain: "d", Running: true}}})
}

func (s *clustered) apply(step *catalogpb.Step) {
	s.Helper()
	next, result, _ := s.state.Apply(s.state.Applied+1, &catalogpb.Command{Steps: []*catalogpb.Step{step}})
	if result.Refused != nil {
		s.Fatal(result.Refused)
	}
	s.state = next
}

// run applies statements as one batch.
func (s *clustered) run(domain string, statements ...string) {
	s.Helper()
	c, missing := NewCandidate(s.state, domain)
	if missing != nil {
		s.Fatal(missing)
	}
	for i, text := range statements {
		x, err := parse.Statement(text)
		if err != nil {
			s.Fatalf("%s: %v", text, err)
		}
		if alter, ok := x.(*ast.AlterDomain); ok {
			s.apply(&catalogpb.Step{Body: &catalogpb.Step_AlterDomain{AlterDomain: &catalogpb.AlterDomain{
				Domain: domain, Placement: alter.Placement.String()}}})
			return
		}
		if err := mutate(c, x, i); err != nil {
			s.Fatalf("%s: %v", text, err)
		}
	}
	if invalid := c.Validate(); invalid != nil {
		s.Fatal(invalid)
	}
	if !c.Empty() {
		s.apply(c.Step())
	}
}

// schedule computes the schedule, commits it and prints it.
func (s *clustered) schedule() (*Assigned, string) {
	s.Helper()
	a, refused := Schedule(s.state, "d", s.cluster)
	if refused != nil {
		s.Fatal(refused)
	}
	return a, s.commit(a)
}

func (s *clustered) commit(a *Assigned) string {
	s.Helper()
	if a.Step != nil {
		s.apply(a.Step)
	}
	return s.shown()
}

// shown prints who executes what in d.
func (s *clustered) shown() string {
	committed, _ := s.state.Schedule("d")
	var b strings.Builder
	for _, a := range committed.Assignments {
		fmt.Fprintf(&b, "%s=%s", a.Name, a.Primary)
		if a.Everywhere {
			b.WriteString("*")
		}
		if len(a.Replicas) > 0 {
			fmt.Fprintf(&b, "(%s)", strings.Join(a.Replicas, ","))
		}
		b.WriteString(" ")
	}
	return strings.TrimSpace(b.String())
}

func (s *clustered) node(id string) *schedule.Node {
	for i := range s.cluster.Nodes {
		if s.cluster.Nodes[i].ID == id {
			return &s.cluster.Nodes[i]
		}
	}
	return nil
}

func (s *clustered) expect(what, got, want string) {
	s.Helper()
	if got != want {
		s.Errorf("%s:\n%s\nnot\n%s", what, got, want)
	}
}

// definitions are the statements of a graph.
func definitions(graph string) []string {
	const route = " INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG"
	list := []string{
		"CREATE SCHEMA s (x U8)", "CREATE WIRE JSON SCHEMA w MODE LOOSE (x integer)", "CREATE CODEC k FROM WIRE JSON SCHEMA w TO SCHEMA s",
		"CREATE CLIENT bus TYPE NATS CONFIG { 'addr' = 'nats://127.0.0.1:4222' }",
		"CREATE VHOST v localhost", "CREATE ENDPOINT hook ON v PATH '/' TYPE HTTP",
	}
	relays := map[string]bool{}
	relay := func(names string) {
		for name := range strings.SplitSeq(names, "+") {
			if !relays[name] {
				relays[name] = true
				list = append(list, "CREATE RELAY "+name+" SCHEMA s UNBRANCHED")
			}
		}
	}
	routes := func(names, text string) (all string) {
		for name := range strings.SplitSeq(names, "+") {
			all += " TO " + name + text
		}
		return all
	}
	for word := range strings.FieldsSeq(graph) {
		part := strings.Split(word, ">")
		switch {
		case len(part) == 3:
			relay(part[0])
			relay(part[2])
			list = append(list, "CREATE JUNCTION "+part[1]+" FROM "+strings.ReplaceAll(part[0], "+", ", ")+" UNBRANCHED"+
				routes(part[2], " INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG"))
		case part[0][0] == 'l':
			relay(part[1])
			list = append(list, "CREATE INGESTOR "+part[0]+" FROM HTTP ENDPOINT hook MODE NO_ACK SEQUENTIAL ON QUIESCE REJECT RETRY AFTER 1s DECODE USING k"+
				routes(part[1], route)+" ON GENERAL ERROR LOG")
		case part[0][0] == 'i':
			relay(part[1])
			list = append(list, "CREATE INGESTOR "+part[0]+" FROM RANDOM SEED 1 MAX ROWS 1 EVERY 1s MODE ACK SEQUENTIAL ACK TIMEOUT 5s "+
				"RETRY POLICY BACKOFF 1s MAX 2s ON QUIESCE SUSPEND DECODE USING k"+routes(part[1], route)+" ON GENERAL ERROR LOG")
		default:
			relay(part[0])
			list = append(list, "CREATE EMITTER "+part[1]+" FROM "+part[0]+" TO NATS bus SUBJECT x MODE NO_ACK RETRY POLICY BACKOFF 1s MAX 2s "+
				"ENCODE USING k INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG")
		}
	}
	return list
}

// pipeline has a source, a listener and two ways that part and meet.
const pipeline = "i>a l>b a>j>c b>k>c c>m>d+x d>e x>f"

func keysText(keys []catalog.Key) string {
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = k.Name
	}
	return strings.Join(list, " ")
}

var everyKind = vocab.EntityEmitter // the last kind: a new one needs a look at operatorKinds

// TestOperatorKinds: the list of kinds agrees with Executes.
func TestOperatorKinds(t *testing.T) {
	at := 0
	for kind := vocab.EntityDomain; kind <= everyKind; kind++ {
		if !Executes(kind) {
			continue
		}
		if at >= len(operatorKinds) || operatorKinds[at] != kind {
			t.Fatalf("%s executes and is not in its place of the list", kind)
		}
		at++
	}
	if at != len(operatorKinds) {
		t.Errorf("%d kinds, %d listed", at, len(operatorKinds))
	}
}
