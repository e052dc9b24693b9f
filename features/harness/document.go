package harness

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cucumber/godog"
)

// documentHas checks a table of paths and values against a document in JSON's
// terms. A path joins keys and list positions with dots; a value that starts with
// ~ is a part of the text.
func documentHas(document any, t *godog.Table) error {
	var wrong []string
	for _, row := range t.Rows {
		if len(row.Cells) != 2 {
			return fmt.Errorf("the table has two columns: path and value")
		}
		path, want := row.Cells[0].Value, row.Cells[1].Value
		value, found := lookup(document, path)
		switch {
		case !found:
			wrong = append(wrong, fmt.Sprintf("%s is missing", path))
		case !matches(want, plain(value)):
			wrong = append(wrong, fmt.Sprintf("%s is %s", path, plain(value)))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s; in:\n%s", strings.Join(wrong, ", "), plain(document))
	}
	return nil
}

func matches(want, have string) bool {
	if part, ok := strings.CutPrefix(want, "~"); ok {
		return strings.Contains(have, strings.TrimSpace(part))
	}
	return want == have
}

// lookup walks the path. Keys may hold spaces; a key with dots is found before
// its first part is.
func lookup(document any, path string) (any, bool) {
	if path == "" {
		return document, true
	}
	switch v := document.(type) {
	case map[string]any:
		parts := strings.Split(path, ".")
		for n := len(parts); n > 0; n-- {
			if inner, ok := v[strings.Join(parts[:n], ".")]; ok {
				return lookup(inner, strings.Join(parts[n:], "."))
			}
		}
	case []any:
		head, rest, _ := strings.Cut(path, ".")
		if head == "*" {
			i := slices.IndexFunc(v, func(item any) bool { _, ok := lookup(item, rest); return ok })
			if i >= 0 {
				return lookup(v[i], rest)
			}
			return nil, false
		}
		if i, err := strconv.Atoi(head); err == nil && i >= 0 && i < len(v) {
			return lookup(v[i], rest)
		}
	}
	return nil, false
}
