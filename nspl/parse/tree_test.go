package parse_test

import (
	"fmt"
	"reflect"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/render"
	"plexus/nspl/vocab"
)

// treeText prints a statement that has no canonical form: its type and every
// field that is set, without spans.
func treeText(s ast.Statement) string {
	v := reflect.ValueOf(s).Elem()
	var b strings.Builder
	b.WriteString(v.Type().Name())
	writeFields(&b, v)
	return b.String()
}

func writeFields(b *strings.Builder, v reflect.Value) {
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if f.IsZero() || f.Type() == reflect.TypeFor[vocab.Span]() || f.Type() == reflect.TypeFor[ast.Head]() {
			continue
		}
		switch x := f.Interface().(type) {
		case ast.Name:
			fmt.Fprintf(b, " %s=%s", name, x.Text)
		case *ast.Float:
			fmt.Fprintf(b, " %s=%v", name, x.Value)
		case ast.Expr:
			fmt.Fprintf(b, " %s=(%s)", name, render.Expr(x))
		default:
			fmt.Fprintf(b, " %s=%v", name, x)
		}
	}
}
