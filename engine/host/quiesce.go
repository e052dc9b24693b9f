package host

import (
	"slices"

	"plexus/connectors/contract"
	"plexus/nspl/vocab"
)

// quiesceBuffer holds raw payloads while intake is held (ON QUIESCE BUFFER). It
// belongs to one instance, which accounts for every change with
// [ingestor.holding].
type quiesceBuffer struct {
	limit      uint64
	dropOldest bool

	held    []payload
	bytes   uint64
	dropped uint64 // payloads that it had taken and gave up
}

func newQuiesceBuffer(q vocab.Quiesce) quiesceBuffer {
	return quiesceBuffer{limit: q.MaxSize.Bytes, dropOldest: q.DropOldest}
}

// size is what a payload weighs: its bytes and its headers', and at least one, so
// that the limit bounds the number of empty ones too.
func (p *payload) size() uint64 {
	n := uint64(len(p.bytes))
	for _, h := range p.headers {
		n += uint64(len(h.Name) + len(h.Value))
	}
	return max(n, 1)
}

// put keeps a copy of the payload and reports whether it stayed. A payload
// larger than the limit never does; otherwise the overflow side decides who
// leaves.
func (b *quiesceBuffer) put(p payload) bool {
	size := p.size()
	if size > b.limit || !b.dropOldest && b.bytes+size > b.limit {
		return false
	}
	for b.bytes+size > b.limit {
		b.bytes -= b.held[0].size()
		b.held = b.held[1:]
		b.dropped++
	}
	b.held = append(b.held, payload{slices.Clone(p.bytes), slices.Clone(p.headers), p.metadata})
	b.bytes += size
	return true
}

// front returns the oldest payload, which stays until pop.
func (b *quiesceBuffer) front() (payload, bool) {
	if len(b.held) == 0 {
		return payload{}, false
	}
	return b.held[0], true
}

// pop removes the oldest payload: its messages are in their group.
func (b *quiesceBuffer) pop() {
	b.bytes -= b.held[0].size()
	b.held[0] = payload{}
	b.held = b.held[1:]
}

// discard gives up everything: the buffer does not outlive its instance.
func (b *quiesceBuffer) discard() {
	b.dropped += uint64(len(b.held))
	b.held, b.bytes = nil, 0
}

// holding makes a change of a quiesce buffer and accounts for it.
func (g *ingestor) holding(b *quiesceBuffer, change func()) {
	held, bytes, dropped := len(b.held), b.bytes, b.dropped
	change()
	g.buffered.Add(len(b.held) - held)
	g.bufferedBytes.Add(int(b.bytes) - int(bytes))
	g.dropped.Add(int(b.dropped - dropped))
}

func fromMessage(m *contract.Message) payload {
	return payload{bytes: m.Payload, headers: m.Headers, metadata: m.Metadata}
}
