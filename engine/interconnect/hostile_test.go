package interconnect

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"plexus/engine/interconnect/interconnectpb"
	"plexus/primitives"
	"plexus/sim"
)

// rawPeer speaks the protocol by hand, as a process that was accepted.
type rawPeer struct {
	t      testing.TB
	clock  primitives.Clock
	conn   primitives.Conn
	frames *frameReader
}

// frame writes one frame.
func (p *rawPeer) frame(h header, payload []byte) {
	h.payload = len(payload)
	if _, err := p.conn.Write(append(appendHeader(nil, h), payload...)); err != nil {
		p.t.Log(err)
	}
}

// open writes an OPEN with a message.
func (p *rawPeer) open(stream uint32, op uint16, flags uint8, message []byte) {
	p.frame(header{kind: kindOpen, stream: stream, flags: flags}, append(binary.BigEndian.AppendUint16(nil, op), message...))
}

// next reads the next frame that is no CREDIT; the error is the end.
func (p *rawPeer) next() (header, []byte, error) {
	for {
		h, err := p.frames.next()
		if err != nil {
			return h, nil, err
		}
		b := make([]byte, h.payload)
		if err := p.frames.read(b); err != nil {
			return h, nil, err
		}
		if h.kind != kindCredit {
			return h, b, nil
		}
	}
}

// reset reads the RESET of a stream and returns its code.
func (p *rawPeer) reset(stream uint32) uint32 {
	h, b, err := p.next()
	m := new(interconnectpb.Reset)
	if err != nil || h.kind != kindReset || h.stream != stream || Decode(b, m) != nil {
		p.t.Errorf("%+v instead of RESET of stream %d, %v", h, stream, err)
	}
	return m.GetCode()
}

// raw runs f as a process that n1 accepts in a class, and sees that n1 goes on
// afterwards.
func raw(t *testing.T, class Class, serve func(*Mesh), f func(p *rawPeer)) {
	t.Helper()
	tm := newTestMesh(t, sim.Options{Seed: 9}, 2).serveAll(func(m *Mesh) {
		echo(m)
		if serve != nil {
			serve(m)
		}
	})
	defer tm.sim.Close()
	tm.start()
	tm.until(10*time.Second, "connected", tm.connected)
	n1 := tm.nodes[0]
	host := tm.sim.Host("attacker")
	w := host.World()
	done := false
	w.Tasks().Go("attacker", func() {
		defer func() { done = true }()
		conn, err := w.Net().Dial(context.Background(), netip.AddrPortFrom(n1.host.Addr(), testPort), w.Clock().Now().Add(time.Second))
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		conn.ReadBy(w.Clock().Now().Add(time.Minute))
		conn.WriteBy(w.Clock().Now().Add(time.Minute))
		p := &rawPeer{t: t, clock: w.Clock(), conn: conn, frames: newFrameReader(conn, 64<<10)}
		if class < classCount {
			hello := testHello(testProcess("n9", 9, 1, 9), func(h *interconnectpb.Hello) { h.Class = uint32(class) })
			if err := writeFrame(plain{conn}, kindHello, hello); err != nil {
				t.Error(err)
			}
			if h, _, err := p.next(); err != nil || h.kind != kindWelcome {
				t.Errorf("%s, %v", h.kind, err)
				return
			}
		}
		f(p)
	})
	tm.until(2*time.Minute, "the attack", func() bool { return done })
	tm.until(20*time.Second, "connected", tm.connected)
	tm.do(tm.nodes[1], 20*time.Second, func() {
		if _, err := tm.nodes[1].mesh.Call(context.Background(), "n1", RuntimeDescribe, []byte("x")); err != nil {
			t.Errorf("a call afterwards: %v", err)
		}
	})
	if err := tm.sim.Run(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	for class, m := range n1.mesh.memory {
		if !m.Try(m.Size()) {
			t.Errorf("memory of class %s is not back", Class(class))
		}
		m.Give(m.Size())
	}
	tm.stop()
}

const noHello = classCount

// ended reads until the peer closes, which must not take longer, and returns the
// last frame before.
func (p *rawPeer) ended(within time.Duration) (last header) {
	p.conn.ReadBy(p.clock.Now().Add(within))
	for {
		h, _, err := p.next()
		if err != nil {
			if errors.Is(err, primitives.ErrDeadline) || errors.Is(err, ErrMalformed) {
				p.t.Errorf("not closed: %v", err)
			}
			return last
		}
		last = h
	}
}

// TestHostileSetup sends bytes that are no setup exchange.
func TestHostileSetup(t *testing.T) {
	hello, err := Encode(testHello(testProcess("n9", 9, 1, 9), nil))
	if err != nil {
		t.Fatal(err)
	}
	frame := func(h header, payload []byte) []byte {
		h.payload = len(payload)
		return append(appendHeader(nil, h), payload...)
	}
	whole := frame(header{kind: kindHello}, hello)
	for _, c := range []struct {
		name  string
		bytes []byte
	}{
		{"nothing", nil},
		{"half a HELLO", whole[:len(whole)/2]},
		{"text", []byte("GET / HTTP/1.1\r\nHost: n1\r\n\r\n")},
		{"TLS", []byte{0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3, 0, 0, 0, 0}},
		{"zeros", make([]byte, 100)},
		{"a huge frame", []byte{0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0, 0, 0}},
		{"another frame first", frame(header{kind: kindPing}, make([]byte, 8))},
		{"a HELLO that does not read", frame(header{kind: kindHello}, []byte{0xff, 0xff})},
		{"an unknown field", frame(header{kind: kindHello}, append(bytes.Clone(hello), 0xf8, 0x07, 1))},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw(t, noHello, nil, func(p *rawPeer) {
				if _, err := p.conn.Write(c.bytes); err != nil {
					t.Error(err)
				}
				if last := p.ended(setupWithin + time.Second); last.kind != 0 && last.kind != kindRefused {
					t.Errorf("answered with %s", last.kind)
				}
			})
		})
	}
}

