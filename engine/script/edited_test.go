package script_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plexus/engine/script"
	"plexus/nspl/parse"
)

// TestEdited is the law that any text has a result whose places are in it, and that a
// text that does not parse has a finding.
func TestEdited(t *testing.T) {
	control := []string{"BEGIN", "COMMIT", "REVERT", "USE default", "USE shop", "CREATE DOMAIN shop", "DROP DOMAIN shop", "CREATE USER a WITH PASSWORD 'long enough'",
		"DROP USER a", "SHOW CREATE RELAY a", "CREATE SUBSCRIPTION s TO a WHERE n > 1", "RESET WASM PROCESSOR w IN DOMAIN default FOR UNBRANCHED"}
	pieces := []string{"", "'", "`", "$$", "$x", "|", ";", "(", "//", "\n", "é", "\x1b", "CREATE", "USE", "BEGIN", "x", "1"}
	rapid.Check(t, func(t *rapid.T) {
		var list []string
		for range rapid.IntRange(1, 12).Draw(t, "statements") {
			from := rapid.SampledFrom([][]string{steps, control}).Draw(t, "sort")
			list = append(list, rapid.SampledFrom(from).Draw(t, "statement"))
		}
		text := strings.Join(list, rapid.SampledFrom([]string{";\n", "; ", "\n"}).Draw(t, "between"))
		for range rapid.IntRange(0, 4).Draw(t, "edits") {
			tokens := parse.Tokens(text)
			if len(tokens) == 0 {
				break
			}
			at := rapid.SampledFrom(tokens).Draw(t, "token").Span
			text = text[:at.Start] + " " + rapid.SampledFrom(pieces).Draw(t, "piece") + " " + text[at.End:]
		}
		r := script.Check(script.File{Name: "x", Text: text})
		for _, f := range r.Findings {
			if f.Span.Start < 0 || f.Span.End < f.Span.Start || f.Span.End > len(text) || f.Message == "" {
				t.Fatalf("%q: %v at %v", text, f.Diagnostic, f.Span)
			}
		}
		if _, err := parse.Statements(text); err != nil && len(r.Findings) == 0 {
			t.Fatalf("%q has no finding, and does not parse: %v", text, err)
		}
		_ = r.Text([]script.File{{Name: "x", Text: text}}, script.NoColours)
		_ = r.State()
	})
}
