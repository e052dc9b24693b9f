package flow

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"plexus/engine/ack"
	"plexus/engine/batch"
	"plexus/engine/decide"
	"plexus/engine/expr"
	"plexus/engine/observe"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// RowFault is a message error: why one row of a batch failed. Message names
// operations, fields, types and lengths, never a value.
type RowFault struct {
	Row       int32
	Code      string
	Operation string
	Index     int // position of the assignment or call; expr.NoIndex for none
	Fields    []string
	Message   string
	// Reference is shared by rows that fail together; "" gives the row its own.
	Reference string
}

// Evaluation turns failures of expressions into message errors.
func Evaluation(failed []expr.RowError) []RowFault {
	faults := make([]RowFault, len(failed))
	for i, e := range failed {
		faults[i] = RowFault{
			Row: e.Row, Code: "evaluation", Operation: string(e.Fault.Operation),
			Index: e.Fault.Index, Fields: e.Fault.Fields, Message: e.Fault.Message(),
		}
	}
	return faults
}

// FaultRows lists the rows of faults.
func FaultRows(faults []RowFault) []int32 {
	rows := make([]int32, len(faults))
	for i := range faults {
		rows[i] = faults[i].Row
	}
	return rows
}

// FailedRows is what ON MESSAGE ERROR is given: faulty rows of one batch in
// ascending order, with what their unit of work saw.
type FailedRows struct {
	Input     arrow.RecordBatch // the batch the rows belong to
	Metadata  arrow.RecordBatch // aligned with Input, or nil
	Low, High []int64           // aligned with Input
	Faults    []RowFault
	Partial   arrow.RecordBatch // one row per fault, or nil where no output was begun
	Acks      *ack.Set          // aligned with Faults; consumed
}

// MessageErrors is ON MESSAGE ERROR of one route or of an emitter. It belongs to
// the task that owns the route.
type MessageErrors struct {
	d        *Domain
	operator observe.Endpoint
	load     *Load
	drain    *Drain

	plan      *decide.MessageErrorPlan
	construct *expr.Construction // ErrorSendTo
	partial   *arrow.Schema      // of the route's output, every field optional
	outlet    *outlet            // ErrorSendTo
	buffer    buffer
}

// policyNames are the values of the policy label.
var policyNames = [...]string{decide.ErrorIgnore: "ignore", decide.ErrorLog: "log", decide.ErrorSendTo: "send_to"}

// NewMessageErrors compiles the policy. output is what the route constructs, nil
// where nothing is constructed. Batches of failed rows are dispatched under the
// flush policy of the route.
func (d *Domain) NewMessageErrors(operator observe.Endpoint, plan *decide.MessageErrorPlan, output *vocab.Schema, flush vocab.Flush,
	wake *primitives.Notice, load *Load, drain *Drain) (*MessageErrors, error) {
	m := &MessageErrors{d: d, operator: operator, load: load, drain: drain}
	if err := m.Update(plan, output, flush); err != nil {
		return nil, err
	}
	if plan.Action == decide.ErrorSendTo {
		relay := d.relays[plan.To]
		if relay == nil {
			return nil, fmt.Errorf("error route of %s: %w: %s", operator.Name, ErrNoRelay, plan.To)
		}
		m.outlet = relay.outlet(wake, d.Edge(operator, "sent", plan.To, observe.Endpoint{Kind: "relay", Name: plan.To}))
	}
	return m, nil
}

// Update installs another policy with the same target.
func (m *MessageErrors) Update(plan *decide.MessageErrorPlan, output *vocab.Schema, flush vocab.Flush) error {
	if plan.Action == decide.ErrorSendTo {
		construct, err := expr.CompileConstruction(&plan.Construct, false)
		if err != nil {
			return &ProgramError{m.operator.Name, err}
		}
		m.construct = construct
		if output == nil {
			output = &vocab.Schema{}
		}
		m.partial = batch.ArrowSchema(expr.PartialSchema(output))
	}
	m.plan, m.buffer.flush = plan, flush
	return nil
}

// WantsPartial reports whether the policy reads partial outputs.
func (m *MessageErrors) WantsPartial() bool { return m.plan.Action == decide.ErrorSendTo }

