package ack

import (
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"plexus/engine/observe"
)

func (l *outcomeLog) report(n int, rows []int32, o Outcome) {
	if rows == nil {
		for r := range int32(n) {
			l.rows[r] = append(l.rows[r], o)
		}
		return
	}
	for _, r := range rows {
		l.rows[r] = append(l.rows[r], o)
	}
}

// compare checks that exactly the rows that ended were reported, once.
func (l *outcomeLog) compare(t *rapid.T, ref *refTree) {
	for row := range ref.roots {
		r, got := &ref.roots[row], l.rows[int32(row)]
		ended := r.failed || r.pending == 0
		switch {
		case ended != (len(got) == 1):
			t.Fatalf("row %d has %d reports, ended %v", row, len(got), ended)
		case ended && (got[0].Failed != r.failed || got[0].Reason.Text != r.reason):
			t.Fatalf("row %d: %v, reference %+v", row, got[0], *r)
		}
	}
}

// each calls f for the shares of the rows of a forwarded set that are open and,
// when rows is not nil, listed; it returns their number.
func (p *forwardPair) each(rows []int32, f func(s refShare)) int {
	var hit refSet
	n := 0
	for i, shares := range p.ref {
		if !p.resolved[i] && (rows == nil || slices.Contains(rows, int32(i))) {
			hit = append(hit, shares)
			n++
		}
	}
	hit.each(f)
	return n
}

func (h *harness) report(t *rapid.T) {
	if len(h.forwards) == 0 {
		t.Skip()
	}
	i := rapid.IntRange(0, len(h.forwards)-1).Draw(t, "forward")
	p := &h.forwards[i]
	rows := drawRows(t, len(p.ref))
	if rapid.IntRange(0, 2).Draw(t, "rows") == 0 {
		rows = nil
	}
	out := Outcome{Failed: rapid.Bool().Draw(t, "failed")}
	if out.Failed {
		out.Reason = Reason{ClassSilence, rapid.SampledFrom([]string{"far", "lost"}).Draw(t, "why")}
	}
	n := p.f.Resolve(rows, h.now, out)
	want := p.each(rows, func(s refShare) {
		r := &s.tree.roots[s.root]
		if *p.parked {
			r.parked--
		}
		if out.Failed {
			s.tree.fail(s.root, out.Reason.Text)
		}
		r.pending--
		r.progress = h.now
	})
	for row := range p.ref {
		if rows == nil || slices.Contains(rows, int32(row)) {
			p.resolved[row] = true
		}
	}
	left := 0
	for _, done := range p.resolved {
		if !done {
			left++
		}
	}
	if n != want || p.f.Open() != left {
		t.Fatalf("resolved %d rows, %d open; reference %d and %d", n, p.f.Open(), want, left)
	}
	if left == 0 {
		h.forwards = slices.Delete(h.forwards, i, i+1)
	}
}

func (h *harness) refresh(t *rapid.T) {
	if len(h.forwards) == 0 {
		t.Skip()
	}
	p := &h.forwards[rapid.IntRange(0, len(h.forwards)-1).Draw(t, "forward")]
	switch rapid.IntRange(0, 2).Draw(t, "what") {
	case 0:
		rows := drawRows(t, len(p.ref))
		if rapid.Bool().Draw(t, "all") {
			rows = nil
		}
		p.f.Touch(rows, h.now)
		p.each(rows, func(s refShare) { s.tree.roots[s.root].progress = h.now })
	case 1:
		p.f.Park()
		if !*p.parked {
			p.each(nil, func(s refShare) { s.tree.roots[s.root].parked++ })
		}
		*p.parked = true
	default:
		p.f.Unpark()
		if *p.parked {
			p.each(nil, func(s refShare) { s.tree.roots[s.root].parked-- })
		}
		*p.parked = false
	}
}

func TestBareRows(t *testing.T) {
	l := NewLedger("d", observe.NewRegistry(), nil)
	_, a := l.Open(2, 0, func(Outcome) {})
	_, b := l.Open(1, 0, func(Outcome) {})
	s := Join([]*Set{nil, a, nil, b}, []int{1, 2, 3, 1})
	if got := s.Bare(); !slices.Equal(got, []int32{0, 3, 4, 5}) {
		t.Fatalf("bare rows %v", got)
	}
	s.OK(0)
	_, c := l.Open(3, 0, func(Outcome) {})
	if got := c.Bare(); got != nil {
		t.Fatalf("bare rows %v of a set that covers all", got)
	}
	c.OK(0)
}

