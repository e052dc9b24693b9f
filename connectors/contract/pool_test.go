package contract_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"plexus/connectors/contract"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/sim"
)

var errOpen = errors.New("server is away")

// pooled is a connection that knows how many there are.
type pooled struct {
	count  *int
	closed bool
}

func (c *pooled) Close() {
	if !c.closed {
		c.closed = true
		*c.count--
	}
}

// Tasks borrow and return in every order the simulator draws; opens take time and
// fail, connections break.
func TestPoolUnderSchedules(t *testing.T) {
	for seed := range uint64(40) {
		s := sim.New(sim.Options{Seed: seed, Guard: true})
		draw := s.Stream("test")
		size := vocab.Pool{Min: uint32(draw.Below(3)), Max: 0}
		size.Max = size.Min + 1 + uint32(draw.Below(3))
		open, most := 0, 0
		host := s.Host("node")
		finished := false
		host.Start("pool", func(ctx context.Context, w primitives.World) {
			pool := contract.NewPool(w, size, func(ctx context.Context) (*pooled, error) {
				if err := primitives.Sleep(ctx, w, time.Duration(draw.Below(3))*time.Millisecond); err != nil {
					return nil, err
				}
				if draw.Below(5) == 0 {
					return nil, errOpen
				}
				open++
				most = max(most, open)
				return &pooled{count: &open}, nil
			})
			waits := 0
			group := primitives.NewGroup(ctx, w)
			for range 6 {
				group.Go("borrower", func(ctx context.Context) error {
					for range 20 {
						conn, err := pool.Borrow(ctx, func() func() { waits++; return func() { waits-- } })
						if errors.Is(err, errOpen) {
							continue
						}
						if err != nil {
							return err
						}
						if conn.closed {
							return errors.New("borrowed a closed connection")
						}
						if err := primitives.Sleep(ctx, w, time.Duration(draw.Below(3))*time.Millisecond); err != nil {
							return err
						}
						pool.Return(conn, draw.Below(6) == 0)
					}
					return nil
				})
			}
			if err := group.Wait(ctx); err != nil {
				s.Fail("pool", err.Error())
			}
			for range 20 { // a failed restore is tried again by the next borrow
				if conn, err := pool.Borrow(ctx, func() func() { return func() {} }); err == nil {
					pool.Return(conn, false)
				}
				_ = primitives.Sleep(ctx, w, 10*time.Millisecond)
			}
			switch {
			case waits != 0:
				s.Fail("pool", fmt.Sprintf("%d waits left shown", waits))
			case open < int(size.Min):
				s.Fail("pool", fmt.Sprintf("%d connections, the minimum is %d", open, size.Min))
			case most > int(size.Max):
				s.Fail("pool", fmt.Sprintf("%d connections, the maximum is %d", most, size.Max))
			}
			if err := pool.Close(ctx); err != nil {
				s.Fail("pool", err.Error())
			}
			if _, err := pool.Borrow(ctx, func() func() { return func() {} }); !errors.Is(err, contract.ErrPoolClosed) {
				s.Fail("pool", fmt.Sprintf("borrow from a closed pool: %v", err))
			}
			if open != 0 {
				s.Fail("pool", fmt.Sprintf("%d connections left", open))
			}
			finished = true
		})
		if err := s.RunUntil(func() bool { return finished }, time.Minute); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		s.Close()
	}
}

func TestPoolServesInOrder(t *testing.T) {
	s := sim.New(sim.Options{Seed: 1, Guard: true})
	defer s.Close()
	var order []int
	host, finished := s.Host("node"), false
	host.Start("pool", func(ctx context.Context, w primitives.World) {
		open := 0
		pool := contract.NewPool(w, vocab.Pool{Max: 1}, func(context.Context) (*pooled, error) {
			open++
			return &pooled{count: &open}, nil
		})
		none := func() func() { return func() {} }
		first, _ := pool.Borrow(ctx, none)
		group := primitives.NewGroup(ctx, w)
		canceled, cancel := primitives.WithCancel(ctx, w)
		for i := range 5 {
			group.Go("borrower", func(ctx context.Context) error {
				if i == 2 {
					ctx = canceled
				}
				conn, err := pool.Borrow(ctx, none)
				if err != nil {
					return nil
				}
				order = append(order, i)
				pool.Return(conn, false)
				return nil
			})
			_ = primitives.Sleep(ctx, w, time.Millisecond)
		}
		cancel()
		pool.Return(first, false)
		_ = group.Wait(ctx)
		_ = pool.Close(ctx)
		finished = true
	})
	if err := s.RunUntil(func() bool { return finished }, time.Minute); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(order); got != "[0 1 3 4]" {
		t.Fatal(got)
	}
}
