package decide

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/primitives"
)

// TestGolden runs every testdata file: cases of a script, a line of dashes, and
// what validating the script from an empty domain says.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, c := range strings.Split(string(text), "\n====\n") {
			script, _, _ := strings.Cut(c, "\n----\n")
			out = append(out, script+"\n----\n"+strings.TrimSpace(run(script)))
		}
		got := strings.Join(out, "\n====\n") + "\n"
		if os.Getenv("GOLDEN") != "" {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if got != string(text) {
			t.Errorf("%s: got\n%s", file, got)
		}
	}
}

// run applies a script. Statements before a blank "BATCH" line are committed
// first.
func run(script string) string {
	state := catalog.New(primitives.UUID{1})
	state, _, _ = state.Apply(2, &catalogpb.Command{Steps: []*catalogpb.Step{
		{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: "d"}}}}})
	for _, batch := range strings.Split(script, "\nBATCH\n") {
		c, missing := NewCandidate(state, "d")
		if missing != nil {
			return missing.Error()
		}
		statements, err := parse.Statements(batch)
		if err != nil {
			return err.Error()
		}
		for i, s := range statements {
			if d := mutate(c, s, i); d != nil {
				return d.Error()
			}
		}
		if invalid := c.Validate(); invalid != nil {
			return describe(invalid, batch)
		}
		var result catalog.Result
		state, result, _ = state.Apply(state.Applied+1, &catalogpb.Command{Steps: []*catalogpb.Step{c.Step()}})
		if result.Refused != nil {
			return result.Refused.Error()
		}
	}
	r, err := Plan(state, "d")
	if err != nil {
		return err.Error()
	}
	return summary(r)
}

func mutate(c *Candidate, s ast.Statement, i int) error {
	if drop, ok := s.(*ast.Drop); ok {
		if d := c.Drop(catalog.Key{Kind: drop.Kind, Name: drop.Name.Text}, drop.Span); d != nil {
			return d
		}
		return nil
	}
	if alter, ok := s.(ast.Alteration); ok {
		return c.Alter(alter, i).Err()
	}
	entity, found := model.Lower(s.(ast.Declaration))
	if err := found.Err(); err != nil {
		return err
	}
	if d := c.Create(entity, s.Place(), i); d != nil {
		return d
	}
	return nil
}

func describe(invalid *Invalid, text string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "statement %d\n", invalid.Statement)
	for _, d := range invalid.Found {
		fmt.Fprintf(&b, "%s [%s] at %q\n", d, d.Entity, text[d.Span.Start:d.Span.End])
		if d.Hint != "" {
			fmt.Fprintf(&b, "hint: %s\n", d.Hint)
		}
	}
	return b.String()
}

func summary(r *Revision) string {
	var b strings.Builder
	for _, x := range r.Relays {
		fmt.Fprintf(&b, "relay %s schema %s capacity %d\n", x.Name, x.Schema.Name, x.CapacityBatches)
	}
	for _, x := range r.Ingestors {
		fmt.Fprintf(&b, "ingestor %s %s codec %s filter %t timestamp %d\n", x.Name, x.Source.Entity, x.Codec.Name, x.Filter != nil, x.TimestampField)
		routes(&b, x.Routes)
	}
	for _, x := range r.Junctions {
		fmt.Fprintf(&b, "junction %s attached %t inputs %d\n", x.Name, x.Attached, len(x.Inputs))
		routes(&b, x.Routes)
	}
	for _, x := range r.Emitters {
		fmt.Fprintf(&b, "emitter %s %s client %s inputs %d steps %d invoke %d\n", x.Name, x.Sink.Entity, clientName(x.Sink.Client),
			len(x.Inputs), len(x.Construct.Steps), len(x.Invoke))
	}
	return b.String()
}

func clientName(c *ClientPlan) string {
	if c == nil {
		return "-"
	}
	return c.Name
}

func routes(b *strings.Builder, list []RoutePlan) {
	for _, r := range list {
		fmt.Fprintf(b, "  to %s steps %d where %t error %d %s\n", r.To, len(r.Construct.Steps), r.Construct.Where != nil, r.OnError.Action, r.OnError.To)
	}
}
