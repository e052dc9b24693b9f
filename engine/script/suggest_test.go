package script_test

import (
	"fmt"
	"strings"
	"testing"

	"plexus/engine/decide"
	"plexus/engine/script"
	"plexus/nspl/complete"
)

// operators is how large the graph of the benchmark is.
const operators = 2000

// BenchmarkSuggest completes in a graph of 2,000 operators, from the committed state
// on as a node does. An answer is due in 10 ms.
func BenchmarkSuggest(b *testing.B) {
	var text strings.Builder
	text.WriteString("BEGIN; CREATE SCHEMA s (id STRING, amount F64);\nCREATE RELAY r0 SCHEMA s UNBRANCHED;\n")
	for i := range operators {
		fmt.Fprintf(&text, "CREATE RELAY r%d SCHEMA s UNBRANCHED;\n", i+1)
		fmt.Fprintf(&text, "CREATE JUNCTION j%d FROM r%d UNBRANCHED TO r%d INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;\n", i, i, i+1)
	}
	text.WriteString("COMMIT;")
	r := script.Check(script.File{Name: "graph", Text: text.String()})
	if len(r.Findings) > 0 {
		b.Fatal(r.Findings[0])
	}
	state := r.State()
	for _, input := range []string{
		"CREATE JUNCTION j FROM ", "CREATE JUNCTION j FROM r1, ", "CREATE JUNCTION j FROM r1 UNBRANCHED TO r2 SET amount = in", "DROP JUNCTION j19", "",
	} {
		b.Run(strings.ReplaceAll(input, " ", "_"), func(b *testing.B) {
			for b.Loop() {
				c, missing := decide.NewCandidate(state, r.Domain)
				if missing != nil {
					b.Fatal(missing)
				}
				if len(complete.At(input, len(input), decide.NewNames(state, c)).Suggestions) == 0 {
					b.Fatal("nothing")
				}
			}
		})
	}
}
