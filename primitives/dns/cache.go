package dns

import (
	"container/list"
	"net/netip"
	"time"

	"plexus/primitives"
)

// question is one name, lower-case and without its final dot, and record type.
type question struct {
	name string
	kind uint16
}

// answer is what a server said: addresses, or a negative outcome.
type answer struct {
	addrs    []netip.Addr
	negative *failure
	ttl      time.Duration
}

// cache keeps answers until they expire or the least recently used one has to
// make room.
type cache struct {
	entries map[question]*list.Element
	recent  *list.List // of *cached, the most recently used in front
}

type cached struct {
	question
	answer
	expires primitives.Instant
}

func newCache() *cache {
	return &cache{entries: map[question]*list.Element{}, recent: list.New()}
}

func (c *cache) get(q question, now primitives.Instant) (answer, bool) {
	e, ok := c.entries[q]
	if !ok {
		return answer{}, false
	}
	entry := e.Value.(*cached)
	if !now.Before(entry.expires) {
		c.remove(e)
		return answer{}, false
	}
	c.recent.MoveToFront(e)
	return entry.answer, true
}

func (c *cache) put(q question, a answer, now primitives.Instant) {
	longest := positiveTTLMax
	if a.negative != nil {
		longest = negativeTTLMax
	}
	ttl := min(a.ttl, longest)
	if e, ok := c.entries[q]; ok {
		c.remove(e)
	}
	if ttl <= 0 {
		return
	}
	if c.recent.Len() == cacheEntriesMax {
		c.remove(c.recent.Back())
	}
	c.entries[q] = c.recent.PushFront(&cached{question: q, answer: a, expires: now.Add(ttl)})
}

func (c *cache) remove(e *list.Element) {
	delete(c.entries, e.Value.(*cached).question)
	c.recent.Remove(e)
}
