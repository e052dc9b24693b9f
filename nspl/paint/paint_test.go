package paint_test

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"plexus/nspl/paint"
)

func TestText(t *testing.T) {
	const want = "\x1b[34mcreate\x1b[0m \x1b[34mschema\x1b[0m set (id \x1b[36mSTRING\x1b[0m); \x1b[90m// done\x1b[0m"
	if got := paint.Text("create schema set (id STRING); // done"); got != want {
		t.Errorf("%q", got)
	}
}

// TestPlain takes the colours off again.
func TestPlain(t *testing.T) {
	colour := regexp.MustCompile("\x1b\\[[0-9]+m")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-zA-Z ]{0,6}|[0-9'"$;,.{}()\n/]{0,4}|CREATE RELAY |\$\$a\nb\$\$){0,6}`).Draw(t, "text")
		if got := colour.ReplaceAllString(paint.Text(text), ""); got != text {
			t.Fatalf("%q is shown as %q", text, got)
		}
	})
}
