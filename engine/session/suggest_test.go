package session

import (
	"testing"

	"github.com/zeebo/xxh3"

	"plexus/engine/session/sessionpb"
)

// TestPages cuts a list and refuses continuations of another one.
func TestPages(t *testing.T) {
	of := func(bound string) *page {
		p := &page{size: 3, of: xxh3.New()}
		p.bind(bound)
		return p
	}
	_, last, next, status, err := of("a").cut("", 7)
	if last != 3 || next == "" || status != sessionpb.SuggestStatus_READY || err != nil {
		t.Errorf("first page: %d %q %v %v", last, next, status, err)
	}
	first, last, after, _, _ := of("a").cut(next, 7)
	if first != 3 || last != 6 || after == "" {
		t.Errorf("second page: %d to %d, %q", first, last, after)
	}
	if first, last, end, _, _ := of("a").cut(after, 7); first != 6 || last != 7 || end != "" {
		t.Errorf("last page: %d to %d, %q", first, last, end)
	}
	if _, _, _, status, err := of("b").cut(next, 7); status != sessionpb.SuggestStatus_STALE_CONTEXT || err != nil {
		t.Errorf("another list: %v %v", status, err)
	}
	if _, _, _, _, err := of("a").cut("x", 7); err == nil {
		t.Error("a continuation of nobody passed")
	}
}
