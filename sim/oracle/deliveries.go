package oracle

import (
	"bytes"
	"fmt"
	"strings"

	"plexus/sim/brokers"
)

// Fail ends a run: the named oracle saw what must not be.
type Fail func(oracle, message string)

// Deliveries follows numbered records from a source to the leaves of a graph:
// the external systems that must have confirmed a record before its position may
// be acknowledged. It knows what the systems' ledgers say, and what a reference
// of the pipeline says of each number; nothing of it comes from a node.
type Deliveries struct {
	fail   Fail
	names  []string                  // of the leaves, by bit
	expect func(number uint64) uint8 // the leaves of a record
	check  func(document []byte, leaf uint8, number uint64) bool
	number func(document []byte) (uint64, bool)

	records      []delivered // by number
	due          int         // records that count in the end
	sourced      int
	acknowledged int
	repeated     int // confirmations beyond the first, over all leaves
}

// delivered is what is known of one record.
type delivered struct {
	sourced      bool
	acknowledged bool
	reached      uint8 // leaves that confirmed it
}

// Reference says what a pipeline makes of a record.
type Reference struct {
	Leaves []string                  // names of the leaves, by bit
	Expect func(number uint64) uint8 // the leaves a record must reach, and no other
	// Number reads the number of a document that a leaf got; Check reports whether
	// the document is what the leaf must show.
	Number func(document []byte) (uint64, bool)
	Check  func(document []byte, leaf uint8, number uint64) bool
}

// NewDeliveries returns an oracle that has seen nothing.
func NewDeliveries(fail Fail, r Reference) *Deliveries {
	return &Deliveries{fail: fail, names: r.Leaves, expect: r.Expect, check: r.Check, number: r.Number}
}

func (d *Deliveries) record(number uint64) *delivered {
	for uint64(len(d.records)) <= number {
		d.records = append(d.records, delivered{})
	}
	return &d.records[number]
}

// Sourced notes that the source holds a record.
func (d *Deliveries) Sourced(number uint64) {
	if r := d.record(number); !r.sourced {
		r.sourced = true
		d.sourced++
	}
}

// Acknowledged checks that every leaf has confirmed the record whose position
// the source was told to forget: no acknowledged loss.
func (d *Deliveries) Acknowledged(number uint64) {
	r := d.record(number)
	if missing := d.missing(number); missing != 0 {
		d.fail("no-acknowledged-loss", fmt.Sprintf("record %d was acknowledged before %s confirmed it", number, d.words(missing)))
		return
	}
	if !r.acknowledged {
		r.acknowledged = true
		d.acknowledged++
	}
}

// Complete reports whether every leaf has confirmed the record.
func (d *Deliveries) Complete(number uint64) bool { return d.missing(number) == 0 }

func (d *Deliveries) missing(number uint64) uint8 {
	return d.expect(number) &^ d.record(number).reached
}

// Stored checks a document that a leaf got: a record of the source, at a leaf it
// belongs to, as the reference has it.
func (d *Deliveries) Stored(leaf uint8, document []byte) {
	number, ok := d.number(document)
	switch {
	case !ok || !d.record(number).sourced:
		d.fail("nothing-invented", fmt.Sprintf("%s got a document of no record: %.120q", d.words(leaf), document))
	case d.expect(number)&leaf == 0:
		d.fail("one-route", fmt.Sprintf("%s got record %d, which belongs to %s", d.words(leaf), number, d.words(d.expect(number))))
	case !d.check(document, leaf, number):
		d.fail("right-values", fmt.Sprintf("%s shows record %d as %.120q", d.words(leaf), number, document))
	}
}

// Reached notes that a leaf has confirmed a document to the node.
func (d *Deliveries) Reached(leaf uint8, document []byte) {
	number, ok := d.number(document)
	if !ok {
		return // Stored has complained
	}
	r := d.record(number)
	if r.reached&leaf != 0 {
		d.repeated++
	}
	r.reached |= leaf
}

func (d *Deliveries) words(leaves uint8) string {
	var list []string
	for i, name := range d.names {
		if leaves&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return "no leaf"
	}
	return strings.Join(list, " and ")
}

