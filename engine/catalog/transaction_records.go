package catalog

import (
	"plexus/engine/catalog/catalogpb"
)

func newCaptured(m *catalogpb.Captured) Captured {
	return Captured{Definition: m.GetDefinition(), Schedule: m.GetSchedule(), Generation: m.GetGeneration(), Running: m.GetRunning()}
}

// Record returns the captured values as commands and records hold them.
func (c Captured) Record() *catalogpb.Captured {
	return &catalogpb.Captured{Definition: c.Definition, Schedule: c.Schedule, Generation: c.Generation, Running: c.Running}
}

func newEngagement(m *catalogpb.Engagement) Engagement {
	return Engagement{Kind: EngagementKind(m.GetKind()), Level: m.GetLevel(), Detail: m.GetDetail()}
}

// Record returns the engagement as commands and records hold it.
func (e Engagement) Record() *catalogpb.Engagement {
	return &catalogpb.Engagement{Kind: catalogpb.Engagement_Kind(e.Kind), Level: e.Level, Detail: e.Detail}
}

func (x *Transaction) record() *catalogpb.TransactionRecord {
	r := &catalogpb.TransactionRecord{
		Id: x.ID[:], Owner: x.Owner, Domain: x.Domain, State: catalogpb.TransactionState(x.State),
		Begun: x.Begun, Deadline: x.Deadline, Ended: x.Ended, Operations: x.Operations, Source: x.Source,
		Parts: x.Parts, Lease: x.Lease,
	}
	if x.State != Open && x.Parts > 0 {
		r.Reference, r.Captured = x.Reference[:], x.Captured.Record()
	}
	for _, s := range x.Steps {
		step := &catalogpb.StepProgress{Phase: catalogpb.StepPhase(s.Phase), Effect: s.Effect, Level: s.Level, Moved: s.Moved}
		for _, e := range s.Engagements {
			step.Engagements = append(step.Engagements, e.Record())
		}
		r.Steps = append(r.Steps, step)
	}
	if x.Failure != nil {
		r.Failure = x.Failure.Record()
	}
	return r
}

func (l *Loader) addTransaction(r *catalogpb.TransactionRecord) error {
	x := &Transaction{
		ID: uuid(r.GetId()), Owner: r.GetOwner(), Domain: r.GetDomain(), State: TransactionState(r.GetState()),
		Begun: r.GetBegun(), Deadline: r.GetDeadline(), Ended: r.GetEnded(), Operations: r.GetOperations(), Source: r.GetSource(),
		Reference: uuid(r.GetReference()), Parts: r.GetParts(), Lease: r.GetLease(), Captured: newCaptured(r.GetCaptured()),
	}
	if int(x.State) >= len(transactionStateNames) {
		return recordError("transaction %s of state %d", x.ID, r.GetState())
	}
	for _, m := range r.GetSteps() {
		step := StepProgress{Phase: StepPhase(m.GetPhase()), Effect: m.GetEffect(), Level: m.GetLevel(), Moved: m.GetMoved()}
		if int(step.Phase) >= len(stepPhaseNames) {
			return recordError("transaction %s with a step of phase %d", x.ID, m.GetPhase())
		}
		for _, e := range m.GetEngagements() {
			engagement := newEngagement(e)
			if int(engagement.Kind) >= len(engagementNames) {
				return recordError("transaction %s with engagement %d", x.ID, e.GetKind())
			}
			step.Engagements = append(step.Engagements, engagement)
		}
		x.Steps = append(x.Steps, step)
	}
	if f := r.GetFailure(); f != nil {
		x.Failure = newRefusal(f)
	}
	l.state.setTransaction(x)
	return nil
}
