package transaction

import (
	"fmt"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/engine/strict"
	"plexus/engine/transaction/transactionpb"
	"plexus/nspl/vocab"
)

// Encode returns the plan as COMMIT stores it.
func (p *Plan) Encode() ([]byte, error) {
	return strict.Encode(&transactionpb.Plan{Steps: p.Steps, Outcomes: p.Outcomes, Report: p.Report})
}

// Decode reads a stored plan.
func Decode(b []byte) (*Plan, error) {
	m := new(transactionpb.Plan)
	if err := strict.Decode(b, m); err != nil {
		return nil, fmt.Errorf("stored plan: %w", err)
	}
	return &Plan{Steps: m.GetSteps(), Outcomes: m.GetOutcomes(), Report: m.GetReport()}, nil
}

func keyRecord(k catalog.Key) *catalogpb.Key {
	return &catalogpb.Key{Kind: k.Kind.String(), Name: k.Name}
}

func keyRecords(list []catalog.Key) (records []*catalogpb.Key) {
	for _, k := range list {
		records = append(records, keyRecord(k))
	}
	return records
}

// KeyOf reads a stored key. A kind that this build does not know is none.
func KeyOf(k *catalogpb.Key) catalog.Key {
	for kind := vocab.EntityResource; kind.Valid(); kind++ {
		if kind.String() == k.GetKind() {
			return catalog.Key{Kind: kind, Name: k.GetName()}
		}
	}
	return catalog.Key{Name: k.GetName()}
}

func keysOf(list []*catalogpb.Key) (keys []catalog.Key) {
	for _, k := range list {
		keys = append(keys, KeyOf(k))
	}
	return keys
}

func moveRecord(m *decide.Move) *transactionpb.Move {
	return &transactionpb.Move{Key: keyRecord(m.Key), From: m.From, To: m.To, Replicas: m.Replicas, Lost: m.Lost, Promoted: m.Promoted}
}

// MovesOf returns the changes of owner of a step.
func MovesOf(step *transactionpb.Step) (moves []decide.Move) {
	for _, m := range step.GetMoves() {
		moves = append(moves, decide.Move{
			Key: KeyOf(m.GetKey()), From: m.GetFrom(), To: m.GetTo(), Replicas: m.GetReplicas(), Lost: m.GetLost(), Promoted: m.GetPromoted(),
		})
	}
	return moves
}

func boundaryRecord(b decide.Boundary) *transactionpb.Boundary {
	return &transactionpb.Boundary{Gates: b.Gates, Sources: keyRecords(b.Sources), Drain: keyRecords(b.Drain)}
}

// BoundaryOf returns what a hold of the moves of a step covers.
func BoundaryOf(step *transactionpb.Step) decide.Boundary {
	b := step.GetBoundary()
	return decide.Boundary{Gates: b.GetGates(), Sources: keysOf(b.GetSources()), Drain: keysOf(b.GetDrain())}
}
