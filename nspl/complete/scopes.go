package complete

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// scope is what one word before a point means; ScopeBare is no word.
type scope struct {
	of     ast.Scope
	fields []vocab.Field
}

// operands suggests what begins an expression besides the forms that the parser
// names: fields, functions and values.
func (w *writer) operands() {
	for _, s := range w.scopesHere() {
		for i := range s.fields {
			f := &s.fields[i]
			if s.of == ast.ScopeBare {
				w.name(f.Name, KindField, typeOf(f), word(f.Name) && !parse.Reserved(f.Name))
				continue
			}
			text := s.of.String() + "." + quoted(f.Name)
			w.token(text, KindField, typeOf(f))
		}
	}
	for _, states := range lookup[[]ast.StateDep](w) {
		for _, d := range *states {
			for _, f := range w.relayFields(d.Relay.Text) {
				w.token("relay_state."+quoted(d.Relay.Text)+"."+quoted(f.Name), KindField, typeOf(&f))
			}
		}
	}
	for _, name := range typed.Functions() {
		if w.callable(name) {
			w.token(name+"(", KindFunction, typed.Signature(name))
		}
	}
	if w.catalog != nil {
		for _, name := range w.catalog.Names(vocab.EntityUDF) {
			w.token("udf::"+quoted(name)+"(", KindUDF, "")
		}
	}
	w.placeholder("number", KindLiteral)
	w.placeholder("string", KindLiteral)
}

func quoted(name string) string {
	if word(name) {
		return name
	}
	return "`" + name + "`"
}

func typeOf(f *vocab.Field) string {
	if f.Optional {
		return f.Type.String() + " OPTIONAL"
	}
	return f.Type.String()
}

// bareFields suggests the fields for a place that names one: behind a scope, or
// where the clause says whose field it is.
func (w *writer) bareFields(e parse.Expectation) {
	fields := w.fieldsFor(e)
	if len(fields) == 0 {
		w.placeholder("field", KindName)
		return
	}
	for i := range fields {
		f := &fields[i]
		w.name(f.Name, KindField, typeOf(f), word(f.Name) && (e.Scope != ast.ScopeBare || !parse.Reserved(f.Name)))
	}
}

func (w *writer) fieldsFor(e parse.Expectation) []vocab.Field {
	if e.Scope == ast.ScopeRelayState {
		return w.relayFields(e.Of)
	}
	if e.Scope != ast.ScopeBare {
		for _, s := range w.scopesHere() {
			if s.of == e.Scope {
				return s.fields
			}
		}
		return nil
	}
	switch w.reading.Clause {
	case parse.ClauseSet:
		return w.output()
	case parse.ClauseInherit:
		return shared(w.output(), w.input())
	case parse.ClauseBranch:
		return w.branchKey()
	case parse.ClauseError:
		return w.errorRecord()
	case parse.ClauseDefault:
		for _, states := range lookup[[]ast.StateDep](w) {
			if n := len(*states); n > 0 {
				return w.relayFields((*states)[n-1].Relay.Text)
			}
		}
	}
	if s, ok := w.statement().(*ast.CreateCodec); ok {
		return w.schema(s.Schema.Text)
	}
	if _, ok := w.statement().(*ast.CreateIngestor); ok {
		return w.input()
	}
	return nil
}

// shared returns the fields that two schemas have in common, which INHERIT can
// copy.
func shared(output, input []vocab.Field) (list []vocab.Field) {
	for _, f := range output {
		for _, g := range input {
			if f.Name == g.Name && f.Type.Equal(g.Type) && f.Optional == g.Optional {
				list = append(list, f)
			}
		}
	}
	return list
}

