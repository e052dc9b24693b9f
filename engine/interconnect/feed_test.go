package interconnect

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/primitives"
	"plexus/sim"
)

// tape is a channel that plays recorded bytes and swallows what is written.
type tape struct {
	pieces
	wrote int
}

func (p *tape) writeAll(all [][]byte) error {
	for _, b := range all {
		p.wrote += len(b)
	}
	return nil
}

func (p *tape) CloseWrite() error { return nil }
func (p *tape) Close() error      { return nil }

// feed plays bytes to an accepted connection of a class, whose handlers read
// everything, and says what they got. It sees that nothing of it stays.
func feed(t interface{ Fatalf(string, ...any) }, class Class, stream []byte, sizes []int) (got []int, end error) {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	host := s.Host("n1")
	w := host.World()
	settings := Defaults()
	m, err := New(w, settings)
	if err != nil {
		t.Fatalf("%v", err)
	}
	m.identity.Store(&identity{process: testProcess("n1", 1, 1, 1), cluster: testCluster})
	m.tasks = primitives.NewGroup(context.Background(), w)
	for op := range Operations() {
		switch op.Form() {
		case Event, Request:
			m.Handle(op, func(_ context.Context, _ Process, request []byte) ([]byte, error) {
				got = append(got, len(request))
				return request, nil
			})
		default:
			m.HandleStream(op, func(_ context.Context, _ Process, s *Stream) error {
				for {
					b, err := s.Recv()
					if err != nil {
						if errors.Is(err, io.EOF) {
							return nil
						}
						return err
					}
					got = append(got, len(b))
				}
			})
		}
	}
	ch := &tape{pieces: pieces{rest: stream, sizes: sizes}}
	c := newConnection(m, class, 0, false, ch, newFrameReader(ch, readBuffer[class]), testProcess("n3", 3, 1, 3))
	done := false
	w.Tasks().Go("connection", func() {
		m.register(c)
		c.run()
		m.unregister(c)
		m.tasks.Cancel(ErrStopped)
		_ = m.tasks.Wait(context.Background())
		done = true
	})
	if err := s.RunUntil(func() bool { return done }, time.Minute); err != nil {
		t.Fatalf("%v", err)
	}
	for class, memory := range m.memory {
		if !memory.Try(memory.Size()) {
			t.Fatalf("memory of class %s is not back", Class(class))
		}
		memory.Give(memory.Size())
	}
	if c.live != 0 || c.oldest != nil || len(c.streams) != 0 {
		t.Fatalf("%d streams are left", c.live)
	}
	if ch.wrote > 64<<10+4*len(stream) {
		t.Fatalf("%d bytes in answer to %d", ch.wrote, len(stream))
	}
	return got, c.dead
}

// TestConnectionsSurviveProperty plays what a peer might send, sound and damaged,
// in one piece and in many.
func TestConnectionsSurviveProperty(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		stream := genFrames(r)
		class := Class(rapid.IntRange(0, int(classCount)-1).Draw(r, "class"))
		_, end := feed(r, class, stream, nil)
		_, again := feed(r, class, stream, rapid.SliceOfN(rapid.IntRange(1, 3000), 0, 40).Draw(r, "sizes"))
		// These bytes wait for no credit: when it comes depends on when a reader is there.
		if end != nil && again != nil && (strings.Contains(end.Error()+again.Error(), "without credit")) {
			return
		}
		if end == nil || again == nil || end.Error() != again.Error() {
			r.Fatalf("ended with %v in one piece and with %v in many", end, again)
		}
	})
}

// FuzzConnection plays arbitrary bytes to a connection.
func FuzzConnection(f *testing.F) {
	open := appendHeader(nil, header{kind: kindOpen, flags: flagFirst | flagLast | flagEnd, stream: 1, payload: 5})
	open = append(open, 0, byte(RuntimeDescribe.number), 'a', 'b', 'c')
	f.Add(uint8(Commands), open)
	first := appendHeader(nil, header{kind: kindOpen, flags: flagFirst, stream: 1, payload: 8})
	first = append(first, 0, byte(RelayBody.number), 0, 0, 0, 4, 'a', 'b')
	first = appendHeader(first, header{kind: kindData, flags: flagLast, stream: 1, payload: 2})
	f.Add(uint8(Relay), append(first, 'c', 'd'))
	f.Add(uint8(Management), append(appendHeader(bytes.Clone(open), header{kind: kindPing, payload: 8}), make([]byte, 8)...))
	f.Add(uint8(Replication), append(appendHeader(nil, header{kind: kindCredit, payload: 4}), 0, 0, 1, 0))
	f.Fuzz(func(t *testing.T, class uint8, b []byte) {
		feed(t, Class(class%uint8(classCount)), b, nil)
	})
}
