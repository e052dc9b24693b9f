package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"plexus/engine/observe"
)

// Exchange checks deliveries between nodes from both of their ends: what the
// sender says of a delivery against what the receiver did with it.
//
// It checks: one verdict per identity, and the same one at both ends; admission
// once, and only of what the graph took; nothing taken after its sender was told
// that nothing was or will be; rows resolved by reports of that very delivery, each
// once and as the graph ended it; silence counted over exactly the sweeps that
// happened; one undecided batch per channel, taken in order; a delivery without
// room held and never refused; and no dispatch beyond five minutes and a request.
type Exchange struct {
	Now func() time.Duration // virtual time, nil where nothing flows at the end

	fail       Fail
	silence    int // sweeps
	admission  int // sweeps
	deliveries map[deliveryID]*delivery
	slots      map[slotID]deliveryID // undecided, at the sender
	taken      map[slotID]deliveryID // the last one, at the receiver
	running    map[string]*ExchangeEnd
}

type deliveryID struct {
	sender, receiver      uint64 // runs
	incarnation, sequence uint64
}

type slotID struct {
	sender, receiver uint64
	role             int
	domain, relay    string
	branch           string
}

type delivery struct {
	slot     slotID
	number   uint64
	rows     int
	offered  int // sweeps of the sender before
	at       time.Duration
	decided  string
	nothing  bool // its sender was told that no row was or will be seen
	verdict  string
	graph    bool // took it
	held     bool
	refused  bool
	open     bool // rows may still be resolved
	heard    bool
	silent   int
	far      []ending
	near     []bool
	reported bool // the sender offered it: the receiver's events have a counterpart
}

// ending is how the graph ended a row.
type ending uint8

const (
	endingOpen ending = iota
	endingOK
	endingFailed
)

// The bounds of the exchange, in sweeps of the sender; admission has a request
// and what is lost between two sweeps on top.
const (
	exchangeSilence   = 15
	exchangeAdmission = 5*60 + 10 + 5
)

// NewExchange returns an oracle over every process of a cluster.
func NewExchange(fail Fail) *Exchange {
	return &Exchange{
		fail: fail, silence: exchangeSilence, admission: exchangeAdmission, deliveries: map[deliveryID]*delivery{},
		slots: map[slotID]deliveryID{}, taken: map[slotID]deliveryID{}, running: map[string]*ExchangeEnd{},
	}
}

// ExchangeEnd is the tap of one process.
type ExchangeEnd struct {
	o      *Exchange
	node   string
	run    uint64
	sweeps int
	open   []deliveryID // of this sender, in the order of offering
}

// Process returns the tap of the next process of a node.
func (o *Exchange) Process(node string) *ExchangeEnd {
	p := &ExchangeEnd{o: o, node: node}
	o.running[node] = p
	return p
}

// Observe implements observe.Tap.
func (p *ExchangeEnd) Observe(e observe.Event) {
	switch e.Kind {
	case observe.ExchangeStarted:
		p.run = e.Run
	case observe.DeliveriesSwept:
		p.swept()
	case observe.DeliveryOffered, observe.DeliveryDecided, observe.DeliveryHeard, observe.DeliveryResolved, observe.DeliverySilent, observe.DeliveryEnded:
		p.sent(deliveryID{p.run, e.Run, e.Tree, e.ID}, e)
	case observe.DeliveryGranted, observe.DeliveryReceived, observe.DeliveryTaken, observe.DeliveryVerdict, observe.DeliveryRows, observe.DeliveryHeld, observe.DeliveryRefused:
		p.arrived(deliveryID{e.Run, p.run, e.Tree, e.ID}, e)
	}
}

func (o *Exchange) delivery(id deliveryID) *delivery {
	d := o.deliveries[id]
	if d == nil {
		d = &delivery{}
		o.deliveries[id] = d
	}
	return d
}

func (o *Exchange) violated(name string, id deliveryID, format string, args ...any) {
	o.fail(name, fmt.Sprintf("delivery %d of channel incarnation %d: ", id.sequence, id.incarnation)+fmt.Sprintf(format, args...))
}

// sent takes an event of the sender.
func (p *ExchangeEnd) sent(id deliveryID, e observe.Event) {
	o := p.o
	d := o.delivery(id)
	switch e.Kind {
	case observe.DeliveryOffered:
		p.offered(id, d, e)
	case observe.DeliveryHeard:
		d.heard = true
	case observe.DeliveryDecided:
		p.decided(id, d, e)
	case observe.DeliverySilent:
		if d.silent != o.silence {
			o.violated("remote-silence", id, "its rows fail after %d silent sweeps", d.silent)
		}
	case observe.DeliveryResolved:
		p.resolved(id, d, e)
	case observe.DeliveryEnded:
		d.open = false
		d.far, d.near = nil, nil
		p.open = slices.DeleteFunc(p.open, func(other deliveryID) bool { return other == id })
	}
}

func (p *ExchangeEnd) offered(id deliveryID, d *delivery, e observe.Event) {
	o := p.o
	if d.reported {
		o.violated("one-verdict", id, "the identity is offered again")
	}
	d.reported, d.number, d.rows, d.offered, d.heard = true, e.Hash, e.Count, p.sweeps, true
	if o.Now != nil {
		d.at = o.Now()
	}
	d.slot = slotID{id.sender, id.receiver, e.Depth, e.Domain, e.Name, e.Text}
	if other, busy := o.slots[d.slot]; busy {
		o.violated("slots", id, "it is offered while delivery %d of incarnation %d is undecided", other.sequence, other.incarnation)
	}
	o.slots[d.slot] = id
	p.open = append(p.open, id)
}

