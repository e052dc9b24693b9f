package render_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plexus/nspl/ast"
	"plexus/nspl/internal/goldentest"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/vocab"
)

// undrawn begin the parts that the golden cases have and the generator leaves out:
// statements with passwords have no canonical form.
var undrawn = []string{"ast.CreateUser", "ast.AlterUser"}

// TestGeneratorCoverage: the generator draws every statement and model, with every
// clause and choice, that the golden cases of the parser hold.
func TestGeneratorCoverage(t *testing.T) {
	const draws = 6000
	drawn := map[string]bool{}
	entities := rapid.Custom(func(t *rapid.T) model.Entity { return generator{t}.entity() })
	statements := rapid.Custom(func(t *rapid.T) ast.Statement { return generator{t}.statement() })
	alterations := rapid.Custom(func(t *rapid.T) ast.Statement { return generator{t}.alterNode() })
	expressions := rapid.Custom(func(t *rapid.T) *ast.Expr { e := generator{t}.expr(4); return &e })
	for seed := range draws {
		note(drawn, reflect.ValueOf(entities.Example(seed)))
		note(drawn, reflect.ValueOf(statements.Example(seed)))
		note(drawn, reflect.ValueOf(alterations.Example(seed)))
		note(drawn, reflect.ValueOf(expressions.Example(seed)))
	}
	missing := map[string]string{}
	for _, text := range goldenTexts(t) {
		all, err := parse.Statements(text)
		if err != nil {
			continue
		}
		for _, s := range all {
			has := map[string]bool{}
			if d, ok := s.(ast.Declaration); ok {
				e, found := model.Lower(d)
				if found != nil {
					continue
				}
				note(has, reflect.ValueOf(e))
			} else {
				note(has, reflect.ValueOf(s))
			}
			for part := range has { //plexus:orderfree a set is filled
				left := slices.ContainsFunc(undrawn, func(u string) bool { return strings.HasPrefix(part, u) })
				if !drawn[part] && !left {
					missing[part] = text
				}
			}
		}
	}
	for _, part := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("%s is never drawn: %.200s", part, missing[part])
	}
}

// goldenTexts returns the statements of the golden cases.
func goldenTexts(t *testing.T) (texts []string) {
	for _, c := range goldentest.All(t, "../parse/testdata/golden") {
		if c.Command != "expr" {
			texts = append(texts, c.Input)
		}
	}
	return texts
}

// note records the types of a value, which of their fields are set, and the values
// of those that choose.
func note(parts map[string]bool, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			note(parts, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			note(parts, v.Index(i))
		}
	case reflect.Struct:
		parts[v.Type().String()] = true
		for i := range v.NumField() {
			field := v.Type().String() + "." + v.Type().Field(i).Name
			f := v.Field(i)
			switch {
			case f.Type() == reflect.TypeFor[vocab.Span](), f.Type() == reflect.TypeFor[ast.At](), v.Type().Field(i).Name == "Head":
				continue
			case f.Kind() == reflect.Uint8 && f.Type().Name() != "uint8", f.Kind() == reflect.Bool:
				parts[fmt.Sprintf("%s=%v", field, f)] = true
			case !f.IsZero():
				parts[field] = true
			}
			note(parts, f)
		}
	}
}
