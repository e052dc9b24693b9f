package script

import (
	"cmp"
	"slices"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/engine/schedule"
	"plexus/engine/transaction"
	"plexus/nspl/ast"
	"plexus/nspl/parse"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// File is one file of a script.
type File struct{ Name, Text string }

// Place is a span of one of the files.
type Place struct {
	File int // counts from 0
	Span vocab.Span
}

// Finding is one fault.
type Finding struct {
	File int
	*ast.Diagnostic
}

// Unchecked is something that only a cluster can tell.
type Unchecked struct {
	Place
	What string
}

// Statement is one statement that parsed, with the domain that is selected where it
// stands.
type Statement struct {
	File   int
	Domain string
	Parsed ast.Statement
}

// Result is what a script comes to.
type Result struct {
	Findings   []Finding   // by file and place
	Unchecked  []Unchecked // by file and place
	Statements []Statement // in order
	// State holds what the script leaves; Domain is selected then.
	State  *catalog.State
	Domain string
	// More is how many findings were left out.
	More int
}

// findingsMax bounds what one check lists.
const findingsMax = 500

// firstDomain and firstUser exist in a new cluster, and the only node is localNode.
const (
	firstDomain = "default"
	firstUser   = "default"
	localNode   = "local"
)

// Check carries the files out as one script.
func Check(files ...File) *Result {
	r := &runner{state: catalog.New(primitives.UUID{}), domain: firstDomain, failed: map[failedKey]bool{}, result: &Result{}}
	r.apply(&catalogpb.Step{Body: &catalogpb.Step_CreateUser{CreateUser: &catalogpb.CreateUser{Name: firstUser, PasswordHash: "-"}}})
	r.apply(&catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: firstDomain}}})
	r.apply(&catalogpb.Step{Body: &catalogpb.Step_AddNode{AddNode: &catalogpb.AddNode{Node: &catalogpb.Node{
		Id: localNode, RaftId: 1, Role: catalogpb.Node_VOTER}}}})
	for i, f := range files {
		r.file = i
		statements, faults := parse.Script(f.Text)
		for _, d := range faults {
			r.report(i, d)
		}
		for _, s := range statements {
			r.result.Statements = append(r.result.Statements, Statement{i, r.domain, s})
			r.run(s, f.Text)
		}
	}
	r.leftOpen()
	r.result.State, r.result.Domain = r.state, r.domain
	slices.SortStableFunc(r.result.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Span.Start, b.Span.Start))
	})
	slices.SortStableFunc(r.result.Unchecked, func(a, b Unchecked) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Span.Start, b.Span.Start))
	})
	return r.result
}

// failedKey is an entity whose declaration failed.
type failedKey struct {
	domain string
	key    catalog.Key
}

// runner carries statements out.
type runner struct {
	state  *catalog.State
	domain string // selected
	file   int    // being read
	tx     *open  // nil outside of a transaction
	// failed holds what would be declared if nothing were wrong with it: others
	// that need it are not to blame.
	failed map[failedKey]bool
	result *Result
}

// open is a transaction.
type open struct {
	begin  Place
	domain string
	list   []queued
}

// queued is one statement of a transaction.
type queued struct {
	transaction.Statement
	file int
}

func (r *runner) report(file int, d *ast.Diagnostic) {
	if len(r.result.Findings) == findingsMax {
		r.result.More++
		return
	}
	r.result.Findings = append(r.result.Findings, Finding{file, d})
}

func (r *runner) fault(code ast.Code, span vocab.Span, format string, args ...any) {
	r.report(r.file, ast.Errorf(code, span, format, args...))
}

func (r *runner) unchecked(file int, span vocab.Span, what string) {
	r.result.Unchecked = append(r.result.Unchecked, Unchecked{Place{file, span}, what})
}

// apply changes the state and returns why it does not.
func (r *runner) apply(steps ...*catalogpb.Step) *catalog.Refusal {
	next, result, _ := r.state.Apply(r.state.Applied+1, &catalogpb.Command{Steps: steps})
	if result.Refused == nil {
		r.state = next
	}
	return result.Refused
}

// view is what plans are made of: a cluster of one node.
func (r *runner) view() transaction.View {
	return transaction.View{State: r.state, Cluster: decide.Cluster{Nodes: []schedule.Node{{ID: localNode, Live: true, Voter: true}}}, Offline: true}
}

// selected reports whether the selected domain exists, and that it does not.
func (r *runner) selected(at ast.Statement) bool {
	if _, ok := r.state.Domain(r.domain); ok {
		return true
	}
	if !r.failed[failedKey{key: catalog.Key{Kind: vocab.EntityDomain, Name: r.domain}}] {
		r.fault(decide.CodeDomainMissing, at.Place(), "domain '%s' does not exist", r.domain)
	}
	return false
}
