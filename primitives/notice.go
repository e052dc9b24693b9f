package primitives

import (
	"context"
	"sync"
)

// Notice is a wake-up call. Raises that come before the wait collapse into one:
// the woken task looks at the state for itself.
type Notice struct {
	tasks   Tasks
	mu      sync.Mutex
	raised  bool
	waiters waitList[struct{}]
}

// NewNotice returns a notice that is not raised.
func NewNotice(w World) *Notice { return &Notice{tasks: w.Tasks()} }

// Raise wakes one waiting task, or lets the next wait return at once.
func (n *Notice) Raise() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.raised = !n.waiters.wake()
}

// Wait blocks until the notice is raised and lowers it.
func (n *Notice) Wait(ctx context.Context) error { return waitFor(ctx, n.tasks, "notice", n) }

// OnRaise is ready when the notice is raised; firing lowers it.
func (n *Notice) OnRaise() Case { return Case{n, nil} }

func (n *Notice) poll(any) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	raised := n.raised
	n.raised = false
	return raised
}

func (n *Notice) enlist(_ any, w *Waiter, i int) (any, enlistment) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.raised {
		return n.waiters.add(w, i, struct{}{}), enlisted
	}
	outcome := claimReady(w, i)
	if outcome == completed {
		n.raised = false
	}
	return nil, outcome
}

func (n *Notice) delist(_, entry any, _ bool) {
	n.mu.Lock()
	n.waiters.recycle(entry.(*waitEntry[struct{}]))
	n.mu.Unlock()
}
