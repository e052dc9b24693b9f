package primitives

import "context"

// Case is one way for Select to go on. Constructs make cases; the zero Case is
// never ready.
type Case struct {
	object selectable
	slot   any // what the case gives or receives, for its object
}

// selectable is an object that a case can wait for.
type selectable interface {
	// poll completes the case if that is possible at once.
	poll(slot any) bool
	// enlist registers w as case i; when the case is ready it claims w and
	// completes instead. entry is for delist.
	enlist(slot any, w *Waiter, i int) (entry any, outcome enlistment)
	// delist ends the registration. fired says that it claimed the waiter; the
	// exchange is then brought to its end.
	delist(slot, entry any, fired bool)
}

// enlistment is the outcome of registering a waiter.
type enlistment uint8

const (
	enlisted  enlistment = iota // the object will claim the waiter
	completed                   // the case was ready, claimed the waiter and is done
	taken                       // another case claimed the waiter first
)

// casesInline is the number of cases up to which Select allocates nothing itself.
const casesInline = 8

// Select waits until one case is ready, completes exactly that one, and returns
// its index; -1 and an error when ctx was cancelled first. Of several ready
// cases it takes one at random.
func Select(ctx context.Context, w World, cases ...Case) (int, error) {
	if err := Canceled(ctx); err != nil {
		return -1, err
	}
	t := w.Tasks()
	t.Yield()
	if i := pollCases(t, cases); i >= 0 {
		return i, nil
	}
	var inline [casesInline]any
	entries := inline[:]
	if len(cases) > len(entries) {
		entries = make([]any, len(cases))
	}
	waiter := newWaiter(t, "select")
	outcome := enlisted
	for i := 0; i < len(cases) && outcome == enlisted; i++ {
		if c := cases[i]; c.object != nil {
			entries[i], outcome = c.object.enlist(c.slot, waiter, i)
		}
	}
	switch outcome {
	case enlisted:
		await(ctx, waiter)
	case taken:
		t.Park(waiter) // the claim has its unpark
	}
	fired := waiter.fired
	for i, c := range cases {
		if entries[i] != nil {
			c.object.delist(c.slot, entries[i], i == fired)
		}
	}
	t.Release(waiter)
	if fired == byCancel {
		return -1, Canceled(ctx)
	}
	return fired, nil
}

// TrySelect completes one ready case and returns its index, -1 when none is
// ready.
func TrySelect(w World, cases ...Case) int { return pollCases(w.Tasks(), cases) }

// pollCases tries the cases in ring order from a random start.
func pollCases(t Tasks, cases []Case) int {
	if len(cases) == 0 {
		return -1
	}
	i := 0
	if len(cases) > 1 {
		i = t.Pick(len(cases))
	}
	for range cases {
		if c := cases[i]; c.object != nil && c.object.poll(c.slot) {
			return i
		}
		if i++; i == len(cases) {
			i = 0
		}
	}
	return -1
}
