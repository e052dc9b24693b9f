package grammar_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plexus/nspl/grammar"
	"plexus/nspl/vocab"
)

// Every statement is explained on a page that exists, and is found by its name and by
// its first words.
func TestTopics(t *testing.T) {
	for _, r := range grammar.Statements() {
		page, ok := r.Page()
		if _, err := os.Stat(filepath.Join("..", "..", "docs", "manual", "nspl", page+".md")); !ok || err != nil {
			t.Errorf("%s has no page: %q, %v", r.Name, page, err)
		}
		if h := grammar.About(strings.ReplaceAll(r.Name, "_", " ")); !h.Found() {
			t.Errorf("nothing about %s", r.Name)
		}
	}
	for _, kind := range vocab.EntityKinds() {
		if h := grammar.About(strings.ToLower(kind.String())); !h.Found() {
			t.Errorf("nothing about %s", kind)
		}
	}
}

func TestAbout(t *testing.T) {
	rule := func(topic, name string) grammar.Help {
		t.Helper()
		h := grammar.About(topic)
		if len(h.Rules) != 1 || h.Rules[0].Name != name {
			t.Errorf("%s: %+v", topic, h)
		}
		return h
	}
	if h := rule("window processor", "create_window"); strings.Join(h.Also, ", ") != "DROP WINDOW PROCESSOR, SHOW CREATE WINDOW PROCESSOR, DESCRIBE WINDOW PROCESSOR, RELOCATE WINDOW PROCESSOR" {
		t.Errorf("also %q", h.Also)
	}
	rule("deduplicator", "create_deduplicator")
	rule("message error", "message_error")
	rule("flush", "flush")
	rule("begin", "transaction")
	if h := grammar.About("kafka"); len(h.Rules) != 2 || len(h.Lines) < 2 {
		t.Errorf("kafka: %+v", h)
	}
	for _, topic := range []string{"", "nobody", "create nothing"} {
		if grammar.About(topic).Found() {
			t.Errorf("%q is found", topic)
		}
	}
}