func TestStanding(t *testing.T) {
	l := NewLedger("d", observe.NewRegistry(), nil)
	tree, set := l.Watch(10, 5, func([]int32, Outcome) {})
	held := make([]byte, 2)
	if s := tree.Standing(6, held); s != (Standing{Open: 10}) {
		t.Fatalf("at rest: %+v", s)
	}
	some, rest := set.Partition([]int32{1, 9})
	some.Touch(7)
	if s := tree.Standing(7, held); s != (Standing{Open: 10, Held: 2}) || held[0] != 2 || held[1] != 2 {
		t.Fatalf("after a refresh: %+v %v", s, held)
	}
	rest.OK(8)
	some.Park()
	if s := tree.Standing(9, held); s != (Standing{Open: 2, Parked: true}) {
		t.Fatalf("parked: %+v", s)
	}
	some.Unpark()
	some.OK(9)
	if s := tree.Standing(0, held); s != (Standing{}) {
		t.Fatalf("over: %+v", s)
	}
}

// Many holders of one watched tree on goroutines: every row is reported once, and
// as it ended.
func TestConcurrentWatch(t *testing.T) {
	l := NewLedger("d", observe.NewRegistry(), nil)
	for round := range 300 {
		const rows, holders = 64, 8
		var mu sync.Mutex
		reports := make([]int, rows)
		failures := make([]int, rows)
		_, set := l.Watch(rows, 0, func(list []int32, o Outcome) {
			mu.Lock()
			defer mu.Unlock()
			count := func(r int) {
				reports[r]++
				if o.Failed {
					failures[r]++
				}
			}
			if list == nil {
				for r := range rows {
					count(r)
				}
			}
			for _, r := range list {
				count(int(r))
			}
		})
		fails := round%3 == 0
		var wg sync.WaitGroup
		for h, s := range set.Fork(holders, 1) {
			wg.Go(func() {
				var some []int32
				for i := range int32(rows) {
					if (int(i)+h+round)%(h+2) == 0 {
						some = append(some, i)
					}
				}
				switch h % 4 {
				case 0:
					s.OK(2)
				case 1:
					listed, rest := s.Partition(some)
					rest.OK(2)
					listed.Fork(1, 3)[0].OK(3)
				case 2:
					for _, child := range s.Select(some, 2).Fork(3, 3) {
						child.Touch(4)
						child.OK(4)
					}
				default:
					listed, rest := s.Partition(some)
					rest.OK(2)
					if fails {
						listed.Fail(2, Reason{ClassMessage, "no"})
					} else {
						listed.OK(2)
					}
				}
			})
		}
		wg.Wait()
		for r, n := range reports {
			if n != 1 || !fails && failures[r] > 0 {
				t.Fatalf("round %d row %d: %d reports, %d failures", round, r, n, failures[r])
			}
		}
	}
}

func BenchmarkWatchAgreeing(b *testing.B) {
	l := NewLedger("d", observe.NewRegistry(), nil)
	reported := 0
	b.ReportAllocs()
	for b.Loop() {
		_, s := l.Watch(1024, 0, func([]int32, Outcome) { reported++ })
		for range 3 {
			s = s.Fork(1, 1)[0]
		}
		s.OK(2)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/row")
}

func BenchmarkWatchHalfFiltered(b *testing.B) {
	l := NewLedger("d", observe.NewRegistry(), nil)
	var rows []int32
	for i := int32(0); i < 1024; i += 2 {
		rows = append(rows, i)
	}
	reported := 0
	b.ReportAllocs()
	for b.Loop() {
		_, s := l.Watch(1024, 0, func([]int32, Outcome) { reported++ })
		s = s.Select(rows, 1)
		for _, child := range s.Fork(2, 1) {
			child.OK(2)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/row")
}

func BenchmarkForwardedAgreeing(b *testing.B) {
	l := NewLedger("d", observe.NewRegistry(), nil)
	b.ReportAllocs()
	for b.Loop() {
		_, s := l.Open(1024, 0, func(Outcome) {})
		f := s.Forward()
		f.Touch(nil, 1)
		f.Resolve(nil, 2, Outcome{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/row")
}

func BenchmarkForwardedInPieces(b *testing.B) {
	l := NewLedger("d", observe.NewRegistry(), nil)
	var pieces [16][]int32
	for i := range int32(1024) {
		pieces[i%16] = append(pieces[i%16], i)
	}
	b.ReportAllocs()
	for b.Loop() {
		_, s := l.Open(1024, 0, func(Outcome) {})
		f := s.Forward()
		for _, rows := range pieces {
			f.Resolve(rows, 2, Outcome{})
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/row")
}
