package render_test

import (
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/nspltest"
	"plexus/nspl/parse"
	"plexus/nspl/render"
)

// BenchmarkPrint prints a script of 10,000 statements from what is stored of it;
// the bytes are those of the output.
func BenchmarkPrint(b *testing.B) {
	list, err := parse.Statements(nspltest.Script(10_000))
	if err != nil {
		b.Fatal(err)
	}
	var print []func() string
	printed := 0
	for _, s := range list {
		text := func() string { return render.Statement(s) }
		if d, ok := s.(ast.Declaration); ok {
			e, found := model.Lower(d)
			if err := found.Err(); err != nil {
				b.Fatal(err)
			}
			text = func() string { return render.Entity(e) }
		}
		print = append(print, text)
		printed += len(text())
	}
	b.SetBytes(int64(printed))
	b.ReportAllocs()
	for b.Loop() {
		for _, text := range print {
			if text() == "" {
				b.Fatal("nothing is printed")
			}
		}
	}
}
