package format_test

import (
	"testing"

	"plexus/nspl/format"
)

func TestIgnore(t *testing.T) {
	ig := format.ParseIgnore("# comment\n\nbuild/\n*.tmp.nspl\n!keep.tmp.nspl\n/top.nspl\na/**/deep.nspl\nlogs/**\n\\#odd.nspl  \r\n")
	for _, c := range []struct {
		name    string
		dir     bool
		ignored bool
	}{
		{"build", true, true}, {"build", false, false}, {"x/build", true, true},
		{"a.tmp.nspl", false, true}, {"x/y/a.tmp.nspl", false, true}, {"keep.tmp.nspl", false, false},
		{"top.nspl", false, true}, {"x/top.nspl", false, false},
		{"a/deep.nspl", false, true}, {"a/b/c/deep.nspl", false, true}, {"b/deep.nspl", false, false},
		{"logs", true, false}, {"logs/x.nspl", false, true}, {"#odd.nspl", false, true}, {"plain.nspl", false, false},
	} {
		if ignored, _ := ig.Match(c.name, c.dir); ignored != c.ignored {
			t.Errorf("%s (directory: %v): ignored %v", c.name, c.dir, ignored)
		}
	}
}
