package script_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/engine/schedule"
	"plexus/engine/script"
	"plexus/engine/transaction"
	"plexus/nspl/ast"
	"plexus/nspl/parse"
	"plexus/primitives"
)

// steps are what the law draws scripts from. Much of it does not fit what stands
// before it, or is wrong in itself.
var steps = []string{
	"CREATE SCHEMA row (site STRING, n I64)", "CREATE SCHEMA row (site STRING)", "CREATE SCHEMA row (site STRING, site I64)", "DROP SCHEMA row",
	"ALTER SCHEMA row ADD FIELD v F64 OPTIONAL", "ALTER SCHEMA row DROP FIELD n", "CREATE IF NOT EXISTS SCHEMA row (site STRING, n I64)",
	"CREATE RELAY a SCHEMA row UNBRANCHED", "CREATE RELAY b SCHEMA row UNBRANCHED", "CREATE RELAY b SCHEMA other UNBRANCHED",
	"CREATE RELAY c SCHEMA row UNBRANCHED WITH MATERIALIZED STATE LAST BY TIMESTAMP", "DROP RELAY a", "DROP RELAY b", "DROP RELAY c",
	"ALTER RELAY c DROP MATERIALIZED STATE", "ALTER RELAY a SET SCHEMA other", "ALTER RELAY a SET CAPACITY 3", "CREATE SCHEMA other (site STRING, n I64, x U8)",
	"CREATE JUNCTION j FROM a UNBRANCHED TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
	"CREATE JUNCTION j FROM a FILTER WHERE n > 1 UNBRANCHED TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
	"CREATE JUNCTION k FROM b UNBRANCHED USING MATERIALIZED STATE c REQUIRED SKIP TO a INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
	"CREATE DETACHED JUNCTION k FROM b UNBRANCHED TO a INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG", "ALTER JUNCTION k SET ATTACHED",
	"CREATE JUNCTION l FROM b UNBRANCHED TO c SET site = udf::one(site) FLUSH IMMEDIATE ON MESSAGE ERROR LOG", "DROP JUNCTION j", "DROP JUNCTION k", "DROP JUNCTION l",
	"CREATE UDF one WITH NSPL_1 ARGS (x STRING) RETURNS STRING CODE 'RETURN x;'", "CREATE UDF one WITH NSPL_1 ARGS (x I64) RETURNS I64 CODE 'RETURN udf::two(x);'",
	"CREATE UDF two WITH NSPL_1 ARGS (x I64) RETURNS I64 CODE 'RETURN udf::one(x);'", "DROP UDF one", "DROP UDF two",
	"CREATE PLACEMENT p FROM j TO k REQUIRE COLOCATION", "CREATE PLACEMENT q FROM j TO k NEUTRAL", "DROP PLACEMENT p", "DROP PLACEMENT q",
	"CREATE VHOST v a.example.org", "CREATE ENDPOINT e ON v PATH '/' TYPE HTTP", "CREATE ENDPOINT d ON v PATH '/' TYPE HTTP", "DROP ENDPOINT e", "DROP VHOST v",
	"START", "STOP", "CREATE RESOURCE files", "CREATE DEDUPLICATOR d FROM b DEDUPLICATE ON n MAX TIME 1m UNBRANCHED TO c INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
	"DROP DEDUPLICATOR d", "ALTER DOMAIN SET PLACEMENT PREFER COLOCATION",
}

// node carries out statements as a node does: each is planned anew on what is
// committed.
type node struct{ state *catalog.State }

func newNode() *node {
	n := &node{catalog.New(primitives.UUID{})}
	_ = n.apply(&catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: "default"}}})
	_ = n.apply(&catalogpb.Step{Body: &catalogpb.Step_AddNode{AddNode: &catalogpb.AddNode{Node: &catalogpb.Node{
		Id: "local", RaftId: 1, Role: catalogpb.Node_VOTER}}}})
	return n
}

func (n *node) apply(list ...*catalogpb.Step) error {
	next, result, _ := n.state.Apply(n.state.Applied+1, &catalogpb.Command{Steps: list})
	if result.Refused != nil {
		return result.Refused
	}
	n.state = next
	return nil
}

