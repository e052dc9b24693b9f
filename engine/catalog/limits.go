package catalog

import (
	"time"

	"plexus/engine/catalog/catalogpb"
)

// Format numbers commands, records and everything persisted from them. Nodes of
// one cluster run one format.
const Format = 1

// CommandBytesMax bounds one encoded command: it has to fit a raft message with
// room for its neighbours.
const CommandBytesMax = 3 << 19

// Limits bound what clients make the state hold. They are replicated, so that
// every leader admits the same.
type Limits struct {
	// History bounds the references and ended transactions that are kept.
	History uint32
	// TransactionIdle is how long an open transaction lasts without its client.
	TransactionIdle time.Duration
	// TransactionStatements and TransactionSource bound one transaction.
	TransactionStatements uint32
	TransactionSource     uint64 // bytes
	// TransactionOpen bounds the open transactions.
	TransactionOpen uint32
}

// DefaultLimits are the specification's.
var DefaultLimits = Limits{
	History: 65_536, TransactionIdle: 15 * time.Minute, TransactionStatements: 256, TransactionSource: 1 << 20, TransactionOpen: 1024,
}

// Step returns the step that puts the limits in force.
func (l Limits) Step() *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_SetLimits{SetLimits: &catalogpb.SetLimits{Limits: l.record()}}}
}

func (t *transition) setLimits(c *catalogpb.SetLimits) *Refusal {
	l := newLimits(c.GetLimits())
	if l.History == 0 || l.TransactionIdle <= 0 || l.TransactionStatements == 0 || l.TransactionSource == 0 || l.TransactionOpen == 0 {
		return refuse(Invalid, "a limit of zero")
	}
	t.state.Limits = l
	return nil
}

func (l Limits) record() *catalogpb.Limits {
	return &catalogpb.Limits{
		History: l.History, TransactionIdle: int64(l.TransactionIdle),
		TransactionStatements: l.TransactionStatements, TransactionSource: l.TransactionSource, TransactionOpen: l.TransactionOpen,
	}
}

func newLimits(m *catalogpb.Limits) Limits {
	return Limits{
		History: m.GetHistory(), TransactionIdle: time.Duration(m.GetTransactionIdle()),
		TransactionStatements: m.GetTransactionStatements(), TransactionSource: m.GetTransactionSource(), TransactionOpen: m.GetTransactionOpen(),
	}
}
