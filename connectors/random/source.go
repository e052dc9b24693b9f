package random

import (
	"context"
	"errors"
	"math"

	"plexus/connectors/contract"
	"plexus/nspl/vocab"
)

// The version and the members of the persisted state.
const (
	stateVersion = 1
	keySequence  = "sequence"
	keyWord      = "word"
)

var (
	errNothingStaged = errors.New("no batch is staged")
	errExhausted     = errors.New("the sequence is exhausted")
)

// Register adds the entity to a node's connectors.
func Register(into contract.Connectors) { into.Sources[vocab.SourceRandomSequence] = Open }

// Open opens the source. Every plan is valid.
func Open(_ context.Context, plan contract.SourcePlan, _ int, _ contract.Env) (contract.Source, error) {
	return &source{
		rows:      int(plan.Cursor.MaxRows),
		committed: cursor{generator: generator{plan.Seed}},
	}, nil
}

// cursor is where the sequence stands.
type cursor struct {
	sequence  uint64 // of the next row
	generator generator
}

type source struct {
	rows      int
	committed cursor
	staged    *cursor // after the batch in flight; nil when there is none
	resumed   bool

	// Buffers lent with a batch, reused by the next.
	payload  []byte
	ids      []byte
	ends     []int
	messages []contract.Message
}

func (s *source) Restore(_ context.Context, state contract.State, found bool) error {
	if !found {
		return nil
	}
	fields, err := state.RestoreFields(vocab.SourceRandomSequence.String(), stateVersion, keySequence, keyWord)
	if err != nil {
		return &contract.StateUnusableError{Entity: vocab.SourceRandomSequence, Err: err}
	}
	sequence, hasSequence := fields.Uint(keySequence)
	word, hasWord := fields.Uint(keyWord)
	if !hasSequence || !hasWord {
		return &contract.StateUnusableError{Entity: vocab.SourceRandomSequence, Err: contract.ErrStateMalformed}
	}
	s.committed = cursor{sequence, generator{word}}
	return nil
}

func (s *source) NeedsResume() bool { return !s.resumed }

func (s *source) Resume(context.Context) (contract.Resumed, error) {
	s.resumed = true
	return contract.Resumed{}, nil
}

func (s *source) Suspend(context.Context) error {
	s.resumed = false
	return nil
}

// NextBatch generates rows from a copy of the cursor (R1).
func (s *source) NextBatch(_ context.Context, req contract.BatchRequest) (contract.Batch, error) {
	rows := min(s.rows, req.Max)
	next := s.committed
	if next.sequence > math.MaxUint64-uint64(rows) {
		return contract.Batch{}, s.fail(contract.SourceRead, errExhausted)
	}
	s.payload, s.ids, s.ends = s.payload[:0], s.ids[:0], s.ends[:0]
	for range rows {
		s.payload, s.ids = next.generator.appendRow(s.payload, s.ids, next.sequence)
		s.ends = append(s.ends, len(s.payload))
		next.sequence++
	}
	state, err := encodeState(next)
	if err != nil {
		return contract.Batch{}, s.fail(contract.SourceRead, err)
	}
	s.fillMessages()
	s.staged = &next
	return contract.Batch{Messages: s.messages, State: state}, nil
}

func (s *source) fillMessages() {
	ids := string(s.ids)
	s.messages = s.messages[:0]
	start := 0
	for i, end := range s.ends {
		s.messages = append(s.messages, contract.Message{
			Payload:  s.payload[start:end:end],
			Position: contract.Position{Offset: s.committed.sequence + uint64(i)},
			Metadata: contract.Metadata{Scope: vocab.ScopeCursor, RecordID: ids[i*idDigits : (i+1)*idDigits]},
		})
		start = end
	}
}

func encodeState(c cursor) (*contract.State, error) {
	encoded, err := contract.StateFields{
		{Key: keySequence, Uint: c.sequence},
		{Key: keyWord, Uint: c.generator.word},
	}.Encode()
	if err != nil {
		return nil, err
	}
	return &contract.State{Connector: vocab.SourceRandomSequence.String(), Version: stateVersion, Bytes: encoded}, nil
}

// Acknowledge commits the staged cursor. The host has persisted it by now.
func (s *source) Acknowledge(context.Context, []contract.Position) error {
	if s.staged == nil {
		return s.fail(contract.SourceAcknowledge, errNothingStaged)
	}
	s.committed, s.staged = *s.staged, nil
	return nil
}

// Reject forgets the staged cursor; the next batch generates the same rows (R2).
func (s *source) Reject(context.Context, []contract.Position, contract.Refusal) error {
	if s.staged == nil {
		return s.fail(contract.SourceReject, errNothingStaged)
	}
	s.staged = nil
	return nil
}

func (s *source) Close(context.Context) error { return nil }

func (s *source) fail(op contract.SourceOperation, err error) error {
	return &contract.SourceError{Entity: vocab.SourceRandomSequence, Operation: op, Err: err}
}

var _ contract.StatefulSource = (*source)(nil)
