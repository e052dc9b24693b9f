package model

import (
	"reflect"
	"slices"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Resource is a sequence of versions of a directory tree. Which versions there
// are is no part of the definition.
type Resource struct{ Name string }

// Kind returns the kind.
func (*Resource) Kind() vocab.EntityKind { return vocab.EntityResource }

// EntityName returns the name.
func (r *Resource) EntityName() string { return r.Name }

// Refs returns nothing.
func (*Resource) Refs() []Ref { return nil }

// Binder is an entity that may use a version of a resource.
type Binder interface {
	Entity
	// Bound returns what the entity binds, nil for nothing.
	Bound() *ast.Binding
}

// Bound returns the resource version that an entity binds, nil for nothing.
func Bound(e Entity) *ast.Binding {
	if b, ok := e.(Binder); ok {
		return b.Bound()
	}
	return nil
}

// Rebound returns a copy of an entity that binds another version. It binds one.
func Rebound(e Entity, version uint64) Entity {
	next := copied(reflect.ValueOf(e), nil).Interface().(Entity)
	b := Bound(next)
	b.Version.Latest, b.Version.Number.Value = false, version
	return next
}

// CheckUsages reports what a REBIND lists twice.
func CheckUsages(list []ast.Usage) ast.Diagnostics {
	var c checker
	for i, u := range list {
		same := func(o ast.Usage) bool { return o.Kind == u.Kind && o.Name.Text == u.Name.Text }
		if slices.ContainsFunc(list[:i], same) {
			c.add(ast.Errorf(ast.CodeParse, u.Span, "%s '%s' is listed twice", u.Kind, u.Name.Text).WithHint("one of them is enough"))
		}
	}
	return c.found
}

func appendBound(refs []Ref, b *ast.Binding) []Ref {
	if b != nil {
		refs = append(refs, ref(vocab.EntityResource, b.Resource))
	}
	return refs
}
