package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRequiredNamesWhatKeptAScenarioFromRunning(t *testing.T) {
	file := filepath.Join(t.TempDir(), "required.txt")
	text := "# job tag\nci needs:nats\nci needs:redis # installed\nci fault:kill\nci process\nci needs:nats 1\nci needs:nats 3\nother needs:kafka\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	l := &ledger{}
	l.add(outcome{scenario: "flows", nodes: 1, tags: []string{"needs:nats"}})
	l.add(outcome{scenario: "power", nodes: 1, tags: []string{"needs:nats", "fault:power"}, skipped: "no power", missing: "fault:power"})
	l.add(outcome{scenario: "channel", nodes: 1, tags: []string{"needs:redis"}, skipped: "no redis", missing: "needs:redis"})
	l.add(outcome{scenario: "three", nodes: 3, tags: []string{"fault:kill"}, skipped: "no cluster"})
	missing, err := l.Required(file, "ci")
	if err != nil {
		t.Fatal(err)
	}
	const want = `needs:redis: "channel" was skipped: no redis; fault:kill: no scenario ran; process: no scenario ran; needs:nats 3: no scenario ran`
	if got := strings.Join(missing, "; "); got != want {
		t.Errorf("got %s", got)
	}
	table := l.Table("local")
	for _, line := range []string{"world local: 1 examples ran, 3 skipped", "1 skipped: no redis", "channel [1]"} {
		if !strings.Contains(table, line) {
			t.Errorf("%q is missing in:\n%s", line, table)
		}
	}
}
