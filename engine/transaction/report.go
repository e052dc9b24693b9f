package transaction

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/engine/transaction/transactionpb"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// reporter writes the impact report of a plan while it is made.
type reporter struct {
	operations []*transactionpb.Operation
	steps      []*transactionpb.StepReport
	topologies []*transactionpb.Topology
	findings   []*transactionpb.Finding
}

func (r *reporter) operation(i int, o *transactionpb.Outcome, reason transactionpb.Reason, key catalog.Key) {
	op := &transactionpb.Operation{
		Position: uint32(i + 1), Statement: o.GetStatement(), Subject: o.GetSubject(), Reason: reason, Effects: &transactionpb.Effects{},
	}
	switch reason {
	case transactionpb.Reason_CREATES:
		op.Effects.Created = []*catalogpb.Key{keyRecord(key)}
	case transactionpb.Reason_DROPS:
		op.Effects.Dropped = []*catalogpb.Key{keyRecord(key)}
	case transactionpb.Reason_ALTERS:
		if key.Name != "" {
			op.Effects.Changed = []*catalogpb.Key{keyRecord(key)}
		}
	}
	r.operations = append(r.operations, op)
}

// step reports what one step changes from one state to the next.
func (r *reporter) step(step *transactionpb.Step, before, after *catalog.State, domain string, complete bool) {
	report := &transactionpb.StepReport{
		First: step.GetFirst(), Last: step.GetLast(), Complete: complete, Pause: pause(step),
		Before: r.topology(before, domain), After: r.topology(after, domain),
	}
	report.Effects = effects(step, before, after, domain)
	r.steps = append(r.steps, report)
	for _, op := range r.operations {
		if op.GetPosition() >= step.GetFirst() && op.GetPosition() <= step.GetLast() && op.GetReason() != transactionpb.Reason_NOTHING {
			op.Step = uint32(len(r.steps))
			replaces(op, report.Effects)
		}
	}
}

// replaces tells a definition that comes in another's place from a new one.
func replaces(op *transactionpb.Operation, of *transactionpb.Effects) {
	for _, k := range op.GetEffects().GetCreated() {
		if slices.ContainsFunc(of.GetChanged(), func(c *catalogpb.Key) bool { return proto.Equal(c, k) }) {
			op.Reason = transactionpb.Reason_REPLACES
			op.Effects = &transactionpb.Effects{Changed: op.GetEffects().GetCreated()}
		}
	}
}

// incomplete reports a run that is no valid graph yet.
func (r *reporter) incomplete(step *transactionpb.Step, before *catalog.State, domain string, fault *Fault) {
	step.Level = decide.Dynamic.String()
	r.step(step, before, before, domain, false)
	for _, d := range fault.Found {
		r.findings = append(r.findings, &transactionpb.Finding{Code: string(d.Code), Message: d.Message, Operation: uint32(fault.Operation + 1)})
	}
}

// finish joins what was reported.
func (r *reporter) finish(p *Plan) {
	p.Report.Operations, p.Report.Steps, p.Report.Topologies = r.operations, r.steps, r.topologies
	p.Report.Findings, p.Report.Complete = r.findings, p.Incomplete == nil
	p.Report.Level = p.Level()
	for _, s := range r.steps {
		p.Report.Effects = Union(p.Report.Effects, s.GetEffects())
	}
}

func pause(step *transactionpb.Step) *transactionpb.Pause {
	p := &transactionpb.Pause{}
	switch step.GetLevel() {
	case decide.EntityPause.String():
		p.Kind = transactionpb.Pause_SUBGRAPH
		p.Entities, p.Gates = step.GetBoundary().GetDrain(), step.GetBoundary().GetGates()
	case decide.DomainPause.String():
		p.Kind = transactionpb.Pause_DOMAIN
	}
	return p
}

