package control

import (
	"context"
	"slices"
	"sync/atomic"

	"plexus/engine/catalog"
	"plexus/primitives"
)

// Follower is woken when the state or the status changed. It looks at both for
// itself; Changed says which parts did, to one that collects that.
type Follower struct {
	notice   *primitives.Notice
	collects bool
	effects  atomic.Pointer[catalog.Effects]
}

// Wait blocks until something changed since the last Wait.
func (f *Follower) Wait(ctx context.Context) error { return f.notice.Wait(ctx) }

// OnChange is ready when something changed.
func (f *Follower) OnChange() primitives.Case { return f.notice.OnRaise() }

// Changed returns what commands changed since the last call, nothing on a follower
// that does not collect it.
func (f *Follower) Changed() catalog.Effects {
	if e := f.effects.Swap(nil); e != nil {
		return *e
	}
	return catalog.Effects{}
}

func (f *Follower) add(e catalog.Effects) {
	for {
		old := f.effects.Load()
		var sum catalog.Effects
		if old != nil {
			sum.Add(*old)
		}
		sum.Add(e)
		if f.effects.CompareAndSwap(old, &sum) {
			return
		}
	}
}

// followers is an immutable list that grows and shrinks by replacement.
type followers struct {
	world primitives.World
	list  atomic.Pointer[[]*Follower]
}

func (f *followers) change(edit func([]*Follower) []*Follower) {
	for {
		old := f.list.Load()
		var list []*Follower
		if old != nil {
			list = slices.Clone(*old)
		}
		list = edit(list)
		if f.list.CompareAndSwap(old, &list) {
			return
		}
	}
}

func (f *followers) each(visit func(*Follower)) {
	if list := f.list.Load(); list != nil {
		for _, one := range *list {
			visit(one)
		}
	}
}

func (f *followers) raise() { f.each(func(one *Follower) { one.notice.Raise() }) }

func (f *followers) tell(e catalog.Effects) {
	f.each(func(one *Follower) {
		if one.collects {
			one.add(e)
		}
		one.notice.Raise()
	})
}

// Follow returns a follower that has not been woken yet. It must be given back.
func (g *Group) Follow() *Follower { return g.follow(false) }

// FollowChanges returns a follower that also collects what changed. Whoever has one
// must ask it for that: what it collected is kept until then.
func (g *Group) FollowChanges() *Follower { return g.follow(true) }

func (g *Group) follow(collects bool) *Follower {
	f := &Follower{notice: primitives.NewNotice(g.world), collects: collects}
	g.followers.change(func(list []*Follower) []*Follower { return append(list, f) })
	return f
}

// Unfollow ends a follower.
func (g *Group) Unfollow(f *Follower) {
	g.followers.change(func(list []*Follower) []*Follower {
		return slices.DeleteFunc(list, func(one *Follower) bool { return one == f })
	})
}

// WaitApplied blocks until this node applied an index.
func (g *Group) WaitApplied(ctx context.Context, index uint64) error {
	if g.State().Applied >= index {
		return nil
	}
	f := g.Follow()
	defer g.Unfollow(f)
	for g.State().Applied < index {
		if err := f.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}
