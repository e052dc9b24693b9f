package decide

import (
	"fmt"
	"testing"

	"plexus/engine/catalog"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/vocab"
)

// largeCandidate is a domain of about n operators: chains of relays with a
// processor between each two, and a junction that fans out to each chain.
func largeCandidate(tb testing.TB, n int) *Candidate {
	c := &Candidate{domain: "d", dropped: map[catalog.Key]bool{}, placement: vocab.PlacementNeutral}
	add := func(text string) {
		all, err := parse.Statements(text)
		if err != nil {
			tb.Fatal(err)
		}
		for i, s := range all {
			e, found := model.Lower(s.(ast.Declaration))
			if err := found.Err(); err != nil {
				tb.Fatal(err)
			}
			if d := c.Create(e, s.Place(), i); d != nil {
				tb.Fatal(d)
			}
		}
	}
	add(`CREATE SCHEMA key (site STRING);
		CREATE SCHEMA row (site STRING, n I64, v F64 OPTIONAL);
		CREATE BRANCH by_site SCHEMA key TTL 1h;
		CREATE RELAY root SCHEMA row BRANCHED BY by_site WITH MATERIALIZED STATE LAST BY TIMESTAMP;`)
	const length = 10
	for chain := range n / (2 * length) {
		from := "root"
		for i := range length {
			to := fmt.Sprintf("r%d_%d", chain, i)
			add(fmt.Sprintf("CREATE RELAY %s SCHEMA row BRANCHED BY by_site", to))
			kind, keys := "JUNCTION", ""
			if i%2 == 1 {
				kind, keys = "DEDUPLICATOR", "DEDUPLICATE ON input.n, site MAX TIME 1m"
			}
			add(fmt.Sprintf(`CREATE %s p%d_%d FROM %s FILTER WHERE input.n > 0 AND site != 'x' %s BRANCHED BY by_site
				USING MATERIALIZED STATE root REQUIRED SKIP TO %s INHERIT ALL SET n = n + relay_state.root.n WHERE n < 100
				FLUSH IMMEDIATE ON MESSAGE ERROR LOG`, kind, chain, i, from, keys, to))
			from = to
		}
	}
	return c
}

// TestValidateLarge is what the benchmark measures, once.
func TestValidateLarge(t *testing.T) {
	if invalid := largeCandidate(t, 200).Validate(); invalid != nil {
		t.Fatal(invalid)
	}
}

// BenchmarkValidate validates a domain of 2,000 operators: under 200 ms.
func BenchmarkValidate(b *testing.B) {
	c := largeCandidate(b, 2000)
	for b.Loop() {
		if invalid := c.Validate(); invalid != nil {
			b.Fatal(invalid)
		}
	}
}
