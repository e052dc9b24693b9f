package check

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

// layer says what packages may import beside the standard library and packages
// below their own root.
type layer struct {
	packages  string
	may       []string
	never     []string // wins over may
	libraries bool     // those of allow.txt
	anything  bool
}

const arrow = "github.com/apache/arrow-go/v18/..."

// layers is the import table; the first entry that names a package counts.
var layers = []layer{
	{packages: "plexus/primitives/check/...", may: []string{"golang.org/x/tools/..."}},
	{packages: "plexus/primitives/dns", may: []string{"plexus/primitives/...", "github.com/miekg/dns"}},
	{packages: "plexus/primitives/...", may: []string{"plexus/primitives/..."}},
	{packages: "plexus/nspl/vocab", may: nil},
	{packages: "plexus/nspl/...", may: []string{"plexus/nspl/...", "plexus/primitives", "plexus/primitives/invariant"}},
	{packages: "plexus/engine/control/...", may: engineMay, never: []string{"plexus/engine/flow/..."}, libraries: true},
	{packages: "plexus/engine/...", may: engineMay, libraries: true},
	{packages: "plexus/connectors/contract", may: []string{"plexus/nspl/vocab", "plexus/primitives/...", arrow}},
	{packages: "plexus/connectors/...", may: []string{"plexus/connectors/contract", "plexus/nspl/vocab", "plexus/primitives/...", arrow}, libraries: true},
	{packages: "plexus/sim/...", may: []string{"plexus/..."}, never: []string{"plexus/real/..."}, libraries: true},
	{packages: "plexus/real/...", never: []string{"plexus/sim/..."}, anything: true},
	{packages: "plexus/cmd/plexusd", never: []string{"plexus/sim/..."}, anything: true},
	{packages: "plexus/cmd/plexus", may: []string{"plexus/engine/client", "plexus/engine/lsp", "plexus/engine/script", "plexus/engine/session/document", "plexus/engine/session/sessionpb", "plexus/nspl/...", "plexus/primitives/...", "plexus/real/...", "github.com/alecthomas/kong", "github.com/reeflective/readline", "golang.org/x/term"},
		never: []string{"plexus/real/drivers/..."}, libraries: true},
	{packages: "plexus/cmd/plexus-sim", may: []string{"plexus/sim/...", "plexus/nspl/...", "plexus/primitives/...", "github.com/alecthomas/kong"}},
	{packages: "plexus/cmd/plexus-vet", may: []string{"plexus/primitives/check", "golang.org/x/tools/..."}},
	{packages: "plexus", anything: true},
	{packages: "plexus/features/...", anything: true},
	{packages: "plexus/tools/...", anything: true},
	{packages: "plexus/bench/...", anything: true},
}

var engineMay = []string{"plexus/engine/...", "plexus/nspl/...", "plexus/connectors/contract", "plexus/primitives/..."}

// purePackages hold logic without a World: what they use of primitives are its
// values.
var purePackages = []string{"plexus/nspl/...", "plexus/engine/catalog/...", "plexus/engine/decide/...", "plexus/engine/ack/...", "plexus/engine/expr/..."}

// checkImports holds packages to the import table.
func checkImports(f *found) {
	pkg := strings.TrimSuffix(f.Pkg.Path(), "_test")
	if i := slices.IndexFunc(layers, func(l layer) bool { return within(pkg, l.packages) }); i >= 0 {
		each(f, func(s *ast.ImportSpec) {
			if target, err := strconv.Unquote(s.Path.Value); err == nil && !layers[i].allows(pkg, target) {
				f.at(s.Pos(), "%s may not import %s", pkg, target)
			}
		})
	} else if len(f.Files) > 0 {
		f.at(f.Files[0].Name.Pos(), "%s has no place in the import table", pkg)
	}
	if slices.ContainsFunc(purePackages, func(p string) bool { return within(pkg, p) }) {
		f.forbid([]ban{{pkg: "plexus/primitives", names: "*", but: "Instant Never UUID SortedKeys Entropy New* Err*",
			instead: "its values only: this package is pure"}, {pkg: "plexus/primitives", names: "NewQueue NewEvent NewNotice NewMutex NewCond NewSemaphore NewGroup NewTicker NewExecutor",
			instead: "its values only: this package is pure"}})
	}
}

// allows reports whether a package of the layer may import a target.
func (l *layer) allows(pkg, target string) bool {
	in := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return within(target, p) })
	}
	switch {
	case in(l.never):
		return false
	case target == "testing" || strings.HasPrefix(target, "testing/"):
		return l.anything
	case isStandard(target), in(l.may), within(target, pkg+"/..."):
		return true
	case l.anything:
		return true
	}
	return l.libraries && Allowed.isLeaf(target)
}

// isStandard reports whether an import is of the standard library, whose paths
// have no dot in the first element and are not the module's.
func isStandard(target string) bool {
	first, _, _ := strings.Cut(target, "/")
	return first != "plexus" && !strings.Contains(first, ".")
}
