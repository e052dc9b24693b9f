package exchange

// budget is memory of one direction, reserved before it is allocated.
//
// No relay may hold more than is left free: however many of them are congested,
// one that holds nothing finds room. Otherwise bodies that wait for a full relay
// could keep out those whose flow would empty it.
type budget struct {
	size    int64
	used    int64
	watches int64 // of used
	watched int64 // what watches may use
	relays  map[relayKey]int64
}

type relayKey struct{ domain, relay string }

func newBudget(size, watched int64) budget {
	return budget{size: size, watched: watched, relays: map[relayKey]int64{}}
}

// fits says whether a body and its watch can be reserved now.
func (b *budget) fits(r relayKey, body, watch int64) bool {
	free := b.size - b.used
	if body+watch > free || b.watches+watch > b.watched {
		return false
	}
	held := b.relays[r]
	return held == 0 || held+body <= free
}

// possible says whether it could ever be reserved.
func (b *budget) possible(body, watch int64) bool { return body+watch <= b.size && watch <= b.watched }

func (b *budget) take(r relayKey, body, watch int64) {
	b.used += body + watch
	b.watches += watch
	if body > 0 {
		b.relays[r] += body
	}
}

func (b *budget) give(r relayKey, body, watch int64) {
	b.used -= body + watch
	b.watches -= watch
	if body > 0 {
		if b.relays[r] -= body; b.relays[r] == 0 {
			delete(b.relays, r)
		}
	}
}
