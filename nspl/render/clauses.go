package render

import (
	"slices"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// binding writes a resource with its version.
func (w *writer) binding(b ast.Binding) *writer {
	return w.name(b.Resource.Text).put(" ").version(b.Version)
}

func (w *writer) version(v ast.ResourceVersion) *writer {
	if v.Latest {
		return w.put("VERSION LATEST")
	}
	return w.put("VERSION ").uint(v.Number.Value)
}

func (w *writer) branchUse(b ast.BranchUse) *writer {
	if b.By == nil {
		return w.put("UNBRANCHED")
	}
	return w.put("BRANCHED BY ").name(b.By.Text)
}

// set writes SET with one assignment per line, aligned under the first.
func (w *writer) set(list []ast.Assign) {
	w.put("SET ")
	column := w.column()
	for i, a := range list {
		if i > 0 {
			w.put(",").clause(column)
		}
		w.assign(a)
	}
}

func (w *writer) assign(a ast.Assign) {
	if a.Scope == ast.ScopeBare {
		w.bareName(a.Target.Text)
	} else {
		w.put(a.Scope.String(), ".").name(a.Target.Text)
	}
	w.put(" = ").expr(a.Value)
}

func (w *writer) construction(c ast.Construction, indent int) {
	if c.Inherit != nil {
		w.clause(indent).inherit(c.Inherit)
	}
	if len(c.Set) > 0 {
		w.clause(indent).set(c.Set)
	}
	if c.Where != nil {
		w.clause(indent, "WHERE ").expr(c.Where)
	}
}

func (w *writer) inherit(in *ast.Inherit) {
	w.put("INHERIT ")
	switch {
	case in.All && len(in.Except) > 0:
		w.put("ALL EXCEPT ").names(in.Except, w.bareName)
	case in.All:
		w.put("ALL")
	default:
		for i, f := range in.Fields {
			if i > 0 {
				w.put(", ")
			}
			w.bareName(f.Name.Text)
			if f.Leak {
				w.put(" LEAK SENSITIVE")
			}
		}
	}
}

func (w *writer) inputs(in ast.Inputs) { w.inputsOf("FROM ", in) }

func (w *writer) inputsOf(from string, in ast.Inputs) {
	w.clause(2, from)
	for i, input := range in.From {
		if i > 0 {
			w.put(", ")
		}
		w.name(input.Relay.Text)
		if input.Where != nil {
			w.put(" WHERE ").expr(input.Where)
		}
	}
	if in.Collect != nil {
		w.clause(2).collect(in.Collect)
	}
}

func (w *writer) collect(c *ast.Collect) {
	w.put("COLLECT FOR ", c.For.Text)
	if c.MaxBatchSize != nil {
		w.put(" MAX BATCH SIZE ", c.MaxBatchSize.Text)
	}
}

func (w *writer) filter(e ast.Expr) {
	if e != nil {
		w.clause(2, "FILTER WHERE ").expr(e)
	}
}

func (w *writer) flush(f ast.Flush, indent int) {
	w.clause(indent).flushBody(f)
}

func (w *writer) flushBody(f ast.Flush) {
	if f.Immediate {
		w.put("FLUSH IMMEDIATE")
		return
	}
	w.put("FLUSH EACH ", f.Each.Text, " MAX BATCH SIZE ", f.MaxBatch.Text)
}

func (w *writer) messageError(e ast.MessageError, indent int) {
	w.clause(indent, "ON MESSAGE ERROR ")
	switch e.Action {
	case ast.ErrorIgnore:
		w.put("IGNORE")
	case ast.ErrorLog:
		w.put("LOG")
	case ast.ErrorSendTo:
		w.put("SEND TO ").name(e.To.Text).put(" ").set(e.Set)
	}
}

func (w *writer) generalError(e ast.GeneralError) {
	w.clause(2, "ON GENERAL ERROR ", generalErrors[e])
}

var generalErrors = [...]string{ast.GeneralIgnore: "IGNORE", ast.GeneralLog: "LOG"}

func (w *writer) routes(routes []ast.Route) {
	for i := range routes {
		w.clause(2).route(&routes[i])
	}
}

func (w *writer) route(r *ast.Route) {
	w.put("TO ").name(r.To.Text)
	w.construction(r.Construction, 4)
	if r.Branch != nil {
		w.clause(4).branchUse(r.Branch.BranchUse)
		if len(r.Branch.Set) > 0 {
			w.put(" ").set(r.Branch.Set)
		}
	}
	if !r.Flush.Absent() {
		w.flush(r.Flush, 4)
	}
	w.messageError(r.OnError, 4)
}

func (w *writer) retry(r ast.Retry) {
	w.put(" RETRY POLICY BACKOFF ", r.Backoff.Text, " MAX ", r.Max.Text)
}

// externalNames writes the names of a source or a sink, and what stands instead of
// one that is absent.
func (w *writer) externalNames(names ast.ExternalNames, rules []vocab.NameRule) {
	for _, rule := range rules {
		at := slices.IndexFunc(names, func(n ast.ExternalName) bool { return n.Role == rule.Role })
		switch {
		case at < 0:
			w.put(" ", rule.Or)
		case rule.Quoted:
			w.put(" ", rule.Role, " ").string(names[at].Text.Text)
		default:
			w.put(" ", rule.Role, " ").external(names[at].Text.Text)
		}
	}
}

func (w *writer) sourceMode(m ast.SourceMode, can *vocab.SourceCapabilities) {
	w.put(" MODE ", m.Kind.String())
	if m.Kind == vocab.AckParallel {
		w.put(" MAX ").uint(m.Max.Value)
		if can.Payload != vocab.NativeArrow {
			w.put(" BATCH TIMEOUT ", m.BatchTimeout.Text)
		}
	}
	if m.Kind == vocab.AckSequential || m.Kind == vocab.AckParallel {
		w.put(" ACK TIMEOUT ", m.AckTimeout.Text).retry(m.Retry)
	}
}

func (w *writer) sinkMode(m ast.SinkMode) {
	w.put("MODE ", m.Kind.String())
	if m.Kind.Windowed() {
		if m.Window.Max == nil {
			w.put(" SEQUENTIAL")
		} else {
			w.put(" PARALLEL MAX ").uint(m.Window.Max.Value)
		}
		w.put(" ACK TIMEOUT ", m.AckTimeout.Text)
	}
	w.retry(m.Retry)
}

func (w *writer) quiesce(q ast.Quiesce) { w.put(" ON QUIESCE ").quiesceBody(q) }

func (w *writer) quiesceBody(q ast.Quiesce) {
	switch q.Body {
	case vocab.QuiesceSuspend:
		w.put("SUSPEND")
	case vocab.QuiesceDrop:
		w.put("DROP")
	case vocab.QuiesceReject:
		w.put("REJECT RETRY AFTER ", q.RetryAfter.Text)
	case vocab.QuiesceEndpointBuffer:
		w.put("BUFFER MAX SIZE ", q.MaxSize.Text)
	case vocab.QuiesceBuffer:
		w.put("BUFFER MAX SIZE ", q.MaxSize.Text, " ON OVERFLOW DROP ")
		if q.DropOldest {
			w.put("OLDEST")
		} else {
			w.put("NEWEST")
		}
	}
}
