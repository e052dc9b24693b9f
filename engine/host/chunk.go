package host

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"plexus/connectors/contract"
	"plexus/engine/ack"
	"plexus/engine/batch"
	"plexus/engine/decide"
	"plexus/engine/expr"
	"plexus/engine/flow"
	"plexus/nspl/typed"
	"plexus/primitives"
)

// chunk is one admitted batch in an emitter's buffer: what was evaluated at its
// admission, and which of its rows are unresolved.
type chunk struct {
	relay     string
	input     arrow.RecordBatch // the source records, for error routes
	low, high []int64           // aligned with input
	now       int64             // the snapshot of admission

	output    arrow.RecordBatch // what the codec encodes; nil WITHOUT BODY
	rows      int               // of the output
	inputRows batch.Selection   // the input row of each output row
	headers   [][]contract.Header
	requests  []request // HTTP sinks
	bytes     int64     // logical size of the output

	open []int32  // unresolved output rows, ascending
	acks *ack.Set // aligned with open

	// What the attempt in progress decided, by output row.
	delivered []int32
	faults    []flow.RowFault
}

// request is the evaluated line of one HTTP request.
type request struct{ method, target string }

// admission is the compiled part of an emitter: everything that is evaluated
// once per row, when its batch is admitted.
type admission struct {
	plan   *decide.EmitterPlan
	where  map[string]*expr.Filter // by relay
	build  *expr.Construction      // codec sinks
	filter *expr.Filter            // WITHOUT BODY: the route's WHERE
	line   *expr.Values            // method and path
	invoke *expr.Values            // header names and values in turn
	errors *flow.MessageErrors
}

func compileAdmission(plan *decide.EmitterPlan) (*admission, error) {
	a := &admission{plan: plan, where: map[string]*expr.Filter{}}
	for i := range plan.Inputs {
		where, err := expr.CompileFilter(plan.Inputs[i].Where, expr.SourceWhere)
		if err != nil {
			return nil, err
		}
		a.where[plan.Inputs[i].Relay] = where
	}
	var err error
	if plan.Codec != nil {
		a.build, err = expr.CompileConstruction(&plan.Construct, plan.OnError.Action == decide.ErrorSendTo)
	} else {
		a.filter, err = expr.CompileFilter(plan.Construct.Where, expr.RouteWhere)
	}
	if err == nil && plan.Sink.Method != nil {
		a.line, err = expr.CompileValues(operationPublish, 2, plan.Sink.Method, plan.Sink.Path)
	}
	if err == nil && len(plan.Invoke) > 0 {
		pairs := make([]*typed.Expr, 0, 2*len(plan.Invoke))
		for _, w := range plan.Invoke {
			pairs = append(pairs, w.Name, w.Value)
		}
		a.invoke, err = expr.CompileValues(expr.Invoke, 2, pairs...)
	}
	return a, err
}

// operationPublish is what failures of the request line report.
const operationPublish = expr.Operation("publish")

// admit evaluates a batch and consumes it. It returns nil when no row is left
// to publish.
func (a *admission) admit(u *flow.Unit, v flow.Delivery, s *expr.Scratch) *chunk {
	c := v.Carrier
	in := &expr.Rows{Input: c.Batch, Select: batch.All(c.Rows())}
	k := &chunk{relay: v.Relay, input: c.Batch, low: c.Low, high: c.High, now: u.Context.Now}
	var failed []expr.RowError
	in.Select, failed = a.where[v.Relay].Run(&u.Context, in, s)
	source := flow.Step{Faults: flow.Evaluation(failed)}
	var build, request flow.Step
	if a.build != nil {
		out := a.build.Run(&u.Context, in, s)
		build = flow.Step{Faults: flow.Evaluation(out.Failed), Partial: out.Partial}
		k.output, k.inputRows, k.bytes = out.Batch, out.Kept, batch.LogicalSize(out.Batch)
	} else {
		k.inputRows, failed = a.filter.Run(&u.Context, in, s)
		build.Faults = flow.Evaluation(failed)
	}
	k.rows = k.inputRows.Len()
	in.Select, in.Output = k.inputRows, k.output
	request.Faults = a.requests(u, in, k, s)
	refused := make([]int32, 0, len(request.Faults)) // output rows
	k.open = make([]int32, 0, k.rows)
	input := make([]int32, 0, k.rows) // of the open rows
	for row := range int32(k.rows) {
		at := k.inputRows.At(int(row))
		if n := len(refused); n < len(request.Faults) && request.Faults[n].Row == at {
			refused = append(refused, row)
			continue
		}
		k.open = append(k.open, row)
		input = append(input, at)
	}
	request.Partial = k.built(u, a.errors, refused)
	var bad *ack.Set
	faults := flow.MergeFaults(flow.MergeFaults(source.Faults, build.Faults), request.Faults)
	k.acks, bad = flow.Divide(c.Acks, batch.Rows(c.Rows(), input), flow.FaultRows(faults), u.At)
	a.errors.HandleSteps(u, flow.FailedRows{Input: k.input, Low: k.low, High: k.high, Acks: bad}, s, source, build, request)
	for _, step := range []flow.Step{build, request} {
		if step.Partial != nil {
			step.Partial.Release()
		}
	}
	if len(k.open) == 0 {
		k.release()
		return nil
	}
	return k
}

