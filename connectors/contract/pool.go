package contract

import (
	"context"
	"errors"

	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

// PoolConn is one physical connection of a pool.
type PoolConn interface {
	// Close gives the connection up without waiting for the peer.
	Close()
}

// Pool holds the connections of one named client in one domain on one node. A
// borrow lasts one operation; no connection is held during a flush interval or a
// backoff.
//
//	L1  Idle, borrowed and opening connections together never exceed Max.
//	L2  Borrowers are served in the order in which they asked.
//	L3  A connection that broke is replaced while fewer than Min are left.
type Pool[C PoolConn] struct {
	world   primitives.World
	size    vocab.Pool
	open    func(context.Context) (C, error)
	permits *primitives.Semaphore // one per borrowed or opening connection (L1, L2)
	group   *primitives.Group

	mu        *primitives.Mutex // guards what follows; never held across open
	idle      []C               // the last returned is borrowed first
	borrowed  int
	opening   int
	restoring bool
	closed    bool
}

// ErrPoolClosed is returned to a borrower of a closed pool.
var ErrPoolClosed = errors.New("connection pool is closed")

var poolWaited = invariant.Sometimes("a borrower waited for a pooled connection")

// NewPool returns an empty pool. open opens one connection within its own budget.
func NewPool[C PoolConn](w primitives.World, size vocab.Pool, open func(context.Context) (C, error)) *Pool[C] {
	return &Pool[C]{
		world:   w,
		size:    size,
		open:    open,
		permits: primitives.NewSemaphore(w, int64(size.Max)),
		group:   primitives.NewGroup(context.Background(), w),
		mu:      primitives.NewMutex(w),
	}
}

// Borrow returns a connection, waiting while all are in use: a full pool is a
// waiting state and no failure. waiting is called if a wait begins, and what it
// returns when the wait ends. The failure to open is that of open.
func (p *Pool[C]) Borrow(ctx context.Context, waiting func() (end func())) (C, error) {
	var none C
	if !p.permits.TryAcquire(1) {
		poolWaited.Hit()
		end := waiting()
		err := p.permits.Acquire(ctx, 1)
		end()
		if err != nil {
			return none, err
		}
	}
	p.lock()
	if p.closed {
		p.mu.Unlock()
		p.permits.Release(1)
		return none, ErrPoolClosed
	}
	if last := len(p.idle) - 1; last >= 0 {
		conn := p.idle[last]
		p.idle[last] = none
		p.idle = p.idle[:last]
		p.borrowed++
		p.mu.Unlock()
		return conn, nil
	}
	p.opening++
	p.checkBounds()
	p.mu.Unlock()
	conn, err := p.open(ctx)
	p.lock()
	p.opening--
	closed := p.closed
	if err == nil && !closed {
		p.borrowed++
	}
	p.restore()
	p.mu.Unlock()
	switch {
	case err != nil:
		p.permits.Release(1)
		return none, err
	case closed:
		conn.Close()
		p.permits.Release(1)
		return none, ErrPoolClosed
	}
	return conn, nil
}

// Return ends a borrow. A broken connection is closed instead of kept.
func (p *Pool[C]) Return(conn C, broken bool) {
	p.lock()
	p.borrowed--
	discard := broken || p.closed
	if !discard {
		p.idle = append(p.idle, conn)
	}
	p.restore()
	p.checkBounds()
	p.mu.Unlock()
	if discard {
		conn.Close()
	}
	p.permits.Release(1)
}

// Close closes the idle connections, lets borrowed ones be closed by their
// return, and waits for the pool's tasks.
func (p *Pool[C]) Close(ctx context.Context) error {
	p.lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, conn := range idle {
		conn.Close()
	}
	p.group.Cancel(ErrPoolClosed)
	return p.group.Wait(ctx)
}

// restore opens connections until Min is reached again (L3). It ends at the first
// failure: the next borrow or return tries again, so an unreachable server costs
// no storm. Called with the lock held.
func (p *Pool[C]) restore() {
	if p.restoring || p.closed || !p.short() {
		return
	}
	p.restoring = true
	p.group.Go("pool restore", func(ctx context.Context) error {
		for p.openIdle(ctx) {
		}
		return nil
	})
}

// short reports that fewer than Min connections exist. Lock held.
func (p *Pool[C]) short() bool {
	return len(p.idle)+p.borrowed+p.opening < int(p.size.Min)
}

func (p *Pool[C]) openIdle(ctx context.Context) (more bool) {
	p.lock()
	proceed := !p.closed && p.short() && p.permits.TryAcquire(1)
	p.restoring = proceed
	if proceed {
		p.opening++
	}
	p.mu.Unlock()
	if !proceed {
		return false
	}
	conn, err := p.open(ctx)
	p.lock()
	p.opening--
	keep := err == nil && !p.closed
	if keep {
		p.idle = append(p.idle, conn)
	} else {
		p.restoring = false
	}
	p.checkBounds()
	p.mu.Unlock()
	if err == nil && !keep {
		conn.Close()
	}
	p.permits.Release(1)
	return keep
}

// checkBounds asserts L1. Lock held.
func (p *Pool[C]) checkBounds() {
	invariant.That(len(p.idle)+p.borrowed+p.opening <= int(p.size.Max), "L1: pool above its maximum")
	invariant.That(p.borrowed >= 0 && p.opening >= 0, "L1: pool returned more than was borrowed")
}

func (p *Pool[C]) lock() {
	err := p.mu.Lock(context.Background())
	invariant.That(err == nil, "a lock under no scope is never refused")
}
