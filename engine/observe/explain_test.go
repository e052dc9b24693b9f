package observe

import (
	"errors"
	"fmt"
	"testing"
)

// layer adds its own words only.
type layer struct {
	words string
	cause error
}

func (l *layer) Error() string { return l.words }
func (l *layer) Unwrap() error { return l.cause }

func TestExplain(t *testing.T) {
	root := errors.New("connection refused")
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{root, "connection refused"},
		{&layer{"publish failed", &layer{"dial failed", root}}, "publish failed: dial failed: connection refused"},
		{fmt.Errorf("dial 10.0.0.1: %w", root), "dial 10.0.0.1: connection refused"},
		{&layer{"publish failed", fmt.Errorf("dial 10.0.0.1: %w", root)}, "publish failed: dial 10.0.0.1: connection refused"},
		{&layer{"both failed", errors.Join(errors.New("one"), errors.New("two"))}, "both failed: one\ntwo"},
	} {
		if got := Explain(c.err); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
