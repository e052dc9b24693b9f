package catalog

import (
	"crypto/sha256"
	"fmt"
	"iter"

	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
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

// records yields every record of the state in canonical order.
func (s *State) records() iter.Seq[*catalogpb.Record] {
	return func(yield func(*catalogpb.Record) bool) {
		meta := &catalogpb.MetaRecord{
			Cluster: s.Cluster[:], NextRaftId: s.NextRaftID, Format: Format,
			Fence: s.Fence, HighWater: s.HighWater, Applied: s.Applied,
		}
		_ = yield(&catalogpb.Record{Family: &catalogpb.Record_Meta{Meta: meta}}) &&
			yield(&catalogpb.Record{Family: &catalogpb.Record_Limits{Limits: &catalogpb.LimitsRecord{Limits: s.Limits.record()}}}) &&
			each(s.users, yield, func(_ string, u *User) *catalogpb.Record {
				record := &catalogpb.UserRecord{Name: u.Name, PasswordHash: u.PasswordHash, Revision: u.Revision}
				return &catalogpb.Record{Family: &catalogpb.Record_User{User: record}}
			}) &&
			each(s.domains, yield, func(_ string, d *Domain) *catalogpb.Record {
				return &catalogpb.Record{Family: &catalogpb.Record_Domain{Domain: d.record()}}
			}) &&
			each(s.models, yield, func(_ string, m *Model) *catalogpb.Record {
				record := &catalogpb.ModelRecord{Domain: m.Domain, Kind: m.Kind.String(), Name: m.Name, Text: m.Text, Revision: m.Revision}
				return &catalogpb.Record{Family: &catalogpb.Record_Model{Model: record}}
			}) &&
			s.resourceRecords(yield) &&
			each(s.executions, yield, func(_ string, x *Execution) *catalogpb.Record {
				return &catalogpb.Record{Family: &catalogpb.Record_Execution{Execution: x.record()}}
			}) &&
			s.clusterRecords(yield) && s.transactionRecords(yield)
	}
}

func (s *State) clusterRecords(yield func(*catalogpb.Record) bool) bool {
	return each(s.nodes, yield, func(_ string, n *Node) *catalogpb.Record {
		return &catalogpb.Record{Family: &catalogpb.Record_Node{Node: n.record()}}
	}) && each(s.removed, yield, func(_ string, raftID uint64) *catalogpb.Record {
		return &catalogpb.Record{Family: &catalogpb.Record_RemovedNode{RemovedNode: &catalogpb.RemovedNodeRecord{RaftId: raftID}}}
	}) && each(s.schedules, yield, func(_ string, x *Schedule) *catalogpb.Record {
		return &catalogpb.Record{Family: &catalogpb.Record_Schedule{Schedule: x.record()}}
	}) && each(s.handoffs, yield, func(key string, id primitives.UUID) *catalogpb.Record {
		record := &catalogpb.HandoffRecord{Domain: key[:len(key)-len(id)-1], Transition: id[:]}
		return &catalogpb.Record{Family: &catalogpb.Record_Handoff{Handoff: record}}
	})
}

func (s *State) transactionRecords(yield func(*catalogpb.Record) bool) bool {
	return each(s.transactions, yield, func(_ string, x *Transaction) *catalogpb.Record {
		return &catalogpb.Record{Family: &catalogpb.Record_Transaction{Transaction: x.record()}}
	}) && each(s.operations, yield, func(key string, o *Operation) *catalogpb.Record {
		id, _ := cutPartKey(key)
		record := &catalogpb.OperationRecord{Id: id[:], Position: o.Position, Text: o.Text}
		return &catalogpb.Record{Family: &catalogpb.Record_Operation{Operation: record}}
	}) && each(s.parts, yield, func(key string, content []byte) *catalogpb.Record {
		id, part := cutPartKey(key)
		record := &catalogpb.PartRecord{Id: id[:], Part: part, Content: content}
		return &catalogpb.Record{Family: &catalogpb.Record_Part{Part: record}}
	})
}

// each yields the records of one family, and reports whether the next may follow.
func each[V any](family tree[V], yield func(*catalogpb.Record) bool, record func(string, V) *catalogpb.Record) bool {
	for key, v := range family.all() {
		if !yield(record(key, v)) {
			return false
		}
	}
	return true
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
	case *catalogpb.Record_Resource:
		l.addResource(family.Resource)
	case *catalogpb.Record_Execution:
		return l.addExecution(family.Execution)
	case *catalogpb.Record_Limits:
		s.Limits = newLimits(family.Limits.GetLimits())
	case *catalogpb.Record_Handoff:
		id := uuid(family.Handoff.GetTransition())
		s.handoffs = s.handoffs.set(handoffKey(family.Handoff.GetDomain(), id), id)
	case *catalogpb.Record_Transaction:
		return l.addTransaction(family.Transaction)
	case *catalogpb.Record_Operation:
		o := family.Operation
		s.operations = s.operations.set(partKey(uuid(o.GetId()), o.GetPosition()), &Operation{Position: o.GetPosition(), Text: o.GetText()})
	case *catalogpb.Record_Part:
		p := family.Part
		s.parts = s.parts.set(partKey(uuid(p.GetId()), p.GetPart()), p.GetContent())
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
