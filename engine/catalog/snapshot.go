package catalog

import (
	"crypto/sha256"
	"fmt"
	"iter"

	"plexus/engine/catalog/catalogpb"
	"plexus/nspl/vocab"
)

// Sections yields the records of the state in canonical order as runs of at most
// sizeMax bytes, except that a larger record is a run of its own. Together they
// are the state: equal states give equal bytes.
func (s *State) Sections(sizeMax int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var section []byte
		for record := range s.records() {
			before := len(section)
			grown, err := appendRecord(section, record)
			if err != nil {
				yield(nil, err)
				return
			}
			section = grown
			if before > 0 && len(section) > sizeMax {
				if !yield(section[:before:before], nil) {
					return
				}
				section = append([]byte(nil), section[before:]...)
			}
		}
		yield(section, nil)
	}
}

// Digest is the SHA-256 of the encoded state. It is defined by content, so any
// cut into sections has the same one.
func (s *State) Digest() ([sha256.Size]byte, error) {
	h := sha256.New()
	for section, err := range s.Sections(digestRunBytes) {
		if err != nil {
			return [sha256.Size]byte{}, err
		}
		h.Write(section)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// digestRunBytes is how much of the encoding a digest holds at once.
const digestRunBytes = 64 << 10

func (s *State) records() iter.Seq[*catalogpb.Record] {
	return func(yield func(*catalogpb.Record) bool) {
		meta := &catalogpb.MetaRecord{
			Cluster: s.Cluster[:], NextRaftId: s.NextRaftID, Format: Format,
			Fence: s.Fence, HighWater: s.HighWater, Applied: s.Applied,
		}
		if !yield(&catalogpb.Record{Family: &catalogpb.Record_Meta{Meta: meta}}) {
			return
		}
		for _, u := range s.users.all() {
			record := &catalogpb.UserRecord{Name: u.Name, PasswordHash: u.PasswordHash, Revision: u.Revision}
			if !yield(&catalogpb.Record{Family: &catalogpb.Record_User{User: record}}) {
				return
			}
		}
		for _, d := range s.domains.all() {
			record := &catalogpb.DomainRecord{
				Name: d.Name, Running: d.Running,
				Generation: d.Generation, Definition: d.Definition, Runtime: d.Runtime, Positions: d.Positions,
			}
			if d.Placement != vocab.PlacementNeutral {
				record.Placement = d.Placement.String()
			}
			if d.Lease != nil {
				record.Lease = &catalogpb.Lease{Owner: d.Lease.Owner, Index: d.Lease.Index}
			}
			if !yield(&catalogpb.Record{Family: &catalogpb.Record_Domain{Domain: record}}) {
				return
			}
		}
		for _, m := range s.models.all() {
			record := &catalogpb.ModelRecord{
				Domain: m.Domain, Kind: m.Kind.String(), Name: m.Name, Text: m.Text, Revision: m.Revision,
			}
			if !yield(&catalogpb.Record{Family: &catalogpb.Record_Model{Model: record}}) {
				return
			}
		}
		for _, x := range s.executions.all() {
			if !yield(&catalogpb.Record{Family: &catalogpb.Record_Execution{Execution: x.record()}}) {
				return
			}
		}
		for _, n := range s.nodes.all() {
			if !yield(&catalogpb.Record{Family: &catalogpb.Record_Node{Node: n.record()}}) {
				return
			}
		}
		for _, raftID := range s.removed.all() {
			record := &catalogpb.RemovedNodeRecord{RaftId: raftID}
			if !yield(&catalogpb.Record{Family: &catalogpb.Record_RemovedNode{RemovedNode: record}}) {
				return
			}
		}
		for _, x := range s.schedules.all() {
			if !yield(&catalogpb.Record{Family: &catalogpb.Record_Schedule{Schedule: x.record()}}) {
				return
			}
		}
	}
}

func (x *Execution) record() *catalogpb.ExecutionRecord {
	record := &catalogpb.ExecutionRecord{
		Reference: x.Reference[:], Owner: x.Owner, Domain: x.Domain, Digest: []byte(x.Digest),
		Reply: x.Reply, Finished: x.Finished,
	}
	if x.Refusal != nil {
		record.Refusal = &catalogpb.Refusal{
			Code: string(x.Refusal.Code), Message: x.Refusal.Message, Step: uint32(x.Refusal.Step), Stale: x.Refusal.Stale,
		}
	}
	return record
}

// Loader rebuilds a state from its sections in order.
type Loader struct {
	state State
	meta  bool
}

// Add takes the next section.
func (l *Loader) Add(section []byte) error {
	for len(section) > 0 {
		record, rest, err := cutRecord(section)
		if err != nil {
			return err
		}
		if err := l.add(record); err != nil {
			return err
		}
		section = rest
	}
	return nil
}

// State returns the loaded state.
func (l *Loader) State() (*State, error) {
	if !l.meta {
		return nil, fmt.Errorf("%w: no meta record", ErrFormat)
	}
	return &l.state, nil
}

func (l *Loader) add(record *catalogpb.Record) error {
	s := &l.state
	switch family := record.GetFamily().(type) {
	case *catalogpb.Record_Meta:
		m := family.Meta
		if m.GetFormat() != Format {
			return fmt.Errorf("%w: format %d, this build reads %d", ErrFormat, m.GetFormat(), Format)
		}
		s.Cluster, s.NextRaftID, s.Applied = uuid(m.GetCluster()), m.GetNextRaftId(), m.GetApplied()
		s.Fence, s.HighWater = m.GetFence(), m.GetHighWater()
		l.meta = true
	case *catalogpb.Record_User:
		u := family.User
		s.users = s.users.set(u.GetName(), &User{Name: u.GetName(), PasswordHash: u.GetPasswordHash(), Revision: u.GetRevision()})
	case *catalogpb.Record_Domain:
		return l.addDomain(family.Domain)
	case *catalogpb.Record_Model:
		return l.addModel(family.Model)
	case *catalogpb.Record_Execution:
		l.addExecution(family.Execution)
	case *catalogpb.Record_Node:
		n := newNode(family.Node)
		s.nodes = s.nodes.set(n.ID, n)
	case *catalogpb.Record_RemovedNode:
		id := family.RemovedNode.GetRaftId()
		s.removed = s.removed.set(raftKey(id), id)
	case *catalogpb.Record_Schedule:
		return l.addSchedule(family.Schedule)
	default:
		return fmt.Errorf("%w: record of no family", ErrFormat)
	}
	return nil
}

func (l *Loader) addDomain(record *catalogpb.DomainRecord) error {
	placement, ok := placementPolicy(record.GetPlacement())
	if !ok {
		return fmt.Errorf("%w: placement policy %q", ErrFormat, record.GetPlacement())
	}
	d := &Domain{
		Name: record.GetName(), Running: record.GetRunning(), Generation: record.GetGeneration(), Definition: record.GetDefinition(),
		Runtime: record.GetRuntime(), Positions: record.GetPositions(), Placement: placement,
	}
	if held := record.GetLease(); held != nil {
		d.Lease = &Lease{Owner: held.GetOwner(), Index: held.GetIndex()}
	}
	l.state.domains = l.state.domains.set(d.Name, d)
	return nil
}

func (l *Loader) addSchedule(record *catalogpb.ScheduleRecord) error {
	s, refused := newSchedule(record.GetDomain(), record.GetIndex(), record.GetAssignments(), record.GetGroups())
	if refused != nil {
		return fmt.Errorf("%w: schedule: %w", ErrFormat, refused)
	}
	l.state.schedules = l.state.schedules.set(s.Domain, s)
	return nil
}

func (l *Loader) addModel(record *catalogpb.ModelRecord) error {
	kind, ok := entityKind(record.GetKind())
	if !ok {
		return fmt.Errorf("%w: model kind %q", ErrFormat, record.GetKind())
	}
	m, err := newModel(record.GetDomain(), Key{Kind: kind, Name: record.GetName()}, record.GetText(), record.GetRevision())
	if err != nil {
		return err
	}
	l.state.models = l.state.models.set(modelKey(m.Domain, m.Key), m)
	return nil
}

func (l *Loader) addExecution(record *catalogpb.ExecutionRecord) {
	x := &Execution{
		Reference: uuid(record.GetReference()), Owner: record.GetOwner(), Domain: record.GetDomain(),
		Digest: string(record.GetDigest()), Reply: record.GetReply(), Finished: record.GetFinished(),
	}
	if r := record.GetRefusal(); r != nil {
		x.Refusal = &Refusal{Code: Code(r.GetCode()), Message: r.GetMessage(), Step: int(r.GetStep()), Stale: r.GetStale()}
	}
	l.state.executions = l.state.executions.set(string(record.GetReference()), x)
}