// built returns the finished outputs of rows that failed after their
// construction, as their partial_output; nil where nobody reads it.
func (k *chunk) built(u *flow.Unit, errors *flow.MessageErrors, rows []int32) arrow.RecordBatch {
	if len(rows) == 0 || k.output == nil || !errors.WantsPartial() {
		return nil
	}
	return batch.Gather(u.Context.Memory, k.output, batch.Rows(k.rows, rows))
}

// requests evaluates method, path and headers, and refuses a row at the first
// of them that fails.
func (a *admission) requests(u *flow.Unit, in *expr.Rows, k *chunk, s *expr.Scratch) []flow.RowFault {
	var faults []flow.RowFault
	bad := map[int32]bool{} // only asked, never walked
	refuse := func(i int, operation string, index int, err error) {
		row := k.inputRows.At(i)
		if !bad[row] {
			bad[row] = true
			faults = append(faults, flow.RowFault{Row: row, Code: "validation", Operation: operation, Index: index, Message: err.Error()})
		}
	}
	note := func(failed []expr.RowError) {
		for _, f := range flow.Evaluation(failed) {
			if !bad[f.Row] {
				bad[f.Row] = true
				faults = append(faults, f)
			}
		}
	}
	if a.line != nil {
		texts, failed := a.line.Run(&u.Context, in, s)
		note(failed)
		k.requests = make([]request, k.rows)
		var method, path interned
		for i := range k.requests {
			m, _ := texts[0].At(i)
			p, _ := texts[1].At(i)
			target, err := contract.NormalizeTarget(path.of(p))
			k.requests[i] = request{method.of(m), target}
			if methodErr := contract.CheckMethod(k.requests[i].method, k.output != nil); methodErr != nil {
				err = methodErr
			}
			if err != nil {
				refuse(i, string(operationPublish), expr.NoIndex, err)
			}
		}
	}
	if a.invoke != nil {
		texts, failed := a.invoke.Run(&u.Context, in, s)
		note(failed)
		k.headers = make([][]contract.Header, k.rows)
		names, values := make([]interned, len(texts)/2), make([]interned, len(texts)/2)
		var all []contract.Header // of every row, back to back
		if a.line == nil {
			all = make([]contract.Header, 0, k.rows*len(names))
		}
		for i := range k.headers {
			var set contract.HeaderSet
			first := len(all)
			for w := range names {
				n, _ := texts[2*w].At(i)
				v, _ := texts[2*w+1].At(i)
				name, value := names[w].of(n), values[w].of(v)
				if a.line == nil {
					all = append(all, contract.Header{Name: name, Value: value})
				} else if err := set.Write(name, value); err != nil {
					refuse(i, string(expr.Invoke), w, err)
					break
				}
			}
			k.headers[i] = all[first:len(all):len(all)]
			if a.line != nil {
				k.headers[i] = set.Headers()
			}
		}
	}
	slices.SortFunc(faults, func(x, y flow.RowFault) int { return int(x.Row - y.Row) })
	return faults
}

// interned turns equal neighbours into one string.
type interned struct{ last string }

func (n *interned) of(b []byte) string {
	if string(b) != n.last {
		n.last = string(b)
	}
	return n.last
}

// settle ends the rows the attempt decided and returns how many are left open.
func (k *chunk) settle(u *flow.Unit, errors *flow.MessageErrors, s *expr.Scratch) int {
	if len(k.delivered) == 0 && len(k.faults) == 0 {
		return len(k.open)
	}
	slices.Sort(k.delivered)
	slices.SortFunc(k.faults, func(x, y flow.RowFault) int { return int(x.Row - y.Row) })
	var open, kept, bad []int32
	faults, delivered := k.faults, k.delivered
	for at, row := range k.open {
		switch {
		case len(delivered) > 0 && delivered[0] == row:
			delivered = delivered[1:]
		case len(faults) > 0 && faults[0].Row == row:
			faults = faults[1:]
			bad = append(bad, int32(at))
		default:
			open, kept = append(open, row), append(kept, int32(at))
		}
	}
	var failed *ack.Set
	k.acks, failed = flow.Divide(k.acks, batch.Rows(len(k.open), kept), bad, u.At)
	k.open = open
	if len(k.faults) > 0 {
		partial := k.built(u, errors, flow.FaultRows(k.faults))
		for i := range k.faults {
			k.faults[i].Row = k.inputRows.At(int(k.faults[i].Row))
		}
		u.Context.Now = k.now
		errors.Handle(u, flow.FailedRows{Input: k.input, Low: k.low, High: k.high, Faults: k.faults, Partial: partial, Acks: failed}, s)
		if partial != nil {
			partial.Release()
		}
	}
	k.delivered, k.faults = nil, nil
	if len(open) == 0 {
		k.release()
	}
	return len(open)
}

// drop fails what is unresolved: the emitter ends.
func (k *chunk) drop(now primitives.Instant) {
	k.acks.Fail(now, reasonStopped)
	k.release()
}

func (k *chunk) release() {
	k.input.Release()
	if k.output != nil {
		k.output.Release()
	}
}
