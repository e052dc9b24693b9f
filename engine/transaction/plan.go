package transaction

import (
	"fmt"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/engine/transaction/transactionpb"
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// View is everything that planning reads, at one moment.
type View struct {
	State   *catalog.State
	Cluster decide.Cluster
	// Offline says that there is no cluster to ask for versions of resources.
	Offline bool
}

// Plan is what a list of statements comes to.
type Plan struct {
	Steps    []*transactionpb.Step
	Outcomes []*transactionpb.Outcome // one for each statement
	Report   *transactionpb.Report
	// Incomplete is why the last run of model mutations cannot be applied yet; nil
	// when the plan is complete.
	Incomplete *Fault
	Captured   catalog.Captured
}

// Level is the highest quiesce level that a step needs.
func (p *Plan) Level() (level string) {
	level = decide.Dynamic.String()
	for _, s := range p.Steps {
		level = Higher(level, s.GetLevel())
	}
	return level
}

// Higher returns the higher of two levels by their words.
func Higher(a, b string) string {
	for _, l := range []decide.Level{decide.DomainPause, decide.EntityPause} {
		if a == l.String() || b == l.String() {
			return l.String()
		}
	}
	return decide.Dynamic.String()
}

// Moved counts the owners that move.
func (p *Plan) Moved() (n int) {
	for _, s := range p.Steps {
		n += len(s.GetMoves())
	}
	return n
}

// Make plans statements against a view (X1, X3). The last run of model mutations
// may be incomplete.
func Make(v View, domain string, list []Statement) (*Plan, *Fault) {
	b, fault := newBuilder(v, domain)
	if fault != nil {
		return nil, fault
	}
	for i := range list {
		if fault := b.add(i, &list[i]); fault != nil {
			return nil, fault
		}
	}
	if fault := b.close(); fault != nil {
		b.plan.Incomplete = fault
	}
	b.report.finish(b.plan)
	return b.plan, nil
}

func newBuilder(v View, domain string) (*builder, *Fault) {
	d, ok := v.State.Domain(domain)
	if !ok {
		return nil, &Fault{
			Found:     ast.Diagnostics{{Code: decide.CodeDomainMissing, Message: "domain '" + domain + "' does not exist"}},
			Operation: -1, Cause: -1,
		}
	}
	return &builder{
		state: v.State, cluster: v.Cluster, offline: v.Offline, domain: domain,
		plan:   &Plan{Captured: v.State.CapturedOf(d), Report: &transactionpb.Report{Complete: true, Effects: &transactionpb.Effects{}}},
		report: reporter{},
	}, nil
}

// builder turns statements into steps, keeping the state that each step would
// leave.
type builder struct {
	state   *catalog.State
	cluster decide.Cluster
	offline bool
	domain  string
	plan    *Plan
	report  reporter

	open  *decide.Candidate // the run of model mutations in progress
	first int               // its first statement, from 0
	last  int
	// mutated tells which statement of the list changed an entity last.
	mutated map[catalog.Key]int

	// rehearsal is whose candidates are used, nil for none. Then there are no reports
	// and schedules, and failed is what makes the run in progress no valid graph.
	rehearsal *Rehearsal
	failed    []*Fault
	stepwise  bool // the state of the rehearsal is needed behind each run
}

// faultOf is a fault of one statement.
func faultOf(found ast.Diagnostics, i int) *Fault {
	return &Fault{Found: found, Operation: i, Cause: i}
}

// nobody is a fault of the list as a whole.
func nobody(found ...*ast.Diagnostic) *Fault { return faultOf(found, -1) }

// invalid makes a verdict a fault.
func (b *builder) invalid(v *decide.Invalid) *Fault {
	f := faultOf(v.Found, v.Statement)
	for _, key := range v.Causes {
		if i, ok := b.mutated[key]; ok {
			f.Cause = max(f.Cause, i)
		}
	}
	return f
}

func (b *builder) add(i int, s *Statement) *Fault {
	subject := Subject(s, b.domain)
	switch x := s.Parsed.(type) {
	case *ast.Start:
		if fault := b.close(); fault != nil {
			return fault
		}
		if d := b.startable(x); d != nil {
			return faultOf(ast.Diagnostics{d}, i)
		}
		return b.single(i, x, b.setRunning(true, x.AtNow), subject, "started domain '"+b.domain+"'", transactionpb.Reason_STARTS, catalog.Key{})
	case *ast.Stop:
		return b.single(i, x, b.setRunning(false, false), subject, "stopped domain '"+b.domain+"'", transactionpb.Reason_STOPS, catalog.Key{})
	case *ast.AlterDomain:
		step := &catalogpb.Step{Body: &catalogpb.Step_AlterDomain{AlterDomain: &catalogpb.AlterDomain{Domain: b.domain, Placement: x.Placement.String()}}}
		return b.single(i, x, step, subject, "altered domain '"+b.domain+"'", transactionpb.Reason_ALTERS, catalog.Key{})
	}
	switch x := s.Parsed.(type) {
	case *ast.CreateResource:
		return b.createResource(i, x, subject)
	case *ast.ResetWASM:
		return b.reset(i, x)
	}
	if b.open == nil {
		c, fault := b.begin()
		if fault != nil {
			return fault
		}
		b.open, b.first = c, i
	}
	b.last = i
	if found := b.mutate(i, s, subject); len(found) > 0 {
		return faultOf(found, i)
	}
	return nil
}

// begin returns what a run of model mutations changes.
func (b *builder) begin() (*decide.Candidate, *Fault) {
	if b.rehearsal != nil {
		return b.rehearsal.definitions(b)
	}
	return b.candidate()
}

func (b *builder) candidate() (*decide.Candidate, *Fault) {
	c, missing := decide.NewCandidate(b.state, b.domain)
	if missing != nil {
		return nil, nobody(missing)
	}
	if b.offline {
		c.Offline()
	}
	return c, nil
}

// mutate takes one statement into the open run.
func (b *builder) mutate(i int, s *Statement, subject string) ast.Diagnostics {
	key, ok := target(s)
	if !ok {
		return ast.Diagnostics{ast.Errorf(ast.CodeUnavailable, s.Parsed.Place(), "not available yet: %s", ast.Words(s.Parsed))}
	}
	o := outcome(s.Parsed, subject, "", false)
	b.plan.Outcomes = append(b.plan.Outcomes, o)
	reason := transactionpb.Reason_NOTHING
	var found ast.Diagnostics
	switch x := s.Parsed.(type) {
	case *ast.RebindResource:
		return b.rebind(i, x, o)
	case *ast.Drop:
		o.Text, reason = "dropped "+subject, transactionpb.Reason_DROPS
		found = diagnostics(b.open.Drop(key, x.Name.Span))
	case ast.Alteration:
		o.Text, reason = "altered "+subject, transactionpb.Reason_ALTERS
		found = b.open.Alter(x, i)
	case ast.Declaration:
		if x.Declared().IfNotExists && b.open.Exists(key) {
			o.Text, o.Existed = subject+" already exists", true
			break
		}
		o.Text, reason = "created "+subject, transactionpb.Reason_CREATES
		found = diagnostics(b.open.Create(s.entity, x.Declared().Name.Span, i))
		o.Resolved = b.open.Resolved()
	}
	b.report.operation(i, o, reason, key)
	if len(found) == 0 {
		b.changed(key, i)
	}
	return found
}

// changed remembers who changed an entity last.
func (b *builder) changed(key catalog.Key, i int) {
	if b.mutated == nil {
		b.mutated = map[catalog.Key]int{}
	}
	b.mutated[key] = i
}

func diagnostics(d *ast.Diagnostic) ast.Diagnostics {
	if d == nil {
		return nil
	}
	return ast.Diagnostics{d}
}

// target returns the entity that a model mutation is about.
func target(s *Statement) (catalog.Key, bool) {
	switch x := s.Parsed.(type) {
	case *ast.Drop:
		return catalog.Key{Kind: x.Kind, Name: x.Name.Text}, true
	case ast.Alteration:
		return catalog.Key{Kind: x.Alters(), Name: x.Altered().Name.Text}, true
	case *ast.RebindResource:
		return catalog.Key{Kind: vocab.EntityResource, Name: x.Name.Text}, true
	case ast.Declaration:
		if s.entity == nil {
			return catalog.Key{}, false
		}
		return catalog.Key{Kind: s.entity.Kind(), Name: s.entity.EntityName()}, true
	}
	return catalog.Key{}, false
}

// single makes a step of one statement (X2).
func (b *builder) single(i int, x ast.Statement, change *catalogpb.Step, subject, text string, reason transactionpb.Reason, key catalog.Key) *Fault {
	if fault := b.close(); fault != nil {
		return fault
	}
	before := b.state
	if r := b.apply(change); r != nil {
		return faultOf(ast.Diagnostics{ast.Errorf(ast.Code(r.Code), x.Place(), "%s", r.Message)}, i)
	}
	if b.rehearsal != nil {
		b.rehearsal.stepped(b)
		return nil
	}
	step := &transactionpb.Step{First: uint32(i + 1), Last: uint32(i + 1), Changes: []*catalogpb.Step{change}, Level: decide.Dynamic.String()}
	if reason == transactionpb.Reason_ALTERS {
		if d := b.schedule(step); d != nil {
			return faultOf(ast.Diagnostics{d}, i)
		}
	}
	o := outcome(x, subject, text, false)
	b.plan.Outcomes = append(b.plan.Outcomes, o)
	b.report.operation(i, o, reason, key)
	b.report.step(step, before, b.state, b.domain, true)
	b.plan.Steps = append(b.plan.Steps, step)
	return nil
}

// close ends the open run: it must be a valid graph by now. A run that cancels
// itself out is no step.
func (b *builder) close() *Fault {
	c := b.open
	if c == nil || c.Empty() {
		b.open = nil
		return nil
	}
	if b.rehearsal != nil {
		return b.rehearsed(c)
	}
	step := &transactionpb.Step{First: uint32(b.first + 1), Last: uint32(b.last + 1)}
	if invalid := c.Validate(); invalid != nil {
		fault := b.invalid(invalid)
		b.report.incomplete(step, b.state, b.domain, fault)
		return fault
	}
	if d, ok := b.state.Domain(b.domain); ok && d.Running {
		if invalid := c.AvailableChange(); invalid != nil {
			return b.invalid(invalid)
		}
	}
	before := b.state
	step.Level = c.Level(b.state).String()
	step.Drains = c.Drains(b.state)
	change := c.Step()
	b.open = nil
	if r := b.apply(change); r != nil {
		return nobody(&ast.Diagnostic{Code: ast.Code(r.Code), Message: r.Message})
	}
	step.Changes = []*catalogpb.Step{change}
	if d := b.schedule(step); d != nil {
		return nobody(d)
	}
	b.report.step(step, before, b.state, b.domain, true)
	b.plan.Steps = append(b.plan.Steps, step)
	return nil
}

// startable refuses a START that the domain does not take, and one of a domain
// that holds what this build cannot execute.
func (b *builder) startable(x *ast.Start) *ast.Diagnostic {
	if d, ok := b.state.Domain(b.domain); ok && d.Pace == nil && (x.At != nil || x.Rate != nil) {
		return ast.Errorf(ast.CodeInvalid, x.Place(), "domain '%s' is unpaced: only START and START AT NOW without TIME RATE are valid", b.domain)
	}
	return b.available(x.Place())
}

// available refuses to start a domain that holds what this build cannot execute.
func (b *builder) available(at vocab.Span) *ast.Diagnostic {
	c, missing := decide.NewCandidate(b.state, b.domain)
	if missing != nil {
		return missing
	}
	invalid := c.Available()
	if invalid == nil {
		return nil
	}
	d := *invalid.Found[0]
	d.Span = at
	return &d
}

// schedule adds the assignment that the changes of a step need.
func (b *builder) schedule(step *transactionpb.Step) *ast.Diagnostic {
	a, d := decide.Schedule(b.state, b.domain, b.cluster)
	if d != nil || a.Step == nil {
		return d
	}
	if r := b.apply(a.Step); r != nil {
		return &ast.Diagnostic{Code: ast.Code(r.Code), Message: r.Message}
	}
	step.Changes = append(step.Changes, a.Step)
	step.Level = Higher(step.Level, a.Level().String())
	for i := range a.Moves {
		step.Moves = append(step.Moves, moveRecord(&a.Moves[i]))
	}
	if boundary := a.Boundary(); !boundary.Empty() {
		step.Boundary = boundaryRecord(boundary)
	}
	return nil
}

// apply moves the simulated state on. It holds no lease: what is planned here is
// committed by whoever holds it.
func (b *builder) apply(change *catalogpb.Step) *catalog.Refusal {
	if d, ok := b.state.Domain(b.domain); ok && d.Lease != nil {
		change.Lease = d.Lease.Index
		defer func() { change.Lease = 0 }()
	}
	next, result, _ := b.state.Apply(b.state.Applied+1, &catalogpb.Command{Steps: []*catalogpb.Step{change}})
	if result.Refused != nil {
		return result.Refused
	}
	b.state = next
	return nil
}

func (b *builder) setRunning(running, fresh bool) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_SetRunning{SetRunning: &catalogpb.SetRunning{Domain: b.domain, Running: running, Fresh: fresh}}}
}

