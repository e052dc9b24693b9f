package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plexus/engine/session/sessionpb"
)

func TestAccepted(t *testing.T) {
	for text, want := range map[string]bool{ //plexus:orderfree independent cases
		"": true, "exit": true, `\json`: true, "USE shop": true, "USE": false, "bad;": true, "CREATE RELAY r\n": true,
		"CREATE RELAY r\n  SCHEMA s": false, "CREATE RELAY r\n  SCHEMA s UNBRANCHED": true, "CREATE RELAY r\n  ": true,
	} {
		if accepted(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestCandidates(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "one.tar"), "")
	write(t, filepath.Join(dir, "only", "x"), "")
	for _, c := range []struct {
		name, text string
		suggestion *sessionpb.Suggestion
		values     []string
		prefix     string
		hints      []string
	}{
		{"a keyword", "cre", &sessionpb.Suggestion{Display: "CREATE", Start: 0, End: 3, Replacement: "CREATE"}, []string{"CREATE"}, "cre", nil},
		{"a field behind a scope", "x input.am", &sessionpb.Suggestion{Display: "amount", Start: 8, End: 10, Replacement: "amount"}, []string{"input.amount"}, "input.am", nil},
		{"behind a word", "USE shop", &sessionpb.Suggestion{Display: ";", Start: 8, End: 8, Replacement: ";"}, []string{"shop;"}, "shop", nil},
		{"a name to think of", "CREATE RELAY ", &sessionpb.Suggestion{Display: "name"}, nil, "", []string{"name"}},
		{"a name in quotes", "DROP RELAY by", &sessionpb.Suggestion{Display: "by-site", Start: 11, End: 13, Replacement: "`by-site`"}, nil, "by", []string{"`by-site`"}},
		{"a path", "TO '" + dir + "/on", &sessionpb.Suggestion{LocalPath: true, Start: 4, End: uint64(7 + len(dir))},
			[]string{"'" + dir + "/one.tar", "'" + dir + "/only/"}, "'" + dir + "/on", nil},
	} {
		list, prefix, hints := candidatesOf(c.text, len(c.text), []*sessionpb.Suggestion{c.suggestion})
		var values []string
		for _, one := range list {
			values = append(values, one.Value)
		}
		if !slices.Equal(values, c.values) || prefix != c.prefix || !slices.Equal(hints, c.hints) {
			t.Errorf("%s: %q %q %q", c.name, values, prefix, hints)
		}
	}
}

func TestHistory(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	h := loadHistory()
	for _, line := range []string{"USE a", "USE a", "CREATE USER u WITH PASSWORD 'x'", "CREATE CLIENT c TYPE NATS\n  CONFIG {}", "CREATE RELAY r\n  SCHEMA s;", " "} {
		if _, err := h.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	h.save()
	again := loadHistory()
	if !slices.Equal(again.lines, []string{"USE a", "CREATE RELAY r\n  SCHEMA s;"}) {
		t.Errorf("%q", again.lines)
	}
	info, err := os.Stat(h.file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
	for range historyLinesMax + 10 {
		h.lines = append(h.lines, "x")
	}
	if _, err := h.Write("last"); err != nil || h.Len() != historyLinesMax {
		t.Errorf("%d lines (%v)", h.Len(), err)
	}
	if _, err := h.GetLine(-1); err == nil {
		t.Error("there is a line before the first")
	}
}

func TestHelp(t *testing.T) {
	for topic, want := range map[string][]string{ //plexus:orderfree independent cases
		"":                 {help, "deduplicator", "node admin"},
		"create relay":     {"create_relay", "branch_use ", "grammar.md", "manual: docs/manual/nspl/relays.md"},
		"create":           {"create_junction\n"},
		"Deduplicator;":    {"CREATE if_not_exists? attachment? DEDUPLICATOR", "also: ALTER DEDUPLICATOR, DROP DEDUPLICATOR", "processors.md"},
		"flush":            {"FLUSH IMMEDIATE", "routes.md"},
		"kafka":            {"source: ", "sink: "},
		"create juction":   {"did you mean CREATE JUNCTION?"},
		"deduplicater":     {"did you mean DEDUPLICATE?"},
		"windw procesor":   {"did you mean WINDOW PROCESSOR?"},
		"nothing at all x": {"nothing is called nothing at all x", `\help lists the topics`},
	} {
		got := helpOn(topic)
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: no %q in\n%s", topic, part, got)
			}
		}
	}
}

func TestShortened(t *testing.T) {
	long := strings.Repeat("ü", lineBytesMax)
	if got := shortened(long); len(got) > lineBytesMax+40 || !strings.HasSuffix(got, "bytes more)") || shortened("x") != "x" {
		t.Errorf("%d bytes", len(got))
	}
}
