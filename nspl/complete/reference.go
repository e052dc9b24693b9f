package complete

import (
	"reflect"
	"slices"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/vocab"
)

// references suggests the entities that a place takes.
func (w *writer) references(to *parse.Reference) {
	known := len(w.result.Suggestions)
	fits := w.fitting(to)
	for _, kind := range to.Kinds {
		cluster := kind == vocab.EntityDomain || kind == vocab.EntityUser
		if !cluster && (w.catalog == nil || !w.catalog.Selected()) {
			w.result.NeedsDomain = true
			continue
		}
		if w.catalog == nil {
			continue
		}
		for _, name := range w.catalog.Names(kind) {
			if !w.matches(name) {
				continue
			}
			if !cluster && !fits(kind, name) {
				continue
			}
			w.name(name, KindReference, kind.String(), word(name))
		}
	}
	if len(w.result.Suggestions) == known && w.catalog != nil && !w.result.NeedsDomain {
		w.placeholder(to.Kinds[0].Words(), KindName)
	}
}

// fitting returns the test of what a reference asks for, and of what the statement
// has fixed before it.
func (w *writer) fitting(to *parse.Reference) func(vocab.EntityKind, string) bool {
	relay := slices.Contains(to.Kinds, vocab.EntityRelay) && len(to.Kinds) == 1
	var fits func(*model.Relay) bool
	if relay {
		fits = w.relays()
	}
	filtered := relay || to.Client != 0 || to.Decodes || to.Encodes || to.Materialized
	return func(kind vocab.EntityKind, name string) bool {
		if !filtered {
			return true
		}
		e, ok := w.catalog.Entity(kind, name)
		if !ok {
			return true // nobody knows what it is like
		}
		switch e := e.(type) {
		case *model.Client:
			return to.Client == 0 || e.Type == to.Client
		case *model.Codec:
			return (!to.Decodes || Decodes(e)) && (!to.Encodes || w.encodes(e))
		case *model.Relay:
			return (!to.Materialized || e.Materialized) && fits(e)
		}
		return true
	}
}

// relays returns the test of the relays that fit what was written: inputs of one
// list have one schema, and in a processor one branch; outputs and states have the
// branch of the processor.
func (w *writer) relays() func(*model.Relay) bool {
	s := w.statement()
	inputs := lookup[ast.Inputs](w)
	if len(inputs) == 0 {
		return func(*model.Relay) bool { return true }
	}
	var first *model.Relay
	listing := inputs[len(inputs)-1]
	taken := []string{}
	for i, in := range listing.From {
		if in.Relay.Text == "" {
			continue
		}
		taken = append(taken, in.Relay.Text)
		if e, ok := w.catalog.Entity(vocab.EntityRelay, in.Relay.Text); ok && i == 0 {
			first, _ = e.(*model.Relay)
		}
	}
	open := len(listing.From) > 0 && listing.From[len(listing.From)-1].Relay.Text == ""
	_, emitter := s.(*ast.CreateEmitter)
	if a, ok := s.(ast.Alteration); ok {
		emitter = a.Alters() == vocab.EntityEmitter
	}
	branch, known := w.branch()
	return func(r *model.Relay) bool {
		switch {
		case open && slices.Contains(taken, r.Name):
			return false
		case open && first != nil:
			return r.Schema.Text == first.Schema.Text && (emitter || sameBranch(r.Branch, first.Branch))
		case known && !emitter && !open:
			return sameBranch(r.Branch, branch)
		}
		return true
	}
}

// branch returns the branch clause of a processor, once it was read.
func (w *writer) branch() (ast.BranchUse, bool) {
	for _, b := range lookup[ast.BranchUse](w) {
		if b.Span != (vocab.Span{}) {
			return *b, true
		}
	}
	return ast.BranchUse{}, false
}

func sameBranch(a, b ast.BranchUse) bool {
	if a.By == nil || b.By == nil {
		return a.By == b.By
	}
	return a.By.Text == b.By.Text
}

// find returns the clauses of a sort that stand directly in a statement, in the
// order of its text. Statements of one family have their clauses in common, so
// nothing here needs to know the families.
func find[T any](s ast.Statement) []*T { return findIn[T](reflect.ValueOf(s).Elem()) }

// lookup is find, and for ALTER goes on in what is altered.
func lookup[T any](w *writer) []*T {
	list := find[T](w.statement())
	if e, ok := w.altered(); ok && len(list) == 0 {
		list = findIn[T](reflect.ValueOf(e).Elem())
	}
	return list
}

// altered returns the model of what an ALTER changes.
func (w *writer) altered() (model.Entity, bool) {
	a, ok := w.statement().(ast.Alteration)
	if !ok {
		return nil, false
	}
	return w.catalogEntity(a.Alters(), a.Altered().Name.Text)
}

// change returns the operation of an ALTER that is being read.
func (w *writer) change() (v reflect.Value, ok bool) {
	if _, ok := w.statement().(ast.Alteration); !ok {
		return v, false
	}
	changes := reflect.ValueOf(w.statement()).Elem().FieldByName("Changes")
	if !changes.IsValid() || changes.Kind() != reflect.Slice || changes.Len() == 0 {
		return v, false
	}
	return changes.Index(changes.Len() - 1), true
}

func findIn[T any](v reflect.Value) (list []*T) {
	for i := range v.NumField() {
		f := v.Field(i)
		if !f.CanAddr() || !f.CanInterface() {
			continue
		}
		switch x := f.Addr().Interface().(type) {
		case *T:
			list = append(list, x)
		case **T:
			if *x != nil {
				list = append(list, *x)
			}
		default:
			if v.Type().Field(i).Anonymous && f.Kind() == reflect.Struct {
				list = append(list, findIn[T](f)...)
			}
		}
	}
	return list
}

// nodes suggests the nodes of the cluster.
func (w *writer) nodes() {
	if w.catalog == nil {
		w.placeholder("node name", KindLiteral)
		return
	}
	for _, name := range w.catalog.Nodes() {
		if !w.matches(name) {
			continue
		}
		text := name
		if !word(name) {
			text = "'" + name + "'"
		}
		w.put(Suggestion{Display: name, Kind: KindReference, Edit: w.edit(text), Detail: "NODE"})
	}
}

// word reports whether a name is read back without backticks.
func word(s string) bool {
	for i := range len(s) {
		if !wordByte(s[i]) {
			return false
		}
	}
	return s != "" && (s[0] < '0' || s[0] > '9')
}

// Decodes reports whether a codec can turn payloads into records. One whose form
// has both directions always can.
func Decodes(codec model.Entity) bool {
	d, ok := codec.(interface{ Decodes() bool })
	return !ok || d.Decodes()
}

// encodes is the other direction, which may depend on the schema.
func (w *writer) encodes(codec *model.Codec) bool {
	e, ok := any(codec).(interface{ Encodes(*vocab.Schema) bool })
	if !ok {
		return true
	}
	s, known := entity[*model.Schema](w, vocab.EntitySchema, codec.Schema.Text)
	return !known || e.Encodes(&s.Schema)
}
