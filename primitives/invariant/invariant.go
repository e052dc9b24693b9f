package invariant

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Violation is the panic value of a broken invariant.
type Violation struct{ What string }

func (v Violation) Error() string { return "invariant violated: " + v.What }

// That panics when the condition does not hold. what names the invariant and
// what is wrong, without payload values: "I2: outcome after resolution".
func That(cond bool, what string) {
	if !cond {
		panic(Violation{what})
	}
}

// Thatf is That with a formatted text, built only on violation.
func Thatf(cond bool, format string, args ...any) {
	if !cond {
		panic(Violation{fmt.Sprintf(format, args...)})
	}
}

// Site is one Sometimes mark: a package variable that registers itself.
//
//	var retried = invariant.Sometimes("emitter retried a payload")
//	...
//	retried.Hit()
type Site struct {
	Name string
	hits atomic.Uint64
}

var registry struct {
	sync.Mutex //plexus:allow PX004 guards registration by package variables, before any World exists
	sites      []*Site
}

// Sometimes registers a rare branch. It is called from package variables only,
// with a name that is unique in the program.
func Sometimes(name string) *Site {
	s := &Site{Name: name}
	registry.Lock()
	defer registry.Unlock()
	registry.sites = append(registry.sites, s)
	return s
}

// Hit counts one pass.
func (s *Site) Hit() { s.hits.Add(1) }

// HitIf counts one pass when the condition holds, and returns the condition.
func (s *Site) HitIf(cond bool) bool {
	if cond {
		s.hits.Add(1)
	}
	return cond
}

// Hits returns the passes since the last Reset.
func (s *Site) Hits() uint64 { return s.hits.Load() }

// Sites returns every registered site in name order.
func Sites() []*Site {
	registry.Lock()
	defer registry.Unlock()
	sites := slices.Clone(registry.sites)
	slices.SortFunc(sites, func(a, b *Site) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return sites
}

// Reset sets every count to zero, before a run.
func Reset() {
	for _, s := range Sites() {
		s.hits.Store(0)
	}
}
