package oracle

import (
	"testing"

	"plexus/engine/observe"
)

func TestRelaysFanOutInOrder(t *testing.T) {
	admitted := func(id uint64) observe.Event { return observe.Event{Kind: observe.RelayAdmitted, Name: "r", ID: id} }
	dispatched := func(id uint64) observe.Event {
		return observe.Event{Kind: observe.RelayDispatched, Name: "r", ID: id}
	}
	dropped := func(id uint64) observe.Event { return observe.Event{Kind: observe.RelayDropped, Name: "r", ID: id} }
	for _, c := range []struct {
		name   string
		events []observe.Event
		wrong  bool
	}{
		{"in order", []observe.Event{admitted(1), admitted(2), dispatched(1), dispatched(2)}, false},
		{"twice", []observe.Event{admitted(1), dispatched(1), dispatched(1)}, true},
		{"one left out", []observe.Event{admitted(1), admitted(2), dispatched(2)}, true},
		{"one that failed before", []observe.Event{admitted(1), admitted(2), admitted(3), dropped(1), dropped(2), dispatched(3)}, false},
		{"one that failed while another was fanned out", []observe.Event{admitted(1), admitted(2), dropped(2), dispatched(1), admitted(3), dispatched(3)}, false},
		{"one that failed and is fanned out", []observe.Event{admitted(1), dropped(1), dispatched(1)}, true},
	} {
		wrong := false
		o := NewRelays(func(string, string) { wrong = true }, nil)
		for _, e := range c.events {
			o.Observe(e)
		}
		if wrong != c.wrong {
			t.Errorf("%s: wrong is %v", c.name, wrong)
		}
	}
}