// Step is the rows that failed in one step of a unit of work: a filter, a
// construction, or what follows it.
type Step struct {
	Faults  []RowFault        // ascending
	Partial arrow.RecordBatch // one row per fault, or nil where no output was begun
}

// HandleSteps is Handle for rows of several steps, none of them in two, whose
// shares stand in one set in row order. So what a row shows as partial_output
// does not depend on where its neighbours failed.
func (m *MessageErrors) HandleSteps(u *Unit, f FailedRows, s *expr.Scratch, steps ...Step) {
	shares := f.Acks
	for i, step := range steps {
		if len(step.Faults) == 0 {
			continue
		}
		var later []RowFault
		for _, other := range steps[i+1:] {
			later = MergeFaults(later, other.Faults)
		}
		f.Acks, f.Faults, f.Partial = shares, step.Faults, step.Partial
		if len(later) > 0 {
			f.Acks, shares = shares.Partition(places(FaultRows(step.Faults), FaultRows(MergeFaults(step.Faults, later))))
		}
		m.Handle(u, f, s)
	}
}

// places returns where the rows stand among all; both ascend.
func places(rows, all []int32) []int32 {
	at := make([]int32, len(rows))
	for i, row := range rows {
		p, _ := slices.BinarySearch(all, row)
		at[i] = int32(p)
	}
	return at
}

// Handle ends the failed rows as the policy says: their shares succeed, fail, or
// live on in the error records.
func (m *MessageErrors) Handle(u *Unit, f FailedRows, s *expr.Scratch) {
	m.count(f.Faults)
	m.reference(f.Faults)
	switch m.plan.Action {
	case decide.ErrorIgnore:
		f.Acks.OK(u.At)
	case decide.ErrorLog:
		m.report(f.Faults, "")
		f.Acks.Fail(u.At, reasonMessage)
	case decide.ErrorSendTo:
		m.send(u, f, s)
	}
}

// send constructs the error records. A row whose record cannot be constructed is
// reported and failed; the policy is not applied again (F6).
func (m *MessageErrors) send(u *Unit, f FailedRows, s *expr.Scratch) {
	scope := errorScope(u, f.Faults)
	defer scope.Release()
	partial := f.Partial
	if partial == nil {
		partial = nullBatch(u, m.partial, len(f.Faults))
		defer partial.Release()
	}
	rows := FaultRows(f.Faults)
	out := m.construct.Run(&u.Context, &expr.Rows{
		Input: f.Input, Metadata: f.Metadata, Error: scope, Partial: partial,
		Select: batch.Rows(int(f.Input.NumRows()), rows),
	}, s)
	// The shares are aligned with the faults; the construction speaks of rows.
	faults := Evaluation(out.Failed)
	bad := places(FaultRows(faults), rows)
	kept, failed := Divide(f.Acks, batch.Rows(len(rows), places(out.Kept.AppendRows(nil), rows)), bad, u.At)
	if len(bad) > 0 {
		m.reference(faults)
		m.report(faults, f.Faults[bad[0]].Reference)
		failed.Fail(u.At, reasonMessage)
	}
	if out.Kept.Len() == 0 {
		out.Release()
		return
	}
	m.load.Add(1)
	m.buffer.append(NewCarrier(out.Batch, batch.Select(out.Kept, f.Low), batch.Select(out.Kept, f.High), kept), u.At)
}

// reference gives every fault without one a reference of its own. Its time is
// actual UTC: it exists in every domain.
func (m *MessageErrors) reference(faults []RowFault) {
	for i := range faults {
		if faults[i].Reference == "" {
			faults[i].Reference = m.d.Reference()
		}
	}
}

// Reference returns a new error reference.
func (d *Domain) Reference() string {
	return primitives.NewUUIDv7(d.world.Entropy(), d.world.Clock().Wall()).String()
}

// count records the faults by what failed.
func (m *MessageErrors) count(faults []RowFault) {
	for i := 0; i < len(faults); {
		run := i + 1
		for run < len(faults) && faults[run].Code == faults[i].Code && faults[run].Operation == faults[i].Operation {
			run++
		}
		m.d.deps.Metrics.Counter(observe.MessageErrors, m.d.name, m.operator.Kind, m.operator.Name,
			faults[i].Code, faults[i].Operation, policyNames[m.plan.Action]).Add(run - i)
		observe.Emit(m.d.deps.Tap, observe.Event{Kind: observe.MessageFailed, Domain: m.d.name, Name: m.operator.Name, Count: run - i, Text: faults[i].Operation})
		i = run
	}
}

