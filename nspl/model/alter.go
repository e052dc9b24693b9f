package model

import (
	"reflect"
	"slices"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Alter returns an entity with the operations of a statement applied from left to
// right, and reports every fault of them. With faults the result is nil. What
// comes from the old entity stands, as far as diagnostics point into the text of
// the statement, where it names the entity.
func Alter(old Entity, a ast.Alteration) (Entity, ast.Diagnostics) {
	c := &checker{}
	old = placedAt(old, a.Altered().Name.Span)
	var e Entity
	switch a := a.(type) {
	case *ast.AlterPlacement:
		e = alterPlacement(c, old.(*Placement), a)
	case *ast.AlterRelay:
		e = alterRelay(c, old.(*Relay), a)
	case *ast.AlterNode:
		e = alterNode(c, old, a)
	}
	if len(c.found) > 0 {
		slices.SortStableFunc(c.found, func(a, b *ast.Diagnostic) int { return a.Span.Start - b.Span.Start })
		return nil, c.found.About(ast.Entity{Kind: old.Kind(), Name: old.EntityName()})
	}
	return e, nil
}

var spanType = reflect.TypeFor[vocab.Span]()

// placedAt returns a deep copy of an entity in which everything stands at one
// place.
func placedAt(e Entity, span vocab.Span) Entity {
	return copied(reflect.ValueOf(e), &span).Interface().(Entity)
}

// copied returns a deep copy, with every span replaced where one is given.
func copied(v reflect.Value, span *vocab.Span) reflect.Value {
	if v.Type() == spanType {
		if span != nil {
			return reflect.ValueOf(*span)
		}
		return v
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(copied(v.Elem(), span))
		return p
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		i := reflect.New(v.Type()).Elem()
		i.Set(copied(v.Elem(), span))
		return i
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			s.Index(i).Set(copied(v.Index(i), span))
		}
		return s
	case reflect.Struct:
		s := reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			s.Field(i).Set(copied(v.Field(i), span))
		}
		return s
	}
	return v
}
