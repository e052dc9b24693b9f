package exchange

import "plexus/primitives/planted"

// positions are the places of entries whose rows have shares. A place is used
// again under the next generation, and never when it has run out of them: an old
// report finds another generation, not another delivery.
type positions struct {
	most        int
	generations uint32
	entries     []position
	free        []uint32
}

type position struct {
	generation uint32
	holder     *dispatch
}

func (p *positions) take(d *dispatch) (Registration, bool) {
	if n := len(p.free); n > 0 {
		at := p.free[n-1]
		p.free = p.free[:n-1]
		p.entries[at].holder = d
		return Registration{at, p.entries[at].generation}, true
	}
	if len(p.entries) >= p.most {
		return Registration{}, false
	}
	p.entries = append(p.entries, position{1, d})
	return Registration{uint32(len(p.entries) - 1), 1}, true
}

func (p *positions) give(r Registration) {
	e := &p.entries[r.Position]
	e.holder = nil
	if e.generation >= p.generations {
		generationsOver.Hit()
		return
	}
	if !planted.Active(planted.ReusePosition) {
		e.generation++
	}
	p.free = append(p.free, r.Position)
}

// find returns the entry of a registration, if it is still the one.
func (p *positions) find(r Registration) *dispatch {
	if int(r.Position) >= len(p.entries) || p.entries[r.Position].generation != r.Generation {
		return nil
	}
	return p.entries[r.Position].holder
}

// used is how many positions hold an entry.
func (p *positions) used() (n int) {
	for i := range p.entries {
		if p.entries[i].holder != nil {
			n++
		}
	}
	return n
}