// Sourced, acknowledged and repeated so far.
func (d *Deliveries) Counts() (sourced, acknowledged, repeated int) {
	return d.sourced, d.acknowledged, d.repeated
}

// Due says that the records so far are those that must be delivered in the end:
// their source never ends.
func (d *Deliveries) Due() { d.due = len(d.records) }

// Everything is the oracle of liveness: once all has been quiet for long enough,
// every record of the source is where it belongs. acknowledges says that its
// source waits for acknowledgements.
func (d *Deliveries) Everything(acknowledges bool) Oracle {
	return Oracle{Name: "everything-delivered", Quiet: func() error {
		for number := range d.records {
			r := &d.records[number]
			if d.due > 0 && number >= d.due {
				break
			}
			if !r.sourced {
				continue
			}
			if missing := d.missing(uint64(number)); missing != 0 {
				return fmt.Errorf("record %d of %d never reached %s", number, d.sourced, d.words(missing))
			}
			if acknowledges && !r.acknowledged {
				return fmt.Errorf("record %d of %d was delivered and never acknowledged", number, d.sourced)
			}
		}
		return nil
	}}
}

// Once is the oracle for runs in which nothing went wrong: no leaf confirmed a
// record twice.
func (d *Deliveries) Once(undisturbed func() bool) Oracle {
	return Oracle{Name: "duplicates-have-causes", Quiet: func() error {
		if d.repeated > 0 && undisturbed() {
			return fmt.Errorf("%d records were delivered again although nothing went wrong", d.repeated)
		}
		return nil
	}}
}

// Sink is a channel of a ledger that is a leaf.
type Sink struct {
	Channel string
	Leaf    uint8
	// Documents calls each with every document of a payload and returns false when
	// the payload is none; nil where a payload is one document.
	Documents func(payload []byte, each func(document []byte)) bool
}

// Sinks feeds the oracle with what a ledger says of its sinks.
func (d *Deliveries) Sinks(ledger *brokers.Ledger, sinks ...Sink) func(brokers.Event) {
	channels := make([]*brokers.Channel, len(sinks))
	for i := range sinks {
		channels[i] = ledger.Channel(sinks[i].Channel)
	}
	return func(e brokers.Event) {
		for i := range sinks {
			if e.Channel == channels[i] {
				d.sink(&sinks[i], e)
				return
			}
		}
	}
}

func (d *Deliveries) sink(s *Sink, e brokers.Event) {
	var each func(document []byte)
	switch e.Kind {
	case brokers.Stored:
		each = func(document []byte) { d.Stored(s.Leaf, document) }
	case brokers.Answered, brokers.Duplicate:
		each = func(document []byte) { d.Reached(s.Leaf, document) }
	default:
		return
	}
	payload := e.Channel.Message(e.Seq).Payload
	if s.Documents == nil {
		each(payload)
		return
	}
	if !s.Documents(payload, each) {
		d.fail("right-values", fmt.Sprintf("%s got a payload that is no list of documents: %.120q", d.words(s.Leaf), payload))
	}
}

// Source feeds the oracle with what a ledger says of the channel the records come
// from. The number of a record is its sequence.
func (d *Deliveries) Source(channel *brokers.Channel) func(brokers.Event) {
	return func(e brokers.Event) {
		if e.Channel != channel {
			return
		}
		switch e.Kind {
		case brokers.Stored:
			d.Sourced(e.Seq)
		case brokers.Acknowledged:
			d.Acknowledged(e.Seq)
		}
	}
}

// JSONArray is the Documents of payloads that are arrays of flat documents whose
// texts hold no brace.
func JSONArray(payload []byte, each func(document []byte)) bool {
	if len(payload) < 2 || payload[0] != '[' || payload[len(payload)-1] != ']' {
		return false
	}
	rest := payload[1 : len(payload)-1]
	for len(rest) > 0 {
		end := bytes.IndexByte(rest, '}') + 1
		if rest[0] != '{' || end == 0 {
			return false
		}
		each(rest[:end])
		if rest = rest[end:]; len(rest) > 0 {
			if rest[0] != ',' {
				return false
			}
			rest = rest[1:]
		}
	}
	return true
}
