package vocab

import (
	"slices"
	"strings"
	"testing"
)

func TestJSONPath(t *testing.T) {
	member := func(name string) JSONStep { return JSONStep{Member: name} }
	index := func(i uint32) JSONStep { return JSONStep{IsIndex: true, Index: i} }
	for text, want := range map[string][]JSONStep{ //plexus:orderfree independent cases
		"$":                            nil,
		"$.a._b2":                      {member("a"), member("_b2")},
		`$["any \"name]"][0]`:          {member(`any "name]`), index(0)},
		"$[4294967295].x":              {index(4294967295), member("x")},
		`$[""]`:                        {member("")},
		`$["\u00e9"]`:                  {member("é")},
		"$" + strings.Repeat(".a", 64): slices.Repeat([]JSONStep{member("a")}, 64),
	} {
		if got, err := JSONPath(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for text, at := range map[string]string{ //plexus:orderfree independent cases
		"": "byte 0", "a": "byte 0", "$a": "byte 1", "$.": "byte 1", "$.a.2": "byte 3", "$[01]": "byte 1", "$[4294967296]": "byte 1",
		"$[-1]": "byte 1", "$[*]": "byte 1", "$ .a": "byte 1", `$["a]`: "byte 1", `$["a"`: "byte 1", `$["\x"]`: "byte 1", "$..a": "byte 1",
		"$[]": "byte 1", "$['a']": "byte 1", "$" + strings.Repeat(".a", 65): "steps at byte 129", `$["a\`: "byte 1",
	} {
		if _, err := JSONPath(text); err == nil || !strings.HasSuffix(err.Error(), at) {
			t.Errorf("%s: %v, want %s", text, err, at)
		}
	}
}