// effects compares two states of a domain.
func effects(step *transactionpb.Step, before, after *catalog.State, domain string) *transactionpb.Effects {
	e := &transactionpb.Effects{Moved: step.GetMoves()}
	was, is := running(before, domain), running(after, domain)
	var held, changed []catalog.Key
	for m := range before.Models(domain) {
		if _, kept := after.Model(domain, m.Key); !kept {
			e.Dropped = append(e.Dropped, keyRecord(m.Key))
			if was && decide.Executes(m.Kind) {
				e.Deactivated = append(e.Deactivated, keyRecord(m.Key))
			}
		}
	}
	for m := range after.Models(domain) {
		old, existed := before.Model(domain, m.Key)
		replaced := existed && old != m && !model.Equal(old.Definition, m.Definition)
		switch {
		case !existed:
			e.Created = append(e.Created, keyRecord(m.Key))
		case replaced:
			e.Changed = append(e.Changed, keyRecord(m.Key))
			changed = append(changed, m.Key)
		}
		if decide.Executes(m.Kind) {
			switch {
			case is && (!was || !existed):
				e.Activated = append(e.Activated, keyRecord(m.Key))
			case was && !is:
				e.Deactivated = append(e.Deactivated, keyRecord(m.Key))
			}
			if existed {
				held = append(held, m.Key)
			}
		}
		if m.Kind == vocab.EntityVHost || m.Kind == vocab.EntityEndpoint {
			if !existed || replaced {
				e.Refreshed = append(e.Refreshed, keyRecord(m.Key))
			}
		}
	}
	for _, k := range e.Dropped {
		if kind := KeyOf(k).Kind; kind == vocab.EntityVHost || kind == vocab.EntityEndpoint {
			e.Refreshed = append(e.Refreshed, k)
		}
	}
	if was && is {
		e.Rebuilt, e.Flushed = rebuilt(step, held, changed), flushed(step, held)
	}
	e.Resets = resets(step, after, domain)
	return normalized(e)
}

func running(s *catalog.State, domain string) bool {
	d, ok := s.Domain(domain)
	return ok && d.Running
}

// rebuilt lists the operators that are built anew in a domain that goes on
// running.
func rebuilt(step *transactionpb.Step, held, changed []catalog.Key) (list []*catalogpb.Key) {
	if step.GetLevel() == decide.DomainPause.String() {
		return keyRecords(held)
	}
	for _, k := range changed {
		if decide.Executes(k.Kind) {
			list = append(list, keyRecord(k))
		}
	}
	return list
}

// flushed lists the operators that a hold makes flush: any hold flushes the whole
// domain.
func flushed(step *transactionpb.Step, held []catalog.Key) (list []*catalogpb.Key) {
	if !step.GetDrains() && step.GetLevel() == decide.Dynamic.String() {
		return nil
	}
	for _, k := range held {
		if k.Kind != vocab.EntityRelay {
			list = append(list, keyRecord(k))
		}
	}
	return list
}

// resets lists the sources whose kept positions a fresh start forgets.
func resets(step *transactionpb.Step, after *catalog.State, domain string) (list []*catalogpb.Key) {
	fresh := slices.ContainsFunc(step.GetChanges(), func(c *catalogpb.Step) bool { return c.GetSetRunning().GetFresh() })
	if !fresh {
		return nil
	}
	for m := range after.Models(domain) {
		if in, ok := m.Definition.(*model.Ingestor); ok && in.Source.Entity.Capabilities().Position == vocab.HostState {
			list = append(list, keyRecord(m.Key))
		}
	}
	return list
}

// Union joins two sets of effects.
func Union(a, b *transactionpb.Effects) *transactionpb.Effects {
	u := proto.Clone(a).(*transactionpb.Effects)
	proto.Merge(u, b)
	return normalized(u)
}

// normalized sorts the sets by kind and name, each member once.
func normalized(e *transactionpb.Effects) *transactionpb.Effects {
	for _, set := range []*[]*catalogpb.Key{
		&e.Created, &e.Changed, &e.Dropped, &e.Rebound, &e.Activated, &e.Deactivated, &e.Rebuilt, &e.Resets, &e.Flushed, &e.Refreshed,
	} {
		slices.SortFunc(*set, func(a, b *catalogpb.Key) int { return KeyOf(a).Compare(KeyOf(b)) })
		*set = slices.CompactFunc(*set, func(a, b *catalogpb.Key) bool { return proto.Equal(a, b) })
		if len(*set) == 0 {
			*set = nil
		}
	}
	slices.SortStableFunc(e.Moved, func(a, b *transactionpb.Move) int { return KeyOf(a.GetKey()).Compare(KeyOf(b.GetKey())) })
	if len(e.Moved) == 0 {
		e.Moved = nil
	}
	return e
}