// TestHostileFrames breaks the rules after setup: what is wrong with one stream ends
// the stream, what is wrong with the framing ends the connection.
func TestHostileFrames(t *testing.T) {
	const whole = flagFirst | flagLast
	describe, body := RuntimeDescribe.number, RelayBody.number
	first := func(length uint32, b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, length), b...) }

	t.Run("streams", func(t *testing.T) {
		raw(t, Commands, nil, func(p *rawPeer) {
			expect := func(stream, code uint32) {
				t.Helper()
				if got := p.reset(stream); got != code {
					t.Errorf("stream %d: code %d, want %d", stream, got, code)
				}
			}
			p.open(1, 9999, whole|flagEnd, nil)
			expect(1, resetMalformed)
			p.open(2, 0, whole|flagEnd, nil)
			expect(2, resetMalformed)
			p.open(3, HealthProbe.number, whole|flagEnd, nil) // of another class
			expect(3, resetMalformed)
			p.open(4, describe, flagFirst, first(2<<20, make([]byte, 10)))
			expect(4, resetTooLarge)
			p.open(5, describe, flagFirst, first(100, make([]byte, 10)))
			p.frame(header{kind: kindData, stream: 5, flags: flagLast}, make([]byte, 10)) // 80 are missing
			expect(5, resetMalformed)
			p.open(6, describe, flagFirst, first(100, make([]byte, 10)))
			p.frame(header{kind: kindEnd, stream: 6}, nil)
			expect(6, resetMalformed)
			p.open(7, describe, flagFirst, first(100, make([]byte, 10)))
			p.frame(header{kind: kindData, stream: 7, flags: whole}, make([]byte, 10)) // within another message
			expect(7, resetMalformed)
			p.frame(header{kind: kindData, stream: 7, flags: whole}, make([]byte, 10)) // late: nobody minds
			p.open(20, RuntimeGraphStats.number, whole|flagEnd, nil)
			expect(20, resetRefused) // not served
			p.open(21, describe, whole|flagEnd, []byte("still here"))
			if h, b, err := p.next(); err != nil || h.kind != kindData || h.stream != 21 || string(b) != "still here" || h.flags != whole|flagEnd {
				t.Errorf("%+v, %q, %v", h, b, err)
			}
		})
	})
	t.Run("too many streams", func(t *testing.T) {
		raw(t, Commands, func(m *Mesh) {
			m.Handle(RuntimeLookup, func(ctx context.Context, _ Process, _ []byte) ([]byte, error) {
				return nil, primitives.Sleep(ctx, m.world, time.Second)
			})
		}, func(p *rawPeer) {
			for id := uint32(1); id <= 33; id++ {
				p.open(id, RuntimeLookup.number, whole|flagEnd, nil)
			}
			if code := p.reset(33); code != resetBusy {
				t.Errorf("code %d", code)
			}
		})
	})
	for name, attack := range map[string]func(p *rawPeer){ //plexus:orderfree independent cases
		"HELLO again":         func(p *rawPeer) { p.frame(header{kind: kindHello}, nil) },
		"DATA without OPEN":   func(p *rawPeer) { p.frame(header{kind: kindData, stream: 5, flags: whole}, nil) },
		"END without OPEN":    func(p *rawPeer) { p.frame(header{kind: kindEnd, stream: 5}, nil) },
		"RESET without OPEN":  func(p *rawPeer) { p.frame(header{kind: kindReset, stream: 5}, nil) },
		"CREDIT without OPEN": func(p *rawPeer) { p.frame(header{kind: kindCredit, stream: 5}, []byte{0, 0, 0, 1}) },
		"CREDIT of nothing":   func(p *rawPeer) { p.frame(header{kind: kindCredit}, make([]byte, 4)) },
		"CREDIT without end":  func(p *rawPeer) { p.frame(header{kind: kindCredit}, []byte{0xff, 0xff, 0xff, 0xff}) },
		"PONG without PING":   func(p *rawPeer) { p.frame(header{kind: kindPong}, []byte("12345678")) },
		"a RESET that is garbage": func(p *rawPeer) {
			p.open(1, describe, flagFirst, first(9, []byte("x")))
			p.frame(header{kind: kindReset, stream: 1}, []byte{0xff})
		},
		"a GOAWAY that is garbage": func(p *rawPeer) { p.frame(header{kind: kindGoaway}, []byte{0xff}) },
		"streams backwards": func(p *rawPeer) {
			p.open(5, describe, whole|flagEnd, nil)
			p.open(4, describe, whole|flagEnd, nil)
		},
		"a declaration below its fragment": func(p *rawPeer) { p.open(1, describe, flagFirst, first(3, make([]byte, 10))) },
		"DATA after the end": func(p *rawPeer) {
			p.open(1, body, whole|flagEnd, nil)
			p.frame(header{kind: kindData, stream: 1, flags: whole}, []byte("x"))
		},
		"more than the window of a stream": func(p *rawPeer) {
			p.open(1, body, flagFirst, first(1<<20, make([]byte, 60_000)))
			p.frame(header{kind: kindData, stream: 1}, make([]byte, 60_000))
		},
	} {
		t.Run(name, func(t *testing.T) {
			raw(t, Relay, func(m *Mesh) {
				m.HandleStream(RelayBody, func(ctx context.Context, _ Process, s *Stream) error {
					return primitives.Sleep(ctx, m.world, time.Minute)
				})
			}, func(p *rawPeer) {
				attack(p)
				p.ended(time.Second)
			})
		})
	}
}