// Changes returns the steps of one planned step for a command that presents a
// lease and finds the domain as it was captured. Steps that were planned behind
// others expect what those were thought to leave; by now it is known.
func Changes(step *transactionpb.Step, lease uint64, at catalog.Captured) []*catalogpb.Step {
	list := make([]*catalogpb.Step, len(step.GetChanges()))
	for i, change := range step.GetChanges() {
		c := &catalogpb.Step{Lease: lease, Body: change.GetBody()}
		switch body := c.GetBody().(type) {
		case *catalogpb.Step_ChangeModels:
			m := body.ChangeModels
			c.Body = &catalogpb.Step_ChangeModels{ChangeModels: &catalogpb.ChangeModels{Domain: m.GetDomain(), Expected: at.Definition, Changes: m.GetChanges()}}
		case *catalogpb.Step_SetSchedule:
			m := body.SetSchedule
			c.Body = &catalogpb.Step_SetSchedule{SetSchedule: &catalogpb.SetSchedule{
				Domain: m.GetDomain(), Expected: at.Schedule, Assignments: m.GetAssignments(), Groups: m.GetGroups()}}
		}
		list[i] = c
	}
	return list
}

// Target returns the schedule that a step sets, nil when it sets none.
func Target(step *transactionpb.Step) (*catalog.Schedule, error) {
	for _, change := range step.GetChanges() {
		if set := change.GetSetSchedule(); set != nil {
			s, refused := catalog.NewSchedule(set)
			if refused != nil {
				return nil, fmt.Errorf("planned schedule: %w", refused)
			}
			return s, nil
		}
	}
	return nil, nil
}
