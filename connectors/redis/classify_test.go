package redis

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Two error replies are about the record alone; everything else is retried.
func TestRefusals(t *testing.T) {
	for text, want := range map[string]bool{ //plexus:orderfree each case stands alone
		"ERR Protocol error: invalid bulk length":                                         true,
		"ERR string exceeds maximum allowed size (proto-max-bulk-len)":                    true,
		"OOM command not allowed when used memory > 'maxmemory'.":                         false,
		"NOAUTH Authentication required.":                                                 false,
		"READONLY You can't write against a read only replica.":                           false,
		"LOADING Redis is loading the dataset in memory":                                  false,
		"NOPERM User u has no permissions to access the channel used as an argument":      false,
		"ERR Protocol error: too big mbulk count string, which is another protocol error": false,
	} {
		if got := isRefusal(fmt.Errorf("publish: %w", &ReplyError{text})); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if isRefusal(ErrConnectionLost) || isRefusal(errors.New("string exceeds maximum allowed size")) {
		t.Error("what is no reply was taken for a refusal")
	}
}

// A reply may quote what it refuses, so only its first word is shown.
func TestReplyErrorShowsItsCode(t *testing.T) {
	err := &ReplyError{"NOPERM No permissions to access the 'secret' channel"}
	if err.Code() != "NOPERM" || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	if (&ReplyError{"WRONGPASS"}).Code() != "WRONGPASS" {
		t.Error("a reply of one word has no code")
	}
}
