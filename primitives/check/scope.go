package check

import (
	"path"
	"slices"
	"strings"
)

// testRules hold in tests too: their order must not decide a result either.
var testRules = map[string]bool{"PX008": true, "PX009": true}

// isTest reports whether a file is test code: a test, or a file of a package
// made for tests.
func isTest(pkg, file string) bool {
	return strings.HasSuffix(file, "_test.go") || strings.HasSuffix(path.Base(pkg), "test")
}

// exception says where rules do not hold at all.
type exception struct {
	packages string
	files    []string // all when empty
	rules    []string // those that do not hold
	all      bool     // no rule holds but those in except
	except   []string
	because  string
}

var exceptions = []exception{
	{packages: "plexus/real/...", all: true, except: []string{"PX013"},
		because: "it is the build on the operating system"},
	{packages: "plexus/primitives/check/...", all: true,
		because: "it names what it forbids"},
	{packages: "plexus/primitives", rules: []string{"PX004"},
		because: "the internal locks of the blocking constructs, never held over Park"},
	{packages: "plexus/sim", files: []string{"scheduler.go", "tasks.go", "entropy.go"}, rules: []string{"PX002", "PX003", "PX009", "PX010"},
		because: "the coroutine core and the seeded reader"},
	{packages: "plexus/sim", files: []string{"lifetime.go", "lifetime_test.go"},
		rules:   []string{"PX001", "PX002", "PX003", "PX004", "PX007", "PX009", "PX010"},
		because: "one simulation per process: the lock, the watchdog and the seeded reader live outside of it"},
	{packages: "plexus/sim/campaign/...", rules: []string{"PX002", "PX003", "PX004", "PX007"},
		because: "the coordinator of worker processes runs outside the simulation"},
	{packages: "plexus/cmd/...", rules: []string{"PX007", "PX010", "PX015"},
		because: "composition and output; the machine's facts become configuration, signals come from real"},
	{packages: "plexus/cmd/plexus-sim", rules: []string{"PX001"},
		because: "budgets of real time"},
	{packages: "plexus/features/...", all: true, except: []string{"PX008"},
		because: "godog and process control run outside the simulation"},
	{packages: "plexus/tools/...", all: true, because: "not product code"},
	{packages: "plexus/bench/...", all: true, because: "not product code"},
}

// excepted reports whether a rule does not hold in a file.
func excepted(pkg, file, rule string) bool {
	for _, e := range exceptions {
		if !within(pkg, e.packages) || len(e.files) > 0 && !slices.Contains(e.files, file) {
			continue
		}
		if slices.Contains(e.rules, rule) || e.all && !slices.Contains(e.except, rule) {
			return true
		}
	}
	return false
}
