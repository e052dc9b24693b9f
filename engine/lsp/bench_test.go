package lsp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"plexus/engine/lsp"
)

// lines is a document of n lines with a statement in each; every fault-th line has a
// fault.
func lines(n, fault int) string {
	var b strings.Builder
	b.WriteString("CREATE SCHEMA row (site STRING, n I64, v F64 OPTIONAL);\nCREATE RELAY r_0 SCHEMA row UNBRANCHED;\n")
	for i := 1; i < n/2; i++ {
		field := "n"
		if fault > 0 && 2*i%fault == 0 {
			field = "nn"
		}
		fmt.Fprintf(&b, "CREATE RELAY r_%d SCHEMA row UNBRANCHED;\n", i)
		fmt.Fprintf(&b, "CREATE JUNCTION j_%d FROM r_%d FILTER WHERE n > %d UNBRANCHED TO r_%d INHERIT ALL SET n = %s + 1 WHERE site != 'x' FLUSH IMMEDIATE ON MESSAGE ERROR LOG;\n",
			i, i-1, i, i, field)
	}
	return b.String()
}

func edited(line int, text string) []byte {
	quoted, _ := json.Marshal(text)
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"u"},"contentChanges":[
		{"range":{"start":{"line":%d,"character":0},"end":{"line":%d,"character":0}},"text":%s}]}}`, line, line, quoted)
}

// BenchmarkChange types into a document of 1,000 lines: its diagnostics are due in
// 100 ms. Two changes alternate, one of which breaks the statement that it stands in.
func BenchmarkChange(b *testing.B) {
	for _, c := range []struct {
		name  string
		fault int
	}{{"sound", 0}, {"faults", 50}} {
		b.Run(c.name, func(b *testing.B) {
			s := lsp.NewServer()
			s.Handle([]byte(`{"id":1,"method":"initialize","params":{}}`))
			text, _ := json.Marshal(lines(1000, c.fault))
			s.Handle(fmt.Appendf(nil, `{"method":"textDocument/didOpen","params":{"textDocument":{"uri":"u","text":%s}}}`, text))
			slowest := time.Duration(0)
			for i := 0; b.Loop(); i++ {
				change := edited(500, "'")
				if i%2 == 1 {
					change = []byte(strings.Replace(string(edited(500, "")), `"end":{"line":500,"character":0}`, `"end":{"line":500,"character":1}`, 1))
				}
				began := time.Now()
				if out, _, _ := s.Handle(change); len(out) != 1 {
					b.Fatal("no diagnostics")
				}
				slowest = max(slowest, time.Since(began))
			}
			b.ReportMetric(float64(slowest.Milliseconds()), "ms/slowest")
		})
	}
}
