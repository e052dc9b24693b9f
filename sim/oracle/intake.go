package oracle

// Intake is the order in which records arrived at the sources of a domain. The
// processes of a cluster share one, because an emitter may run on another node
// than the source.
type Intake struct {
	first []arrival
	more  map[uint64][]arrival // of records that arrived more than once
	count uint64
	lanes uint32
	// era counts the turns at which records may have begun to take another way
	// through the cluster. The order of what arrived before one is not known behind
	// it: an old owner that was given up may still pass something on.
	era uint32
}

// arrival is one copy of a record: when, and at which source; zero is none.
type arrival struct {
	at        uint64
	lane, era uint32
}

// NewIntake returns an intake that saw nothing.
func NewIntake() *Intake { return &Intake{more: map[uint64][]arrival{}} }

// lane returns a number for one instance of a source in one process.
func (l *Intake) lane() uint32 {
	l.lanes++
	return l.lanes
}

// Turn says that records may take another way from now on.
func (l *Intake) Turn() { l.era++ }

// add notes a copy of a record.
func (l *Intake) add(number uint64, lane uint32) {
	l.count++
	a := arrival{l.count, lane, l.era}
	for uint64(len(l.first)) <= number {
		l.first = append(l.first, arrival{})
	}
	if l.first[number].at == 0 {
		l.first[number] = a
		return
	}
	l.more[number] = append(l.more[number], a)
}

// behind returns the copies of a record that arrived after what was last offered
// of their source: how many, and one of them. known is false when the order of a
// copy is not.
func (l *Intake) behind(number uint64, offered map[uint32]uint64) (n int, one arrival, known bool) {
	known = true
	consider := func(a arrival) {
		switch {
		case a.at == 0:
		case a.era != l.era:
			known = false
		case a.at > offered[a.lane]:
			n, one = n+1, a
		}
	}
	if number < uint64(len(l.first)) {
		consider(l.first[number])
	}
	for _, a := range l.more[number] {
		consider(a)
	}
	return n, one, known
}
