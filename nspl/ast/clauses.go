package ast

import "plexus/nspl/vocab"

// ResourceVersion is VERSION n, or VERSION LATEST: the highest completed version
// when the statement is applied.
type ResourceVersion struct {
	Latest bool
	Number Uint
	Span   vocab.Span
}

// Binding is a resource with the version that an entity uses of it.
type Binding struct {
	Resource Name
	Version  ResourceVersion
}

// Attachment is ATTACHED or DETACHED.
type Attachment uint8

// What was written; nothing means ATTACHED.
const (
	AttachmentOmitted Attachment = iota
	Attached
	Detached
)

// BranchUse is BRANCHED BY name, or UNBRANCHED where By is nil.
type BranchUse struct {
	By   *Name
	Span vocab.Span
}

// BranchMake is a branch use that can build the key.
type BranchMake struct {
	BranchUse
	Set []Assign
}

// Assign is target = value. Scope is ScopeBare, ScopeOutput or ScopeBranch.
type Assign struct {
	Scope  Scope
	Target Name
	Value  Expr
	Span   vocab.Span
}

// Inherit is INHERIT ALL, ALL EXCEPT or a list of fields.
type Inherit struct {
	All    bool
	Except []Name
	Fields []InheritField
	Span   vocab.Span
}

// InheritField is one field of an explicit list.
type InheritField struct {
	Name Name
	Leak bool // LEAK SENSITIVE
}

// Construction is inherit, SET and WHERE of a route. Each part may be absent.
type Construction struct {
	Inherit *Inherit
	Set     []Assign
	Where   Expr
}

// Input is one relay of FROM with its predicate, which may be nil.
type Input struct {
	Relay Name
	Where Expr
}

// Collect is COLLECT FOR duration, with an optional MAX BATCH SIZE.
type Collect struct {
	For          Duration
	MaxBatchSize *Size
	Span         vocab.Span
}

// Inputs is FROM with its COLLECT, which may be nil.
type Inputs struct {
	From    []Input
	Collect *Collect
}

// Flush is FLUSH IMMEDIATE, or FLUSH EACH … MAX BATCH SIZE …. Routes without a
// flush of their own have the zero value.
type Flush struct {
	Immediate bool
	Each      Duration
	MaxBatch  Size
	Span      vocab.Span
}

// Absent reports whether the route has no flush of its own.
func (f Flush) Absent() bool { return !f.Immediate && f.Each.Text == "" }

// Vocab returns the clause without its spelling.
func (f Flush) Vocab() vocab.Flush {
	return vocab.Flush{Immediate: f.Immediate, Each: f.Each.Value(), MaxBatch: f.MaxBatch.Size}
}

// ErrorAction is what ON MESSAGE ERROR does.
type ErrorAction uint8

// The actions.
const (
	ErrorIgnore ErrorAction = iota
	ErrorLog
	ErrorSendTo
)

// MessageError is ON MESSAGE ERROR. To and Set belong to ErrorSendTo.
type MessageError struct {
	Action ErrorAction
	To     Name
	Set    []Assign
	Span   vocab.Span
}

// GeneralError is ON GENERAL ERROR.
type GeneralError uint8

// The two policies.
const (
	GeneralIgnore GeneralError = iota
	GeneralLog
)

// Route is TO relay with everything up to its error policy. Branch is present in
// the routes that can build a branch key, as those of ingestors.
type Route struct {
	To           Name
	Construction Construction
	Branch       *BranchMake
	Flush        Flush
	OnError      MessageError
	Span         vocab.Span
}

// Retry is RETRY POLICY.
type Retry struct {
	Backoff, Max Duration
	Span         vocab.Span
}

// Vocab returns the clause without its spelling.
func (r Retry) Vocab() vocab.Retry {
	return vocab.Retry{Backoff: r.Backoff.Value(), Max: r.Max.Value()}
}

// Window is SEQUENTIAL, or PARALLEL MAX where Max is set.
type Window struct{ Max *Uint }

// Vocab returns the clause without its place.
func (w Window) Vocab() vocab.Window {
	if w.Max == nil {
		return vocab.Window{Max: 1}
	}
	return vocab.Window{Parallel: true, Max: w.Max.Value}
}

// SourceMode is what follows MODE in a source. The durations belong to the modes
// that vocab.SourceMode names.
type SourceMode struct {
	Kind         vocab.SourceModeKind
	Max          Uint
	BatchTimeout Duration
	AckTimeout   Duration
	Retry        Retry
	Span         vocab.Span
}

// Vocab returns the clause without its spelling.
func (m SourceMode) Vocab() vocab.SourceMode {
	return vocab.SourceMode{
		Acknowledged: m.Kind == vocab.AckSequential || m.Kind == vocab.AckParallel,
		Parallel:     m.Kind == vocab.NoAckParallel || m.Kind == vocab.AckParallel,
		Max:          m.Max.Value,
		BatchTimeout: m.BatchTimeout.Value(),
		AckTimeout:   m.AckTimeout.Value(),
		Retry:        m.Retry.Vocab(),
	}
}

// SinkMode is what follows MODE in a sink.
type SinkMode struct {
	Kind       vocab.SinkModeKind
	Window     Window
	AckTimeout Duration
	Retry      Retry
	Span       vocab.Span
}

// Vocab returns the clause without its spelling.
func (m SinkMode) Vocab() vocab.SinkMode {
	v := vocab.SinkMode{Kind: m.Kind, AckTimeout: m.AckTimeout.Value(), Retry: m.Retry.Vocab()}
	if m.Kind.Windowed() {
		v.Window = m.Window.Vocab()
	}
	return v
}

// Quiesce is what follows ON QUIESCE.
type Quiesce struct {
	Body       vocab.QuiesceBody
	MaxSize    Size
	DropOldest bool
	RetryAfter Duration
	Span       vocab.Span
}

// Vocab returns the clause without its spelling.
func (q Quiesce) Vocab() vocab.Quiesce {
	return vocab.Quiesce{Body: q.Body, MaxSize: q.MaxSize.Size, DropOldest: q.DropOldest, RetryAfter: q.RetryAfter.Value()}
}

// Cursor is MAX ROWS and EVERY of a cursor source; its MODE stands beside it.
type Cursor struct {
	MaxRows Uint
	Every   Duration
}

// Vocab returns the clause without its spelling.
func (c Cursor) Vocab() vocab.Cursor {
	return vocab.Cursor{MaxRows: c.MaxRows.Value, Every: c.Every.Value()}
}

// Batch is BATCH MAX MESSAGES … MAX SIZE ….
type Batch struct {
	MaxMessages Uint
	MaxSize     Size
	Span        vocab.Span
}

// Vocab returns the clause without its spelling.
func (b Batch) Vocab() vocab.Batch {
	return vocab.Batch{MaxMessages: b.MaxMessages.Value, MaxSize: b.MaxSize.Size}
}

// ExternalName is a name of the outside world with the words before it.
type ExternalName struct {
	Role string
	Text Text
}

// ExternalNames are the names of one source or sink in written order.
type ExternalNames []ExternalName

// Get returns the text of a role, or "".
func (n ExternalNames) Get(role string) string { return n.Vocab().Get(role) }

// Vocab returns the names without their places.
func (n ExternalNames) Vocab() vocab.ExternalNames {
	if n == nil {
		return nil
	}
	list := make(vocab.ExternalNames, len(n))
	for i := range n {
		list[i] = vocab.ExternalName{Role: n[i].Role, Text: n[i].Text.Text}
	}
	return list
}