func (p *ExchangeEnd) decided(id deliveryID, d *delivery, e observe.Event) {
	o := p.o
	if d.decided != "" {
		o.violated("one-verdict", id, "its sender decides %s after %s", e.Text, d.decided)
	}
	d.decided, d.nothing = e.Text, e.Count == 1
	delete(o.slots, d.slot)
	if waited := p.sweeps - d.offered; waited > o.admission {
		o.violated("five-minutes", id, "it was undecided over %d sweeps", waited)
	}
	switch {
	case e.Text == "admitted" && (!d.graph || d.verdict != "admitted"):
		o.violated("one-verdict", id, "its sender says admitted, the receiver decided %q and its graph took it: %v", d.verdict, d.graph)
	case d.nothing && (d.graph || d.verdict == "admitted"):
		o.violated("admission-atomicity", id, "its sender says that no row was seen (%s), the graph took it", e.Text)
	case e.Text == "refused" && d.held && !d.refused && d.verdict == "":
		o.violated("held-not-refused", id, "it found no room and was refused")
	}
	if e.Text == "admitted" && d.number != 0 {
		d.open, d.heard, d.silent = true, true, 0
		d.near = make([]bool, d.rows)
		return
	}
	p.open = slices.DeleteFunc(p.open, func(other deliveryID) bool { return other == id })
}

// resolved compares the outcome of rows with what the graph said of them.
func (p *ExchangeEnd) resolved(id deliveryID, d *delivery, e observe.Event) {
	o := p.o
	if !d.open {
		o.violated("run-identity", id, "rows are resolved while none is open")
		return
	}
	rows := e.Rows
	if rows == nil {
		for r := range int32(d.rows) {
			rows = append(rows, r)
		}
	}
	want := endingOK
	if e.Count == 1 {
		want = endingFailed
	}
	for _, r := range rows {
		if int(r) >= d.rows || d.near[r] {
			continue
		}
		d.near[r] = true
		if e.Row == 1 {
			if want != endingFailed {
				o.violated("run-identity", id, "row %d succeeded without a report", r)
			}
			continue
		}
		if e.Hash != d.number {
			o.violated("run-identity", id, "a report of another registration resolves row %d", r)
		}
		far := endingOpen
		if int(r) < len(d.far) {
			far = d.far[r]
		}
		if far != want {
			o.violated("run-identity", id, "row %d is resolved as %d, the graph ended it as %d", r, want, far)
		}
	}
}

// swept counts one sweep of the sender.
func (p *ExchangeEnd) swept() {
	p.sweeps++
	for _, id := range p.open {
		d := p.o.deliveries[id]
		switch {
		case d.heard:
			d.heard, d.silent = false, 0
			continue
		case d.open && d.silent >= p.o.silence:
			p.o.violated("remote-silence", id, "its rows are open after %d silent sweeps", d.silent)
		}
		d.silent++
	}
}

// arrived takes an event of the receiver.
func (p *ExchangeEnd) arrived(id deliveryID, e observe.Event) {
	o := p.o
	d := o.delivery(id)
	switch e.Kind {
	case observe.DeliveryHeld:
		d.held = true
	case observe.DeliveryRefused:
		d.refused = true
	case observe.DeliveryTaken:
		p.took(id, d)
	case observe.DeliveryVerdict:
		if d.verdict != "" {
			o.violated("one-verdict", id, "its receiver decides %s after %s", e.Text, d.verdict)
		}
		d.verdict = e.Text
		if (e.Text == "admitted") != d.graph {
			o.violated("admission-atomicity", id, "its receiver decides %s, the graph took it: %v", e.Text, d.graph)
		}
	case observe.DeliveryRows:
		if d.far == nil {
			d.far = make([]ending, max(d.rows, 1))
		}
		rows := e.Rows
		if rows == nil {
			for r := range int32(d.rows) {
				rows = append(rows, r)
			}
		}
		for _, r := range rows {
			if int(r) >= len(d.far) {
				continue
			}
			if d.far[r] != endingOpen {
				o.violated("run-identity", id, "the graph ended row %d twice", r)
			}
			d.far[r] = endingOK + ending(e.Count)
		}
	}
}

// took checks what the graph took.
func (p *ExchangeEnd) took(id deliveryID, d *delivery) {
	o := p.o
	if d.graph {
		o.violated("duplicate-admission", id, "the graph took it twice")
	}
	d.graph = true
	if d.nothing {
		o.violated("admission-atomicity", id, "the graph took it after its sender was told %s", d.decided)
	}
	if !d.reported {
		o.violated("run-identity", id, "the graph took what nobody offered")
		return
	}
	if last, some := o.taken[d.slot]; some && cmp.Or(cmp.Compare(last.incarnation, id.incarnation), cmp.Compare(last.sequence, id.sequence)) >= 0 {
		o.violated("channel-order", id, "the graph took it after delivery %d of incarnation %d", last.sequence, last.incarnation)
	}
	o.taken[d.slot] = id
}

// underWay is how long a delivery may be undecided in a cluster that is well: records
// may still flow at the quiet end.
const underWay = 10 * time.Second

// Settled is the oracle of the quiet end: no process that runs has an undecided
// delivery, beside those that are under way where Now is set.
func (o *Exchange) Settled() Oracle {
	return Oracle{Name: "deliveries-settled", Quiet: func() error {
		n := 0
		for _, p := range o.running { //plexus:orderfree counts
			for _, id := range p.open {
				d := o.deliveries[id]
				if d.decided == "" && (o.Now == nil || o.Now()-d.at > underWay) {
					n++
				}
			}
		}
		if n > 0 {
			return fmt.Errorf("%d deliveries are undecided after everything had healed", n)
		}
		return nil
	}}
}

var _ observe.Tap = (*ExchangeEnd)(nil)