// scopesHere lists what can be read where the text ends. Which scopes a clause has
// is the table of the expressions; a scope without fields is left out.
func (w *writer) scopesHere() []scope {
	if w.scopes != nil {
		return w.scopes
	}
	list := []scope{}
	add := func(of ast.Scope, fields []vocab.Field) {
		if len(fields) > 0 {
			list = append(list, scope{of, fields})
		}
	}
	input, output := w.input(), w.output()
	source, sinks := false, false
	switch w.kind() {
	case vocab.EntityIngestor:
		source = true
	case vocab.EntityEmitter:
		sinks = true
	}
	if len(lookup[ast.Inputs](w)) == 2 { // left and right
		left, right := w.sides()
		add(ast.ScopeLeft, left)
		add(ast.ScopeRight, right)
	}
	switch w.reading.Clause {
	case parse.ClauseInput, parse.ClauseFilter, parse.ClauseKeys, parse.ClauseTensors, parse.ClauseSubscription, parse.ClauseValues,
		parse.ClauseGroup:
		add(ast.ScopeBare, input)
		add(ast.ScopeInput, input)
		add(ast.ScopeMessage, input)
	case parse.ClauseSet:
		add(ast.ScopeBare, merged(output, input))
		add(ast.ScopeInput, input)
		add(ast.ScopeMessage, merged(output, input))
		add(ast.ScopeOutput, output)
	case parse.ClauseWhere:
		if len(output) == 0 { // an emitter without a record of its own
			output = input
		} else {
			add(ast.ScopeOutput, output)
		}
		add(ast.ScopeBare, output)
		add(ast.ScopeMessage, output)
		add(ast.ScopeInput, input)
	case parse.ClauseBranch:
		add(ast.ScopeBare, w.branchKey())
		add(ast.ScopeInput, input)
		add(ast.ScopeMessage, output)
		add(ast.ScopeOutput, output)
	case parse.ClauseRequest, parse.ClauseInvoke:
		add(ast.ScopeInput, input)
		if len(output) > 0 {
			add(ast.ScopeMessage, output)
			add(ast.ScopeOutput, output)
		} else {
			add(ast.ScopeMessage, input)
		}
	case parse.ClauseError:
		add(ast.ScopeBare, w.errorRecord())
		add(ast.ScopeInput, input)
		add(ast.ScopeError, vocab.ErrorScope().Fields)
		add(ast.ScopePartialOutput, output)
	}
	if source {
		if e := w.source(); e != 0 {
			add(ast.ScopeMetadata, e.Capabilities().Scope.Fields())
		}
	} else if !sinks || w.reading.Clause == parse.ClauseError {
		add(ast.ScopeBranch, w.branchKey())
	}
	w.scopes = list
	return list
}

// merged lists the fields of the working message: those of the output, and those
// of the input that it does not declare.
func merged(output, input []vocab.Field) []vocab.Field {
	list := output
	for _, f := range input {
		known := false
		for _, g := range output {
			known = known || f.Name == g.Name
		}
		if !known {
			list = append(list[:len(list):len(list)], f)
		}
	}
	return list
}

// callable reports whether a name can be called in the clause.
func (w *writer) callable(name string) bool {
	if typed.Signature(name) == "" {
		return false
	}
	if name != "read_header" && name != "read_headers" {
		return true
	}
	e := w.source()
	return e != 0 && e.Capabilities().Headers
}

// kind returns the kind of what the statement declares or alters.
func (w *writer) kind() vocab.EntityKind {
	switch s := w.statement().(type) {
	case ast.Declaration:
		return s.Declares()
	case ast.Alteration:
		return s.Alters()
	}
	return 0
}

// source returns the source entity of an ingestor, 0 of other statements.
func (w *writer) source() vocab.SourceEntity {
	if s, ok := w.statement().(*ast.CreateIngestor); ok {
		return s.Source.Entity
	}
	if e, ok := w.altered(); ok {
		if i, ok := e.(*model.Ingestor); ok {
			return i.Source.Entity
		}
	}
	return 0
}

func entity[E model.Entity](w *writer, kind vocab.EntityKind, name string) (e E, ok bool) {
	if w.catalog == nil || name == "" {
		return e, false
	}
	found, ok := w.catalog.Entity(kind, name)
	if !ok {
		return e, false
	}
	e, ok = found.(E)
	return e, ok
}