// TestConnectionWindowHolds sends more than the window of a connection to a node
// whose memory is taken.
func TestConnectionWindowHolds(t *testing.T) {
	raw(t, Replication, func(m *Mesh) { m.memory[Replication] = newMemory(m.world, 1000) }, func(p *rawPeer) {
		for id := uint32(1); id < 6; id++ {
			p.open(id, StateAnnounce.number, flagFirst, append(binary.BigEndian.AppendUint32(nil, 60_001), make([]byte, 60_000)...))
		}
		p.ended(time.Second)
	})
}

// TestPeerThatDoesNotRead makes this side talk without listening.
func TestPeerThatDoesNotRead(t *testing.T) {
	raw(t, Commands, nil, func(p *rawPeer) {
		ping := make([]byte, 8)
		for range 200_000 {
			h := appendHeader(nil, header{kind: kindPing, payload: 8})
			if _, err := p.conn.Write(append(h, ping...)); err != nil {
				return // given up
			}
		}
		t.Error("200,000 pings were answered to somebody who does not read")
	})
}

// TestLimitsOfMessages sends messages and answers beyond their limits through the
// mesh itself.
func TestLimitsOfMessages(t *testing.T) {
	tm := newTestMesh(t, sim.Options{Seed: 1}, 2).serveAll(func(m *Mesh) {
		m.Handle(RuntimeDescribe, func(context.Context, Process, []byte) ([]byte, error) { return make([]byte, 1<<20+1), nil })
		m.Handle(RuntimeLookup, func(context.Context, Process, []byte) ([]byte, error) {
			return nil, &Refusal{Class: Rejected, Subject: strings.Repeat("s", 5000), Detail: strings.Repeat("d\xff", 5000)}
		})
		m.Handle(HoldStatus, func(context.Context, Process, []byte) ([]byte, error) { return nil, errors.New("broke") })
	})
	tm.start()
	tm.until(10*time.Second, "connected", tm.connected)
	tm.do(tm.nodes[0], time.Minute, func() {
		m := tm.nodes[0].mesh
		ctx := context.Background()
		if _, err := m.Call(ctx, "n2", RuntimeDescribe, make([]byte, 1<<20+1)); !InPhase(err, PhaseEncode) || !errors.Is(err, ErrTooLarge) {
			t.Errorf("a large request: %v", err)
		}
		if _, err := m.Call(ctx, "n2", RuntimeDescribe, nil); !isRefusal(err, Failed, RuntimeDescribe.String()) {
			t.Errorf("a large answer: %v", err)
		}
		if _, err := m.Call(ctx, "n2", RuntimeLookup, nil); !isRefusal(err, Rejected, strings.Repeat("s", detailMax)) {
			t.Errorf("a large refusal: %v", err)
		}
		if _, err := m.Call(ctx, "n2", RuntimeGraphStats, nil); !isRefusal(err, NotReady, RuntimeGraphStats.String()) {
			t.Errorf("not served: %v", err)
		}
		if _, err := m.Call(ctx, "n2", HoldStatus, nil); !isRefusal(err, Failed, HoldStatus.String()) {
			t.Errorf("an error of the handler: %v", err)
		}
		if m.Send("n2", RaftMessage, make([]byte, 64<<10+1)) {
			t.Error("a large event")
		}
		if _, err := m.Call(ctx, "n7", RuntimeDescribe, nil); !errors.Is(err, ErrUnknownNode) {
			t.Errorf("nobody: %v", err)
		}
		for _, endpoint := range []string{"", "n2.test", "n2.test:0", ":1", "n2.test:99999"} {
			if _, err := m.CallTo(ctx, endpoint, HelloJoin, nil); !InPhase(err, PhaseResolve) {
				t.Errorf("endpoint %q: %v", endpoint, err)
			}
		}
		if _, err := m.CallTo(ctx, "nowhere.test:1", HelloJoin, nil); !InPhase(err, PhaseResolve) {
			t.Errorf("no such host: %v", err)
		}
		if _, err := m.CallTo(ctx, "n2.test:1", HelloJoin, nil); !InPhase(err, PhaseSetup) {
			t.Errorf("nobody listens: %v", err)
		}
		if _, err := m.CallTo(ctx, "n2.test:47395", HelloJoin, nil); !isRefusal(err, NotReady, HelloJoin.String()) {
			t.Errorf("a seed that does not serve: %v", err)
		}
	})
	tm.stop()
}
