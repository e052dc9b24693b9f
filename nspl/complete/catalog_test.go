package complete_test

import (
	"slices"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/vocab"
)

// script is a catalog of what a text declares.
type script []model.Entity

func (s script) Names(kind vocab.EntityKind) (names []string) {
	for _, e := range s {
		if e.Kind() == kind {
			names = append(names, e.EntityName())
		}
	}
	slices.Sort(names)
	return names
}

func (s script) Entity(kind vocab.EntityKind, name string) (model.Entity, bool) {
	for _, e := range s {
		if e.Kind() == kind && e.EntityName() == name {
			return e, true
		}
	}
	return nil, false
}

func (script) Selected() bool { return true }

func (script) Nodes() []string { return []string{"n1", "n2.example.org"} }

func (script) Versions(resource string) []uint64 {
	if resource == "certs" {
		return []uint64{1, 3, 12}
	}
	return nil
}

func (script) Subscriptions() []string { return []string{"watch", "by-site"} }

func declared(t testing.TB, text string) script {
	all, err := parse.Statements(text)
	if err != nil {
		t.Fatal(err)
	}
	var s script
	for _, d := range all {
		e, found := model.Lower(d.(ast.Declaration))
		if found != nil {
			t.Fatal(found.Explain(text))
		}
		s = append(s, e)
	}
	return s
}