// report renders one line for all rows that failed in the same way. cause is the
// reference of the failure an error record was made for.
func (m *MessageErrors) report(faults []RowFault, cause string) {
	for i := 0; i < len(faults); {
		run := i + 1
		for run < len(faults) && faults[run].Message == faults[i].Message && faults[run].Operation == faults[i].Operation {
			run++
		}
		err := &MessageError{Operator: m.operator.Kind + " " + m.operator.Name, Reference: faults[i].Reference, Code: faults[i].Code,
			Operation: faults[i].Operation, Rows: run - i, Message: faults[i].Message}
		if cause != "" {
			m.d.Report(m.operator, fmt.Errorf("error record for reference %s: %w", cause, err))
		} else {
			m.d.Report(m.operator, err)
		}
		i = run
	}
}

// errorScope builds the error.* columns of the faults.
func errorScope(u *Unit, faults []RowFault) arrow.RecordBatch {
	layout := batch.ArrowSchema(vocab.ErrorScope())
	b := array.NewRecordBuilder(u.Context.Memory, layout)
	defer b.Release()
	for _, f := range faults {
		b.Field(0).(*array.StringBuilder).Append(f.Reference)
		b.Field(1).(*array.StringBuilder).Append(f.Code)
		b.Field(2).(*array.StringBuilder).Append(f.Operation)
		if index := b.Field(3).(*array.Uint32Builder); f.Index == expr.NoIndex {
			index.AppendNull()
		} else {
			index.Append(uint32(f.Index))
		}
		fields := b.Field(4).(*array.ListBuilder)
		fields.Append(true)
		for _, name := range f.Fields {
			fields.ValueBuilder().(*array.StringBuilder).Append(name)
		}
		b.Field(5).(*array.StringBuilder).Append(f.Message)
		b.Field(6).(*array.TimestampBuilder).Append(arrow.Timestamp(u.Context.Now))
	}
	return b.NewRecordBatch()
}

// nullBatch returns n rows without a value.
func nullBatch(u *Unit, layout *arrow.Schema, n int) arrow.RecordBatch {
	columns := make([]arrow.Array, layout.NumFields())
	for i := range columns {
		columns[i] = batch.Nulls(u.Context.Memory, layout.Field(i).Type, n)
	}
	rec := array.NewRecordBatch(layout, columns, int64(n))
	for _, column := range columns {
		column.Release()
	}
	return rec
}

// Due returns when the error records flush; Never while there are none or one
// batch of them waits for admission.
func (m *MessageErrors) Due() primitives.Instant {
	if m.outlet == nil || m.outlet.busy.Load() {
		return primitives.Never
	}
	return m.due()
}

func (m *MessageErrors) due() primitives.Instant {
	if !m.buffer.empty() && m.drain.On() {
		return m.buffer.since
	}
	return m.buffer.due()
}

// Blocked reports whether a due flush waits behind a dispatch: the operator
// takes no more input.
func (m *MessageErrors) Blocked(now primitives.Instant) bool {
	return m.outlet != nil && m.outlet.busy.Load() && m.due() <= now
}

// Flushed reports whether nothing is buffered, or what is waits at a closed gate.
func (m *MessageErrors) Flushed() bool {
	return m.buffer.empty() || m.outlet.busy.Load() && m.outlet.gated()
}

// Flush dispatches the buffered error records, which must be due.
func (m *MessageErrors) Flush() { m.d.dispatch(m.operator, &m.buffer, m.outlet, m.load) }

// Pending returns the shares of the buffered error records, for keepalives.
func (m *MessageErrors) Pending() []*ack.Set {
	var sets []*ack.Set
	for _, c := range m.buffer.parts {
		if c.Acks != nil {
			sets = append(sets, c.Acks)
		}
	}
	return sets
}

// End drops what is buffered and what waits for admission: the operator ends.
func (m *MessageErrors) End() {
	for _, c := range m.buffer.take() {
		c.Fail(m.d.now(), ack.Dropped)
		m.load.Add(-1)
	}
	if m.outlet != nil {
		m.outlet.withdraw()
	}
}
