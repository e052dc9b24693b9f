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

// Attempt is what should be a statement and does not parse.
type Attempt struct {
	File   int
	Domain string
	parse.Attempt
}

// Result is what a script comes to.
type Result struct {
	Findings   []Finding   // by file and place
	Unchecked  []Unchecked // by file and place
	Statements []Statement // in order
	Attempts   []Attempt   // in order
	// Domain is what is selected at last.
	Domain string
	// More is how many findings were left out.
	More int

	rehearsal *transaction.Rehearsal
}

// State holds what the script leaves.
func (r *Result) State() *catalog.State { return r.rehearsal.State() }

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
	r := newRunner()
	for i, f := range files {
		r.file = i
		for _, piece := range parse.Pieces(f.Text) {
			for _, d := range piece.Faults {
				r.report(i, d)
			}
			if piece.Statement == nil {
				r.result.Attempts = append(r.result.Attempts, Attempt{i, r.domain, piece.Attempt})
				r.attempted(piece.Attempt)
				continue
			}
			r.result.Statements = append(r.result.Statements, Statement{i, r.domain, piece.Statement})
			r.run(piece.Statement, f.Text)
		}
	}
	return r.finish()
}

// CheckEach checks scripts one by one, each behind the same files and from a new
// cluster on. It returns what all of them come to, and the files that the places are
// in.
func CheckEach(before []File, scripts [][]File) (*Result, []File) {
	all, files := &Result{}, slices.Clone(before)
	for i, list := range scripts {
		r := Check(slices.Concat(before, list)...)
		file := func(in int) (int, bool) { // those before are reported once
			return in + len(files) - len(before), in >= len(before) || i == 0
		}
		for _, f := range r.Findings {
			if at, ok := file(f.File); ok {
				all.Findings = append(all.Findings, Finding{at, f.Diagnostic})
			}
		}
		for _, u := range r.Unchecked {
			if at, ok := file(u.File); ok {
				all.Unchecked = append(all.Unchecked, Unchecked{Place{at, u.Span}, u.What})
			}
		}
		all.More += r.More
		files = append(files, list...)
	}
	return all, files
}

// newRunner begins with a new cluster.
func newRunner() *runner {
	r := &runner{
		real: rehearsal(catalog.New(primitives.UUID{})), domain: firstDomain,
		worlds: map[string]*world{}, failed: map[failedKey]verb{}, result: &Result{},
	}
	r.apply(&catalogpb.Step{Body: &catalogpb.Step_CreateUser{CreateUser: &catalogpb.CreateUser{Name: firstUser, PasswordHash: "-"}}})
	r.apply(&catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: firstDomain}}})
	r.apply(&catalogpb.Step{Body: &catalogpb.Step_AddNode{AddNode: &catalogpb.AddNode{Node: &catalogpb.Node{
		Id: localNode, RaftId: 1, Role: catalogpb.Node_VOTER}}}})
	return r
}

// rehearsal carries statements out on a cluster of one node.
func rehearsal(state *catalog.State) *transaction.Rehearsal {
	return transaction.NewRehearsal(transaction.View{
		State: state, Cluster: decide.Cluster{Nodes: []schedule.Node{{ID: localNode, Live: true, Voter: true}}}, Offline: true,
	})
}

// finish returns the result in the order of the files.
func (r *runner) finish() *Result {
	r.leftOpen()
	r.result.rehearsal, r.result.Domain = r.real, r.domain
	slices.SortStableFunc(r.result.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Span.Start, b.Span.Start))
	})
	if over := len(r.result.Findings) - findingsMax; over > 0 {
		r.result.Findings, r.result.More = r.result.Findings[:findingsMax], over
	}
	slices.SortStableFunc(r.result.Unchecked, func(a, b Unchecked) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Span.Start, b.Span.Start))
	})
	return r.result
}

// runner carries statements out.
type runner struct {
	real   *transaction.Rehearsal
	domain string // selected
	file   int    // being read
	tx     *open  // nil outside of a transaction
	worlds map[string]*world
	// failed holds what statements were to do that failed: others that need it are
	// not to blame.
	failed map[failedKey]verb
	result *Result
}

// open is a transaction.
type open struct {
	begin Place
	world *world
	list  []queued
}

// queued is one statement of a transaction.
type queued struct {
	transaction.Statement
	file int
}

func (r *runner) report(file int, d *ast.Diagnostic) {
	r.result.Findings = append(r.result.Findings, Finding{file, d})
}

func (r *runner) fault(code ast.Code, span vocab.Span, format string, args ...any) {
	r.report(r.file, ast.Errorf(code, span, format, args...))
}

func (r *runner) unchecked(file int, span vocab.Span, what string) {
	r.result.Unchecked = append(r.result.Unchecked, Unchecked{Place{file, span}, what})
}

// apply changes what belongs to the cluster and returns why it does not.
func (r *runner) apply(step *catalogpb.Step) *catalog.Refusal {
	state := r.real.State()
	next, result, _ := state.Apply(state.Applied+1, &catalogpb.Command{Steps: []*catalogpb.Step{step}})
	if result.Refused == nil {
		r.real.SetState(next)
	}
	return result.Refused
}