// run carries a list out, or returns why not.
func (n *node) run(text string, list ...ast.Statement) ast.Diagnostics {
	var all []transaction.Statement
	for _, s := range list {
		one, found := transaction.NewStatement(s, text)
		if len(found) > 0 {
			return found
		}
		all = append(all, one)
	}
	view := transaction.View{State: n.state, Cluster: decide.Cluster{Nodes: []schedule.Node{{ID: "local", Live: true, Voter: true}}}, Offline: true}
	plan, fault := transaction.Make(view, "default", all)
	if fault == nil {
		fault = plan.Incomplete
	}
	if fault != nil {
		return fault.Found
	}
	for _, step := range plan.Steps {
		if err := n.apply(step.GetChanges()...); err != nil {
			return ast.Diagnostics{{Code: "refused", Message: err.Error()}}
		}
	}
	return nil
}

// definitions is everything that a domain holds.
func definitions(s *catalog.State) string {
	var b strings.Builder
	for m := range s.Models("default") {
		b.WriteString(m.Text + "\n")
	}
	d, _ := s.Domain("default")
	fmt.Fprintf(&b, "running %t, placement %s", d.Running, d.Placement)
	return b.String()
}

// TestStepwise is the law that a script comes to what a node makes of its statements
// one by one, and that what is said of a statement is what the node says, if it does
// not only follow from what was said before.
func TestStepwise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.SampledFrom(steps), 1, 40).Draw(t, "statements")
		text := strings.Join(list, ";\n") + ";\n"
		statements, err := parse.Statements(text)
		if err != nil {
			t.Fatal(err)
		}
		r := script.Check(script.File{Name: "x", Text: text})
		n := newNode()
		for _, s := range statements {
			found := n.run(text, s)
			var said []string
			for _, f := range r.Findings {
				if s.Place().Start <= f.Span.Start && f.Span.End <= s.Place().End {
					said = append(said, f.Diagnostic.Error()+"\n"+f.Hint)
				}
			}
			if len(found) == 0 {
				if len(said) > 0 {
					t.Fatalf("%s is carried out, and the script says %q", text[s.Place().Start:s.Place().End], said)
				}
				continue
			}
			all := strings.Join(said, "\n")
			for _, d := range found {
				switch d.Code {
				case ast.CodeRefMissing, decide.CodeExists, decide.CodeInUse, ast.CodeUnavailable: // may follow from another one
				default:
					if !strings.Contains(all, d.Error()+"\n"+d.Hint) {
						t.Fatalf("%s is refused with\n%v\nand the script says %q", text[s.Place().Start:s.Place().End], d, said)
					}
				}
			}
		}
		if got, want := definitions(r.State()), definitions(n.state); got != want {
			t.Fatalf("the script leaves\n%s\na node\n%s", got, want)
		}
		if _, err := decide.Plan(r.State(), "default"); err != nil {
			t.Fatal(err)
		}
	})
}

// TestTransactionWhole is the law that a script finds a fault in a transaction exactly
// where a node refuses it.
func TestTransactionWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SliceOfN(rapid.SampledFrom(steps), 0, 12).Draw(t, "before")
		list := rapid.SliceOfN(rapid.SampledFrom(steps), 1, 12).Draw(t, "statements")
		n := newNode()
		var kept strings.Builder
		for _, s := range before {
			one, _ := parse.Statement(s)
			if n.run(s, one) == nil {
				kept.WriteString(s + ";\n")
			}
		}
		inside := strings.Join(list, ";\n")
		text := kept.String() + "BEGIN;\n" + inside + ";\nCOMMIT;\n"
		statements, err := parse.Statements(inside)
		if err != nil {
			t.Fatal(err)
		}
		found := n.run(inside, statements...)
		r := script.Check(script.File{Name: "x", Text: text})
		if len(found) == 0 != (len(r.Findings)+len(r.Unchecked) == 0) && !strings.Contains(text, "RESOURCE") {
			t.Fatalf("%s\na node says %v, the script %v %v", text, found, r.Findings, r.Unchecked)
		}
		if len(found) == 0 && definitions(r.State()) != definitions(n.state) {
			t.Fatalf("the script leaves\n%s\na node\n%s", definitions(r.State()), definitions(n.state))
		}
		if _, err := decide.Plan(r.State(), "default"); err != nil {
			t.Fatal(err)
		}
	})
}
