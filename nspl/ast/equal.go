package ast

import (
	"reflect"

	"plexus/nspl/vocab"
)

// Equal reports whether two trees, or models made of them, are the same except
// for where they stand in their text.
func Equal(a, b any) bool { return equal(reflect.ValueOf(a), reflect.ValueOf(b)) }

var spanType = reflect.TypeFor[vocab.Span]()

func equal(a, b reflect.Value) bool {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return false
	}
	switch {
	case !a.IsValid() || a.Type() == spanType:
		return true
	case a.Kind() == reflect.Pointer || a.Kind() == reflect.Interface:
		return equal(a.Elem(), b.Elem())
	case a.Kind() == reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			if !equal(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	default:
		return a.Equal(b)
	}
}
