package quiesce

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"plexus/nspl/vocab"
)

func TestDrainErrorNamesTheLargestBlockers(t *testing.T) {
	emitter := Entity{vocab.EntityEmitter, "ledger_out"}
	looks := []Look{
		{Blockers: []Blocker{{emitter, Publishes, 2}, {Entity{vocab.EntityIngestor, "feed"}, Roots, 1}}},
		{Blockers: []Blocker{{emitter, Publishes, 1}, {Entity{vocab.EntityIngestor, "other"}, Roots, 1}}},
	}
	err := &DrainError{Domain: "orders", After: time.Minute, Blockers: merge(looks)}
	want := "timed out draining domain 'orders' after 60s: emitter 'ledger_out' is publishing (3 payloads), 2 acknowledgement roots outstanding"
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	for n := range 13 {
		looks = append(looks, Look{Blockers: []Blocker{{Entity{vocab.EntityRelay, fmt.Sprint("r", n)}, RelayBatches, uint64(10 + n)}}})
	}
	err.Blockers = merge(looks)
	text := err.Error()
	if !strings.Contains(text, "60s: relay 'r12' holds 22 batches, relay 'r11' holds 21 batches") || !strings.HasSuffix(text, "relay 'r3' holds 13 batches and 5 more") {
		t.Error(text)
	}
	err.Blockers = nil
	if err.After = 1500 * time.Millisecond; err.Error() != "timed out draining domain 'orders' after 1.5s: force flush did not finish" {
		t.Error(err)
	}
}

func TestBlockersInWords(t *testing.T) {
	for want, b := range map[string]Blocker{ //plexus:orderfree each for itself
		"1 acknowledgement root outstanding":    {Entity{}, Roots, 1},
		"relay 'x' is dispatching 1 batch":      {Entity{vocab.EntityRelay, "x"}, Dispatches, 1},
		"junction 'x' is working on 2 batches":  {Entity{vocab.EntityJunction, "x"}, NodeBatches, 2},
		"emitter 'x' holds 1 row":               {Entity{vocab.EntityEmitter, "x"}, EmitterRows, 1},
		"emitter 'x' is publishing (1 payload)": {Entity{vocab.EntityEmitter, "x"}, Publishes, 1},
	} {
		if b.String() != want {
			t.Errorf("%q, want %q", b, want)
		}
	}
}
