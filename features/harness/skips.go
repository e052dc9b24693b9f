package harness

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ClusterNodesMax is the largest cluster the product forms in tests; examples with more
// nodes wait in the table of skips.
const ClusterNodesMax = 3

// ledger records which scenarios ran and which did not, for the table of skips
// and for the list of what a job must run.
type ledger struct {
	mu   sync.Mutex
	runs []outcome
}

type outcome struct {
	feature, scenario string
	nodes             int
	tags              []string
	skipped           string // reason, "" when it ran
	missing           string // the tag that kept it from running, "" when none did
}

func (l *ledger) add(o outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs = append(l.runs, o)
}

// Table prints every reason with the scenarios it kept from running.
func (l *ledger) Table(world string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var reasons []string
	byReason := map[string][]string{}
	ran := 0
	for _, o := range l.runs {
		if o.skipped == "" {
			ran++
			continue
		}
		if byReason[o.skipped] == nil {
			reasons = append(reasons, o.skipped)
		}
		byReason[o.skipped] = append(byReason[o.skipped], fmt.Sprintf("%s: %s [%d]", o.feature, o.scenario, o.nodes))
	}
	slices.Sort(reasons)
	var b strings.Builder
	fmt.Fprintf(&b, "world %s: %d examples ran, %d skipped\n", world, ran, len(l.runs)-ran)
	for _, reason := range reasons {
		examples := byReason[reason]
		slices.Sort(examples)
		fmt.Fprintf(&b, "  %d skipped: %s\n", len(examples), reason)
		for _, example := range slices.Compact(examples) {
			fmt.Fprintf(&b, "    %s\n", example)
		}
	}
	return b.String()
}

// Required returns the items of the job in the file that kept a scenario from
// running, or that no scenario ran with. A line of the file is "<job> <tag>", or
// "<job> <tag> <nodes>" for scenarios of so many nodes, with # comments.
func (l *ledger) Required(file, job string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var missing []string
	for number, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		nodes := 0
		if len(fields) == 3 {
			nodes, err = strconv.Atoi(fields[2])
		}
		if len(fields) < 2 || len(fields) > 3 || err != nil {
			return nil, fmt.Errorf("%s:%d: expected a job, a tag and perhaps a number of nodes, found %q", file, number+1, line)
		}
		if fields[0] != job {
			continue
		}
		if reason := l.unmet(fields[1], nodes); reason != "" {
			missing = append(missing, fmt.Sprintf("%s: %s", strings.Join(fields[1:], " "), reason))
		}
	}
	return missing, nil
}

// unmet says why scenarios of a tag did not run, on so many nodes where it is not 0.
func (l *ledger) unmet(tag string, nodes int) string {
	ran := false
	for _, o := range l.runs {
		if !slices.Contains(o.tags, tag) || o.nodes > ClusterNodesMax || nodes != 0 && o.nodes != nodes {
			continue
		}
		if o.missing == tag {
			return fmt.Sprintf("%q was skipped: %s", o.scenario, o.skipped)
		}
		ran = ran || o.skipped == ""
	}
	if !ran {
		return "no scenario ran"
	}
	return ""
}
