package complete_test

import (
	"strings"
	"testing"

	"plexus/nspl/complete"
	"plexus/nspl/internal/goldentest"
)

// shop is the domain of the golden cases.
const shop = `
CREATE DOMAIN shop;
CREATE SCHEMA order_row (id STRING, amount F64, note STRING OPTIONAL, ` + "`set`" + ` I64);
CREATE SCHEMA total_row (id STRING, amount F64, cents I64);
CREATE SCHEMA problem (why STRING, what STRING);
CREATE WIRE JSON SCHEMA order_wire MODE STRICT (id string, amount number, note string OPTIONAL);
CREATE CODEC order_json FROM WIRE JSON SCHEMA order_wire TO SCHEMA order_row;
CREATE RELAY orders SCHEMA order_row UNBRANCHED;
CREATE RELAY more_orders SCHEMA order_row UNBRANCHED;
CREATE RELAY ` + "`by-site`" + ` SCHEMA order_row BRANCHED BY site;
CREATE RELAY totals SCHEMA total_row UNBRANCHED;
CREATE RELAY problems SCHEMA problem UNBRANCHED;
CREATE CLIENT broker TYPE NATS CONFIG {'addr' = 'nats://localhost:4222'};
CREATE CLIENT web TYPE HTTP CONFIG {'endpoint' = 'http://localhost', 'timeout_ms' = 100};
CREATE JUNCTION split FROM orders UNBRANCHED TO totals INHERIT ALL SET cents = 1 FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
`

// TestGolden completes texts, in which | is the cursor. One suggestion a line: its
// kind, what is shown, and the text after the edit where the edit is not what is
// shown.
func TestGolden(t *testing.T) {
	c := declared(t, shop)
	goldentest.Run(t, "testdata/golden", func(t *testing.T, g goldentest.Case) string {
		before, after, found := strings.Cut(g.Input, "|")
		if !found {
			t.Fatalf("%s has no cursor", g.Input)
		}
		text := before + after
		var catalog complete.Catalog = c
		if g.Command == "nodomain" {
			catalog = nil
		}
		r := complete.At(text, len(before), catalog)
		var out strings.Builder
		if r.NeedsDomain {
			out.WriteString("needs a domain\n")
		}
		functions := 0
		for _, s := range r.Suggestions {
			if s.Kind == complete.KindFunction {
				if functions++; functions > 10 {
					continue // all of them, which the expressions own
				}
			}
			if !strings.Contains(g.Input, " ") && s.Kind == complete.KindKeyword && s.Display != "CREATE" && s.Display != "USE" {
				continue // every statement, which the parser owns
			}
			out.WriteString(s.Kind.String() + " " + s.Display)
			if s.Edit.Text != s.Display || s.Edit.End != len(before) {
				out.WriteString(" => " + s.Edit.Apply(text))
			}
			out.WriteString("\n")
		}
		if out.Len() == 0 {
			return "nothing\n"
		}
		return out.String()
	})
}
