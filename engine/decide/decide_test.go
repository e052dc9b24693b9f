package decide

import (
	"errors"
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
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// goldenCase is one case of a testdata file.
type goldenCase struct {
	name   string // of the comment that it begins with, "" for none
	script string
	output string
}

// golden reads a testdata file: cases of a script, a line of dashes, and what
// validating the script from an empty domain says, between lines of equals signs. The
// script of the first case stands before those of all others where it begins with
// BASE.
func golden(t testing.TB, file string) (base string, cases []goldenCase) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n====\n") {
		if after, ok := strings.CutPrefix(c, "BASE\n"); ok {
			base = after
			continue
		}
		var x goldenCase
		x.script, x.output, _ = strings.Cut(c, "\n----\n")
		x.script = strings.TrimSuffix(x.script, "\n----")
		if first, _, _ := strings.Cut(x.script, "\n"); strings.HasPrefix(first, "// ") {
			x.name = strings.TrimPrefix(first, "// ")
		}
		cases = append(cases, x)
	}
	return base, cases
}

// TestGolden runs every testdata file. With GOLDEN set the outputs are written
// instead of compared.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".txt") {
			continue // no cases
		}
		base, cases := golden(t, file)
		var out []string
		if base != "" {
			out = append(out, "BASE\n"+base)
		}
		for _, c := range cases {
			got := strings.TrimSpace(run(base, c.script))
			out = append(out, c.script+"\n----\n"+got)
			if got != strings.TrimSpace(c.output) && os.Getenv("GOLDEN") == "" {
				t.Errorf("%s: %s\n---- want\n%s\n---- got\n%s", file, c.script, c.output, got)
			}
		}
		if os.Getenv("GOLDEN") != "" {
			if err := os.WriteFile(file, []byte(strings.Join(out, "\n====\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// run applies a script after another. Statements before a blank "BATCH" line are
// committed first. The domain is paced where the name of the script ends so.
func run(base, script string) string {
	name, _, _ := strings.Cut(script, "\n")
	create := &catalogpb.CreateDomain{Name: "d"}
	if strings.HasSuffix(name, "(paced)") {
		create.Pace = &catalogpb.Pace{Period: 1e9, PeriodText: "1s", Skew: 1e9, SkewText: "1s"}
	}
	state := catalog.New(primitives.UUID{1})
	state, _, _ = state.Apply(2, &catalogpb.Command{Steps: []*catalogpb.Step{{Body: &catalogpb.Step_CreateDomain{CreateDomain: create}}}})
	batches := strings.Split(script, "\nBATCH\n")
	if base != "" {
		batches = append([]string{base}, batches...)
	}
	for _, batch := range batches {
		state = resources(state, batch)
		c, missing := NewCandidate(state, "d")
		if missing != nil {
			return missing.Error()
		}
		statements, err := parse.Statements(batch)
		if err != nil {
			return refused(err, batch)
		}
		for i, s := range statements {
			if d := mutate(c, s, i); d != nil {
				return fmt.Sprintf("statement %d\n", i) + refused(d, batch)
			}
		}
		if invalid := c.Validate(); invalid != nil {
			return fmt.Sprintf("statement %d\n", invalid.Statement) + refused(invalid.Found, batch)
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

// resources applies the resources of a batch: UPLOAD adds a version of the state
// that its path names.
func resources(state *catalog.State, batch string) *catalog.State {
	statements, _ := parse.Statements(batch)
	apply := func(step *catalogpb.Step) {
		state, _, _ = state.Apply(state.Applied+1, &catalogpb.Command{Steps: []*catalogpb.Step{step}})
	}
	for _, s := range statements {
		switch x := s.(type) {
		case *ast.CreateResource:
			apply(&catalogpb.Step{Body: &catalogpb.Step_CreateResource{CreateResource: &catalogpb.CreateResource{Domain: "d", Name: x.Name.Text}}})
		case *ast.UploadResource:
			version := &catalogpb.Version{State: catalogpb.Version_State(catalogpb.Version_State_value[x.Path.Text])}
			apply(&catalogpb.Step{Body: &catalogpb.Step_RecordVersion{RecordVersion: &catalogpb.RecordVersion{Domain: "d", Resource: x.Name.Text, Version: version}}})
		}
	}
	return state
}

func mutate(c *Candidate, s ast.Statement, i int) error {
	if drop, ok := s.(*ast.Drop); ok {
		if d := c.Drop(catalog.Key{Kind: drop.Kind, Name: drop.Name.Text}, drop.Name.Span); d != nil {
			return d
		}
		return nil
	}
	switch x := s.(type) {
	case ast.Alteration:
		return c.Alter(x, i).Err()
	case *ast.RebindResource:
		_, _, found := c.Rebind(x, i)
		return found.Err()
	case *ast.CreateSubscription:
		_, found := c.Subscription(x)
		return found.Err()
	case *ast.Describe:
		return pick(c, x).Err()
	case *ast.CreateResource, *ast.UploadResource:
		return nil
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

// pick checks the key by which DESCRIBE RELAY picks a branch.
func pick(c *Candidate, x *ast.Describe) ast.Diagnostics {
	relay, _ := lookup[*model.Relay](c, vocab.EntityRelay, x.Name.Text)
	branch, _ := lookup[*model.Branch](c, vocab.EntityBranch, relay.Branch.By.Text)
	schema, _ := c.schema(branch.Schema.Text)
	return CheckKey(schema, x.Pick, x.Span)
}

// refused lists faults: what is said, of which entity, at which part of the text.
func refused(err error, text string) string {
	var one *ast.Diagnostic
	var all ast.Diagnostics
	if !errors.As(err, &all) && errors.As(err, &one) {
		all = ast.Diagnostics{one}
	}
	var b strings.Builder
	for _, d := range all {
		fmt.Fprintf(&b, "%s", d)
		if d.Entity != (ast.Entity{}) {
			fmt.Fprintf(&b, " [%s]", d.Entity)
		}
		fmt.Fprintf(&b, " at %q\n", text[d.Span.Start:d.Span.End])
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
