package check

import (
	"slices"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/passes/inspect"
)

// cases are the packages of testdata on which a rule refuses and accepts code.
var cases = map[string][]string{
	"PX001": {"plexus/engine/px001", "plexus/real"},
	"PX002": {"plexus/engine/px002", "plexus/sim"},
	"PX003": {"plexus/engine/px003"},
	"PX004": {"plexus/engine/px004", "plexus/cmd/plexusd"},
	"PX005": {"plexus/engine/px005"},
	"PX006": {"plexus/engine/px006"},
	"PX007": {"plexus/engine/px007"},
	"PX008": {"plexus/engine/px008"},
	"PX009": {"plexus/engine/px009"},
	"PX010": {"plexus/engine/px010"},
	"PX011": {"plexus/engine/catalog"},
	"PX012": {"plexus/engine/control"},
	"PX013": {"plexus/engine/control", "plexus/engine/flow", "plexus/engine/decide", "plexus/connectors/nats", "plexus/sim/brokers", "plexus/nowhere"},
	"PX014": {"plexus/engine/px014"},
	"PX015": {"plexus/engine/px015"},
	"PX017": {"plexus/engine/px017"},
}

// TestRules runs every rule on its packages, which are loaded together.
func TestRules(t *testing.T) {
	var packages []string
	for _, r := range rules {
		if len(cases[r.name]) == 0 {
			t.Errorf("%s has no case", r.name)
		}
		packages = append(packages, cases[r.name]...)
	}
	slices.Sort(packages)
	analysistest.Run(t, analysistest.TestData(), &analysis.Analyzer{
		Name:     "rules",
		Doc:      "rules runs the rules that a package is a case of.",
		Requires: []*analysis.Analyzer{inspect.Analyzer, directives},
		Run: func(pass *analysis.Pass) (any, error) {
			for _, r := range rules {
				if slices.Contains(cases[r.name], pass.Pkg.Path()) {
					if _, err := newAnalyzer(r).Run(pass); err != nil {
						return nil, err
					}
				}
			}
			return nil, nil
		},
	}, slices.Compact(packages)...)
}

func TestExemptions(t *testing.T) {
	Allowed.Packages["plexus/listed"] = 2
	defer delete(Allowed.Packages, "plexus/listed")
	analysistest.Run(t, analysistest.TestData(), Exemptions, "plexus/primitives/exempt")
	for _, r := range analysistest.Run(t, analysistest.TestData(), Exemptions, "plexus/listed") {
		if r.Result != 2 {
			t.Errorf("%v exemptions counted, want 2", r.Result)
		}
	}
}

func TestVerbs(t *testing.T) {
	for format, want := range map[string]string{
		"":                "",
		"no verb 100%%":   "",
		"%d %+v %-10s %w": "dvsw",
		"%*d %.3f %#x":    "*dfx",
		"%[1]s":           "s",
		"ends with %":     "",
	} {
		if got := string(verbs(format)); got != want {
			t.Errorf("%q has verbs %q, want %q", format, got, want)
		}
	}
}

func TestLayersHaveNoGap(t *testing.T) {
	for _, pkg := range []string{
		"plexus/primitives", "plexus/primitives/dial", "plexus/nspl/ast", "plexus/engine/node", "plexus/connectors/kafka",
		"plexus/sim/campaign", "plexus/real/drivers/nats", "plexus/cmd/plexus", "plexus/features/graph",
	} {
		found := false
		for _, l := range layers {
			found = found || within(pkg, l.packages)
		}
		if !found {
			t.Errorf("%s has no place in the import table", pkg)
		}
	}
}
