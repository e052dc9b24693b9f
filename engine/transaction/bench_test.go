package transaction_test

import (
	"fmt"
	"strings"
	"testing"

	"plexus/engine/transaction"
	"plexus/nspl/parse"
)

// BenchmarkMake plans one statement on a domain of 2,000 operators, as a node does for
// each that it is sent.
func BenchmarkMake(b *testing.B) {
	v := large(b, 1000)
	for _, text := range []string{
		"CREATE RELAY more SCHEMA row UNBRANCHED",
		"CREATE JUNCTION more FROM r_7 UNBRANCHED TO r_9 INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
		"ALTER RELAY r_7 SET CAPACITY 5",
	} {
		one := read(b, text)
		b.Run(strings.Join(strings.Fields(text)[:2], "_"), func(b *testing.B) {
			for b.Loop() {
				if plan, fault := transaction.Make(v, domain, []transaction.Statement{one}); fault != nil || plan.Incomplete != nil {
					b.Fatal(fault, plan.Incomplete)
				}
			}
		})
	}
}

func read(b *testing.B, text string) transaction.Statement {
	s, err := transaction.Read(text)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// large is a domain with chains of n relays and as many junctions.
func large(b *testing.B, n int) transaction.View {
	var text strings.Builder
	text.WriteString("CREATE SCHEMA row (site STRING, n I64); CREATE RELAY r_0 SCHEMA row UNBRANCHED;")
	for i := 1; i <= n; i++ {
		from := i - 1
		if i%10 == 0 {
			from = 0
		}
		fmt.Fprintf(&text, "CREATE RELAY r_%d SCHEMA row UNBRANCHED; CREATE JUNCTION j_%d FROM r_%d FILTER WHERE n > %d UNBRANCHED TO r_%d INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;", i, i, from, i, i)
	}
	all, err := parse.Statements(text.String())
	if err != nil {
		b.Fatal(err)
	}
	v := newWorld(b).view()
	list := make([]transaction.Statement, len(all))
	for i, s := range all {
		one, found := transaction.NewStatement(s, text.String())
		if len(found) > 0 {
			b.Fatal(found)
		}
		list[i] = one
	}
	r := transaction.NewRehearsal(v)
	if faults := r.Run(domain, list); len(faults) > 0 {
		b.Fatal(faults[0].Found)
	}
	v.State = r.State()
	return v
}
