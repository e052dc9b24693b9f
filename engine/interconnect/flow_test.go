package interconnect

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/primitives"
	"plexus/sim"
)

// flowPlan is what several streams of one connection carry, and how their readers
// behave.
type flowPlan struct {
	seed    uint64
	op      Operation
	memory  int64 // of the class at the receiver
	streams []flowStream
	link    sim.Link
}

// flowStream is one stream: messages of these lengths, read with pauses. A reader
// that follows another one reads nothing until that one is done.
type flowStream struct {
	lengths []int
	pause   time.Duration
	follows int // index of the stream, -1 for none
	leaves  int // reads only so many and returns, -1 for all
}

func genFlow(r *rapid.T) flowPlan {
	p := flowPlan{
		seed:   rapid.Uint64Range(0, 1000).Draw(r, "seed"),
		op:     rapid.SampledFrom([]Operation{RelayBody, RestoreStage, RaftAppend}).Draw(r, "operation"),
		memory: rapid.SampledFrom([]int64{3 << 20, 8 << 20, 64 << 20}).Draw(r, "memory"),
		link:   sim.LinkDefault,
	}
	p.link.Fragment = rapid.Bool().Draw(r, "fragment")
	most := min(messageMax[p.op.Class()], 1<<20)
	count := rapid.IntRange(1, laneStreams[p.op.Class()][p.op.Lane()]).Draw(r, "streams")
	for i := range min(count, 8) {
		s := flowStream{
			pause:   time.Duration(rapid.IntRange(0, 20).Draw(r, "pause")) * time.Millisecond,
			follows: rapid.IntRange(-1, i-1).Draw(r, "follows"),
			leaves:  -1,
		}
		for range rapid.IntRange(1, 6).Draw(r, "messages") {
			s.lengths = append(s.lengths, rapid.SampledFrom([]int{0, 1, 100, 10_000, 65_000, 65_472, 65_536, 70_000, 300_000, 1 << 20}).Draw(r, "length"))
		}
		for k, n := range s.lengths {
			s.lengths[k] = min(n, most)
		}
		if rapid.IntRange(0, 5).Draw(r, "leave") == 0 {
			s.leaves = rapid.IntRange(0, len(s.lengths)).Draw(r, "leaves")
		}
		p.streams = append(p.streams, s)
	}
	return p
}

// TestFlowProperty: credits never go negative, which the windows assert, and
// bounded readers never stop each other for good.
func TestFlowProperty(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := genFlow(r)
		tm := newTestMesh(t, sim.Options{Seed: p.seed}, 2)
		defer tm.sim.Close()
		tm.sim.Network().SetDefault(p.link)
		receiver := tm.nodes[1]
		var done []*primitives.Event
		got := make([][]int, len(p.streams))
		receiver.serve = func(m *Mesh) {
			m.memory[p.op.Class()] = newMemory(m.world, p.memory)
			for range p.streams {
				done = append(done, primitives.NewEvent(m.world))
			}
			m.HandleStream(p.op, func(ctx context.Context, _ Process, s *Stream) error {
				head, err := s.Recv()
				if err != nil {
					return err
				}
				k := int(binary.BigEndian.Uint32(head))
				defer done[k].Set()
				plan := p.streams[k]
				if plan.follows >= 0 {
					if err := done[plan.follows].Wait(ctx); err != nil {
						return err
					}
				}
				for n := 0; plan.leaves < 0 || n < plan.leaves; n++ {
					b, err := s.Recv()
					if errors.Is(err, io.EOF) {
						return nil
					}
					if err != nil {
						return err
					}
					got[k] = append(got[k], len(b))
					if err := primitives.Sleep(ctx, m.world, plan.pause); err != nil {
						return err
					}
				}
				return nil
			})
		}
		tm.start()
		tm.until(20*time.Second, "connected", tm.connected)
		sender := tm.nodes[0]
		finished := 0
		for k, plan := range p.streams {
			sender.host.World().Tasks().Go("sender", func() {
				defer func() { finished++ }()
				s, err := sender.mesh.OpenProcess(context.Background(), receiver.mesh.Process(), p.op, 0)
				if err != nil {
					r.Errorf("open: %v", err)
					return
				}
				defer s.Close()
				err = s.Send(binary.BigEndian.AppendUint32(nil, uint32(k)))
				for _, n := range plan.lengths {
					if err == nil {
						err = s.Send(make([]byte, n))
					}
				}
				if err == nil {
					err = s.CloseSend()
				}
				if err == nil {
					_, err = s.Recv()
				}
				if left := plan.leaves >= 0 && plan.leaves <= len(plan.lengths); !errors.Is(err, io.EOF) && !(left && InPhase(err, PhaseFlow)) {
					r.Errorf("stream %d: %v", k, err)
				}
			})
		}
		tm.until(5*time.Minute, fmt.Sprintf("%+v", p), func() bool { return finished == len(p.streams) })
		for k, plan := range p.streams {
			want := plan.lengths
			if plan.leaves >= 0 {
				want = want[:plan.leaves]
			}
			if fmt.Sprint(got[k]) != fmt.Sprint(want) && len(got[k])+len(want) > 0 {
				r.Errorf("stream %d: received %v of %v", k, got[k], want)
			}
		}
		if err := tm.sim.Run(time.Second); err != nil {
			r.Fatal(err)
		}
		m := receiver.mesh.memory[p.op.Class()]
		if !m.Try(m.Size()) {
			r.Error("memory of the class is not back")
		}
		// Both windows of every connection are whole again: what was granted and not
		// used, and what is to be returned.
		for _, n := range tm.nodes {
			for _, c := range n.mesh.links {
				if left := c.recvWin.allowed + c.recvWin.pending; left != connectionWindow {
					r.Errorf("%s: a window of class %s holds %d of %d", n.name, c.class, left, connectionWindow)
				}
			}
		}
	})
}

// TestWindowsProperty plays a sender and a receiver against each other: what was
// granted is what is spent, on its way, held or to be returned.
func TestWindowsProperty(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		const window = 1000
		s, in := sending{window}, receiving{allowed: window}
		var way, held int64
		for range rapid.IntRange(1, 200).Draw(r, "steps") {
			switch rapid.IntRange(0, 3).Draw(r, "step") {
			case 0:
				n := rapid.Int64Range(0, s.credit).Draw(r, "send")
				s.take(int(n))
				way += n
			case 1:
				n := rapid.Int64Range(0, way).Draw(r, "arrive")
				if err := in.arrive(int(n)); err != nil {
					r.Fatal(err)
				}
				way, held = way-n, held+n
			case 2:
				n := rapid.Int64Range(0, held).Draw(r, "consume")
				in.give(int(n))
				held -= n
			case 3:
				if n := in.due(rapid.Int64Range(1, window).Draw(r, "threshold")); n > 0 {
					if err := s.grant(n); err != nil {
						r.Fatal(err)
					}
				}
			}
			if s.credit < 0 || s.credit+way+held+in.pending != window || in.allowed != s.credit+way {
				r.Fatalf("credit %d, on its way %d, held %d, pending %d, allowed %d", s.credit, way, held, in.pending, in.allowed)
			}
		}
		if err := in.arrive(int(in.allowed + 1)); !errors.Is(err, ErrMalformed) {
			r.Fatalf("more than the window: %v", err)
		}
		if err := s.grant(creditMax); s.credit-creditMax > 0 && !errors.Is(err, ErrMalformed) {
			r.Fatalf("a credit without end: %v", err)
		}
	})
}