func (w *writer) schema(name string) []vocab.Field {
	if s, ok := entity[*model.Schema](w, vocab.EntitySchema, name); ok {
		return s.Schema.Fields
	}
	return nil
}

func (w *writer) relayFields(name string) []vocab.Field {
	if r, ok := entity[*model.Relay](w, vocab.EntityRelay, name); ok {
		return w.schema(r.Schema.Text)
	}
	return nil
}

func (w *writer) codecFields(name string) []vocab.Field {
	if c, ok := entity[*model.Codec](w, vocab.EntityCodec, name); ok {
		return w.schema(c.Schema.Text)
	}
	return nil
}

// input lists the fields of the rows that arrive.
func (w *writer) input() []vocab.Field {
	switch s := w.statement().(type) {
	case *ast.CreateIngestor:
		return w.codecFields(s.Decode.Text)
	case *ast.CreateSubscription:
		return w.relayFields(s.Relay.Text)
	}
	if e, ok := w.altered(); ok {
		if i, ok := e.(*model.Ingestor); ok {
			return w.codecFields(i.Decode.Text)
		}
	}
	if in := lookup[ast.Inputs](w); len(in) == 1 {
		return w.inputsOf(in[0])
	}
	return nil
}

func (w *writer) inputsOf(in *ast.Inputs) []vocab.Field {
	if len(in.From) == 0 {
		return nil
	}
	return w.relayFields(in.From[0].Relay.Text)
}

// sides lists the fields of both inputs of a correlator.
func (w *writer) sides() (left, right []vocab.Field) {
	in := lookup[ast.Inputs](w)
	return w.inputsOf(in[0]), w.inputsOf(in[1])
}

// route returns the route that is being read.
func (w *writer) route() *ast.Route {
	for _, routes := range find[[]ast.Route](w.statement()) {
		if n := len(*routes); n > 0 {
			return &(*routes)[n-1]
		}
	}
	if change, ok := w.change(); ok {
		for _, r := range findIn[ast.Route](change) {
			if r.To.Text != "" {
				return r
			}
		}
	}
	return nil
}

// output lists the fields of the record that is built.
func (w *writer) output() []vocab.Field {
	if s, ok := w.statement().(*ast.CreateEmitter); ok {
		if s.Body.Codec != nil {
			return w.codecFields(s.Body.Codec.Text)
		}
		return nil
	}
	if r := w.route(); r != nil {
		return w.relayFields(r.To.Text)
	}
	return nil
}

// errorRecord lists the fields of the record that ON MESSAGE ERROR builds.
func (w *writer) errorRecord() []vocab.Field {
	if r := w.route(); r != nil {
		return w.relayFields(r.OnError.To.Text)
	}
	for _, e := range lookup[ast.MessageError](w) {
		return w.relayFields(e.To.Text)
	}
	return nil
}

// branchKey lists the key fields of the branch that the statement works on.
func (w *writer) branchKey() []vocab.Field {
	use, known := w.branch()
	if r := w.route(); r != nil && r.Branch != nil && r.Branch.By != nil {
		use, known = r.Branch.BranchUse, true
	}
	if !known || use.By == nil {
		return nil
	}
	return w.keyOf(use.By.Text)
}

// keyOf lists the key fields of a branch.
func (w *writer) keyOf(branch string) []vocab.Field {
	e, ok := w.catalogEntity(vocab.EntityBranch, branch)
	if !ok {
		return nil
	}
	for _, r := range e.Refs() {
		if r.Kind == vocab.EntitySchema {
			return w.schema(r.Name)
		}
	}
	return nil
}

func (w *writer) catalogEntity(kind vocab.EntityKind, name string) (model.Entity, bool) {
	if w.catalog == nil {
		return nil, false
	}
	return w.catalog.Entity(kind, name)
}
