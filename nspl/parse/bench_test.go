package parse_test

import (
	"runtime"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/nspltest"
	"plexus/nspl/parse"
)

// large is a script of 10,000 statements.
var large = nspltest.Script(10_000)

// BenchmarkStatements parses the whole script.
func BenchmarkStatements(b *testing.B) {
	b.SetBytes(int64(len(large)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse.Statements(large); err != nil {
			b.Fatal(err)
		}
	}
}

// A parsed script stays below 20 times its text.
func TestParsedSize(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	list, err := parse.Statements(large)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	used := float64(after.HeapAlloc-before.HeapAlloc) / float64(len(large))
	t.Logf("%d statements, %d bytes of text, %.1f bytes of memory for each", len(list), len(large), used)
	if used > 20 {
		t.Errorf("%.1f times the text", used)
	}
	runtime.KeepAlive(list)
}

// The text of the benchmarks has every kind of clause that real ones have.
func TestLargeScript(t *testing.T) {
	list, err := parse.Statements(large)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, s := range list {
		kinds[ast.Words(s)] = true
	}
	if len(list) < 10_000 || len(kinds) < 15 {
		t.Errorf("%d statements of %d kinds", len(list), len(kinds))
	}
}
