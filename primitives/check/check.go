package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// rule is one check. Its run reports through found.
type rule struct {
	name, doc string
	run       func(*found)
}

// rules lists every rule in the order of their numbers.
var rules = []rule{
	{"PX001", "reads of the clock and timers outside primitives.Clock", checkClock},
	{"PX002", "concurrency outside primitives.Tasks", checkTasks},
	{"PX003", "channels instead of primitives.Queue, Event and Select", checkChannels},
	{"PX004", "locks of package sync instead of those of primitives", checkLocks},
	{"PX005", "sockets outside World.Net", checkSockets},
	{"PX006", "name resolution outside World.Resolver", checkResolution},
	{"PX007", "files, environment and process control outside the World", checkProcess},
	{"PX008", "effects in the iteration order of a map", checkMaps},
	{"PX009", "randomness outside primitives.Entropy", checkRandomness},
	{"PX010", "identity by address or by the state of the process", checkIdentity},
	{"PX011", "a World or floating point in replicated state", checkReplicated},
	{"PX012", "encodings whose bytes may differ between runs", checkEncoding},
	{"PX013", "imports against the direction of the layers", checkImports},
	{"PX014", "errors that lose their cause or are lost themselves", checkErrors},
	{"PX015", "output that does not go through the World's log", checkOutput},
	{"PX017", "waits without an end, and locks held across waits", checkWaits},
}

var ruleAnalyzers = func() (list []*analysis.Analyzer) {
	for _, r := range rules {
		list = append(list, newAnalyzer(r))
	}
	return
}()

// Analyzers returns the analyzers of all rules and, first, Exemptions.
func Analyzers() []*analysis.Analyzer {
	return append([]*analysis.Analyzer{Exemptions}, ruleAnalyzers...)
}

func newAnalyzer(r rule) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:     r.name,
		Doc:      r.name + " reports " + r.doc + ".",
		Requires: []*analysis.Analyzer{inspect.Analyzer, directives},
		Run: func(pass *analysis.Pass) (any, error) {
			r.run(&found{
				Pass:      pass,
				rule:      r.name,
				inspector: pass.ResultOf[inspect.Analyzer].(*inspector.Inspector),
				comments:  pass.ResultOf[directives].(*comments),
			})
			return nil, nil
		},
	}
}

// found is a rule at work on one package.
type found struct {
	*analysis.Pass
	rule      string
	inspector *inspector.Inspector
	comments  *comments
}

// at reports a finding, unless the rule does not hold there or a comment exempts
// it.
func (f *found) at(pos token.Pos, format string, args ...any) {
	if !f.holds(pos) || f.comments.exempt(f.Fset.Position(pos), f.rule) {
		return
	}
	f.Report(analysis.Diagnostic{Pos: pos, Category: f.rule, Message: f.rule + ": " + fmt.Sprintf(format, args...)})
}

// holds reports whether the rule applies to the file of a position.
func (f *found) holds(pos token.Pos) bool {
	file := path.Base(f.Fset.Position(pos).Filename)
	switch {
	case isTest(f.Pkg.Path(), file):
		return testRules[f.rule] && !excepted(f.Pkg.Path(), file, f.rule)
	case f.comments.generated[f.Fset.File(pos)]:
		return f.rule == "PX013"
	}
	return !excepted(f.Pkg.Path(), file, f.rule)
}

// each calls visit for every node of the type of the example.
func each[N ast.Node](f *found, visit func(N)) {
	var example N
	f.inspector.Preorder([]ast.Node{example}, func(n ast.Node) { visit(n.(N)) })
}

// within reports whether an import path is the pattern's, or below it when the
// pattern ends in "/...".
func within(importPath, pattern string) bool {
	if root, ok := strings.CutSuffix(pattern, "/..."); ok {
		return importPath == root || strings.HasPrefix(importPath, root+"/")
	}
	return importPath == pattern
}
