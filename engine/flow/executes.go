package flow

import (
	"plexus/engine/decide"
	"plexus/engine/observe"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// execution is what the tap knows of an operator that this node executes.
type execution struct {
	kind     vocab.EntityKind
	name     string
	schedule uint64
}

// began tells the tap that this node executes an operator from now on, or goes on
// under another schedule. d.installing is held.
func (d *Domain) began(kind vocab.EntityKind, name string, everywhere bool, rev *decide.Revision) {
	key := kind.Snake() + " " + name
	if old, known := d.executing[key]; d.deps.Tap == nil || known && old.schedule == rev.Schedule {
		return
	}
	d.executing[key] = execution{kind, name, rev.Schedule}
	e := observe.Event{Kind: observe.ExecutionStarted, Domain: d.name, Name: name, Text: kind.Snake(), ID: rev.Schedule}
	if everywhere {
		e.Count = 1
	}
	d.deps.Tap.Observe(e)
}

// ended tells the tap that nothing of an operator executes here any more.
func (d *Domain) ended(kind vocab.EntityKind, name string) {
	key := kind.Snake() + " " + name
	if _, known := d.executing[key]; known {
		delete(d.executing, key)
		d.deps.Tap.Observe(observe.Event{Kind: observe.ExecutionEnded, Domain: d.name, Name: name, Text: kind.Snake()})
	}
}

// goesOn tells the tap under which schedule everything executes that the
// installation kept.
func (d *Domain) goesOn(rev *decide.Revision) {
	for _, p := range local(d, rev.Relays, relayPlace) {
		if rev.Running {
			d.began(vocab.EntityRelay, p.Name, p.Everywhere, rev)
		}
	}
	for _, key := range primitives.SortedKeys(d.executing) {
		switch x := d.executing[key]; x.kind {
		case vocab.EntityIngestor:
			d.began(x.kind, x.name, d.ingestors[x.name].plan.Everywhere, rev)
		case vocab.EntityJunction:
			d.began(x.kind, x.name, d.junctions[x.name].plan.Everywhere, rev)
		case vocab.EntityEmitter:
			d.began(x.kind, x.name, d.emitters[x.name].plan.Everywhere, rev)
		}
	}
}
