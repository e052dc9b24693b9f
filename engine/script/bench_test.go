package script_test

import (
	"fmt"
	"strings"
	"testing"

	"plexus/engine/script"
)

// pipelines is a script of about n statements: chains of relays with processors
// between them, each with a filter and an assignment. Every fault-th statement has a
// fault of its own; 0 for none.
func pipelines(n, fault int) string {
	var b strings.Builder
	b.WriteString("CREATE SCHEMA row (site STRING, n I64, v F64 OPTIONAL);\nCREATE RELAY r_0 SCHEMA row UNBRANCHED;\n")
	for i := 1; i <= n/2; i++ {
		field := "n"
		if fault > 0 && 2*i%fault < 2 {
			field = "nn"
		}
		fmt.Fprintf(&b, "CREATE RELAY r_%d SCHEMA row UNBRANCHED;\n", i)
		fmt.Fprintf(&b, "CREATE JUNCTION j_%d FROM r_%d FILTER WHERE n > %d UNBRANCHED TO r_%d INHERIT ALL SET n = %s + 1 WHERE site != 'x' FLUSH IMMEDIATE ON MESSAGE ERROR LOG;\n",
			i, i-1, i, i, field)
	}
	return b.String()
}

// BenchmarkCheck checks long scripts, statement by statement and as one transaction,
// without faults and with one in each hundred statements.
func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{500, 2000, 10000} {
		for _, c := range []struct {
			name, text string
			findings   int
		}{
			{"statements", pipelines(n, 0), 0},
			{"faults", pipelines(n, 100), n / 100},
			{"transaction", "BEGIN;\n" + pipelines(n, 0) + "COMMIT;\n", 0},
			{"transaction-faults", "BEGIN;\n" + pipelines(n, 100) + "COMMIT;\n", n / 100},
		} {
			b.Run(fmt.Sprintf("%s-%d", c.name, n), func(b *testing.B) {
				b.SetBytes(int64(len(c.text)))
				for b.Loop() {
					if r := script.Check(script.File{Name: "x", Text: c.text}); len(r.Findings) != c.findings {
						b.Fatalf("%d findings, the first %v", len(r.Findings), r.Findings[0])
					}
				}
				b.ReportMetric(float64(strings.Count(c.text, "\n"))*float64(b.N)/b.Elapsed().Seconds(), "statements/s")
			})
		}
	}
}
