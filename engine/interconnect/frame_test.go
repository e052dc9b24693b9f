package interconnect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plexus/engine/interconnect/interconnectpb"
)

// pieces is a reader that returns its bytes in pieces of given lengths, then the
// rest.
type pieces struct {
	rest  []byte
	sizes []int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := len(p.rest)
	if len(p.sizes) > 0 {
		n, p.sizes = min(n, p.sizes[0]), p.sizes[1:]
	}
	n = copy(b, p.rest[:n])
	p.rest = p.rest[n:]
	return n, nil
}

// transcript reads frames and messages as a connection does, and says what it saw
// and how it ended.
func transcript(src io.Reader, buffer int) (lines []string, failure string) {
	f := newFrameReader(src, buffer)
	streams := map[uint32]*assembler{}
	digest := func(b []byte) uint64 {
		h := fnv.New64a()
		h.Write(b)
		return h.Sum64()
	}
	messages := map[uint32][]byte{}
	for {
		h, err := f.next()
		if err != nil {
			return lines, err.Error()
		}
		if h.kind != kindOpen && h.kind != kindData {
			b, err := f.take(h.payload)
			if err != nil {
				return lines, err.Error()
			}
			lines = append(lines, fmt.Sprintf("%s %d %x", h.kind, h.stream, digest(b)))
			continue
		}
		c := &connection{frames: f}
		p, err := c.readPrefix(&h)
		if err != nil {
			return lines, err.Error()
		}
		a := streams[h.stream]
		if a == nil {
			a = new(assembler)
			streams[h.stream] = a
		}
		piece, err := a.add(h.flags, h.payload, p.declared, messageMax[Commands])
		if err != nil {
			return lines, err.Error()
		}
		b := make([]byte, h.payload)
		if err := f.read(b); err != nil {
			return lines, err.Error()
		}
		messages[h.stream] = append(messages[h.stream], b...)
		if piece.last {
			m := messages[h.stream]
			lines = append(lines, fmt.Sprintf("message %d op %d of %d: %x", h.stream, p.op, len(m), digest(m)))
			delete(messages, h.stream)
		}
	}
}

var operations = []uint16{
	RaftMessage.number, RuntimeDescribe.number, RelayBody.number, StateAnnounce.number, ResourceFetch.number, RaftAppend.number, 99,
}

// genFrames draws what a peer might send: mostly sound, sometimes damaged.
func genFrames(r *rapid.T) []byte {
	var out []byte
	frame := func(h header, payload []byte) {
		h.payload = len(payload)
		out = append(appendHeader(out, h), payload...)
	}
	for range rapid.IntRange(0, 6).Draw(r, "frames") {
		stream := rapid.Uint32Range(1, 3).Draw(r, "stream")
		switch rapid.IntRange(0, 5).Draw(r, "what") {
		case 0:
			frame(header{kind: kindCredit, stream: stream}, []byte{0, 0, 1, 0})
		case 1:
			frame(header{kind: kindPing}, make([]byte, 8))
		case 2:
			frame(header{kind: kindReset, stream: stream}, rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(r, "reason"))
		default:
			message := bytes.Repeat([]byte{byte(stream)}, rapid.SampledFrom([]int{0, 1, 5, 1000, 70_000}).Draw(r, "length"))
			h := header{kind: kindOpen, stream: stream, flags: flagFirst}
			for rest := message; ; {
				var head []byte
				if h.kind == kindOpen {
					head = binary.BigEndian.AppendUint16(head, rapid.SampledFrom(operations).Draw(r, "operation"))
				}
				n := len(rest)
				if n > 1 && (n > 60_000 || rapid.Bool().Draw(r, "split")) {
					n = rapid.IntRange(1, min(n-1, 60_000)).Draw(r, "fragment")
				}
				if n == len(rest) {
					h.flags |= flagLast
				} else if h.flags&flagFirst != 0 {
					head = binary.BigEndian.AppendUint32(head, uint32(len(message)))
				}
				frame(h, append(head, rest[:n]...))
				if rest = rest[n:]; len(rest) == 0 {
					break
				}
				h = header{kind: kindData, stream: stream}
			}
		}
	}
	if len(out) > 0 && rapid.Bool().Draw(r, "damage") {
		i := rapid.IntRange(0, len(out)-1).Draw(r, "at")
		out[i] ^= rapid.ByteRange(1, 255).Draw(r, "bits")
	}
	if len(out) > 0 && rapid.Bool().Draw(r, "cut") {
		out = out[:rapid.IntRange(0, len(out)-1).Draw(r, "length")]
	}
	return out
}

// TestFramesProperty: wherever the bytes are split, the messages and the failure
// are the same.
func TestFramesProperty(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		stream := genFrames(r)
		lines, failure := transcript(bytes.NewReader(stream), 64<<10)
		if failure == "" {
			r.Fatal("a stream without an end")
		}
		buffer := rapid.SampledFrom([]int{setupPayloadMax, 16 << 10, 64 << 10}).Draw(r, "buffer")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 5000), 0, 40).Draw(r, "sizes")
		again, failureAgain := transcript(&pieces{rest: stream, sizes: sizes}, buffer)
		if !slices.Equal(lines, again) || failure != failureAgain {
			r.Fatalf("in one piece %v, %s;\nin pieces %v, %s", lines, failure, again, failureAgain)
		}
	})
}

func TestHeadersRoundTrip(t *testing.T) {
	for k := kindHello; k < kindCount; k++ {
		rule := frameRules[k]
		h := header{kind: k, payload: max(rule.least, 1, openBytes)}
		if rule.least == rule.most {
			h.payload = rule.most
		}
		if rule.stream {
			h.stream = 1<<32 - 1
		}
		if rule.flags != 0 {
			h.flags = rule.flags &^ flagEnd
		}
		got, err := parseHeader(appendHeader(nil, h))
		if err != nil || got != h {
			t.Errorf("%s: %+v, %v", k, got, err)
		}
	}
}

func TestMalformedHeaders(t *testing.T) {
	sound := appendHeader(nil, header{kind: kindData, flags: flagFirst | flagLast, stream: 1, payload: 5})
	edit := func(at int, b byte) []byte {
		e := bytes.Clone(sound)
		e[at] = b
		return e
	}
	for name, b := range map[string][]byte{ //plexus:orderfree independent cases
		"no kind": edit(4, 0), "an unknown kind": edit(4, byte(kindCount)), "unknown flags": edit(5, 0x80), "reserved bytes": edit(6, 1),
		"too short a length": edit(3, 7), "too long": edit(1, 2), "huge": edit(0, 255), "no stream": edit(11, 0),
		"END before LAST":          edit(5, flagEnd),
		"a PING on a stream":       appendHeader(nil, header{kind: kindPing, stream: 1, payload: 8}),
		"a PING of another length": appendHeader(nil, header{kind: kindPing, payload: 7}),
		"a CREDIT of no length":    appendHeader(nil, header{kind: kindCredit, payload: 0}),
		"an END with a payload":    appendHeader(nil, header{kind: kindEnd, stream: 1, payload: 1}),
		"an OPEN in the middle":    appendHeader(nil, header{kind: kindOpen, flags: flagLast, stream: 1, payload: 9}),
		"an OPEN of nothing":       appendHeader(nil, header{kind: kindOpen, flags: flagFirst | flagLast, stream: 1, payload: 1}),
		"an empty fragment":        appendHeader(nil, header{kind: kindData, stream: 1, payload: 0}),
		"an undeclared first":      appendHeader(nil, header{kind: kindData, flags: flagFirst, stream: 1, payload: 4}),
		"a long HELLO":             appendHeader(nil, header{kind: kindHello, payload: setupPayloadMax + 1}),
		"a long RESET":             appendHeader(nil, header{kind: kindReset, stream: 1, payload: noticeMax + 1}),
	} {
		if h, err := parseHeader(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

func TestAssemblerRefuses(t *testing.T) {
	type step struct {
		flags           uint8
		bytes, declared int
	}
	for name, c := range map[string]struct { //plexus:orderfree independent cases
		steps []step
		err   error
	}{
		"a second first":     {[]step{{flagFirst, 5, 10}, {flagFirst, 5, 10}}, ErrMalformed},
		"a rest without":     {[]step{{flagLast, 5, 0}}, ErrMalformed},
		"too early a last":   {[]step{{flagFirst, 5, 10}, {flagLast, 4, 0}}, ErrMalformed},
		"no last":            {[]step{{flagFirst, 5, 10}, {0, 5, 0}}, ErrMalformed},
		"more than declared": {[]step{{flagFirst, 5, 10}, {flagLast, 6, 0}}, ErrMalformed},
		"a huge declaration": {[]step{{flagFirst, 5, 1 << 30}}, ErrTooLarge},
		"a large message":    {[]step{{flagFirst | flagLast, 1001, 0}}, ErrTooLarge},
	} {
		a := new(assembler)
		var err error
		for _, s := range c.steps {
			if _, err = a.add(s.flags, s.bytes, s.declared, 1000); err != nil {
				break
			}
		}
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzFrame reads arbitrary bytes as frames, in one piece and byte by byte.
func FuzzFrame(f *testing.F) {
	open := appendHeader(nil, header{kind: kindOpen, flags: flagFirst | flagLast | flagEnd, stream: 1, payload: 5})
	f.Add(append(open, 0, 3, 'a', 'b', 'c'))
	first := appendHeader(nil, header{kind: kindOpen, flags: flagFirst, stream: 1, payload: 8})
	first = append(first, 0, 3, 0, 0, 0, 4, 'a', 'b')
	first = appendHeader(first, header{kind: kindData, flags: flagLast, stream: 1, payload: 2})
	f.Add(append(first, 'c', 'd'))
	f.Add(append(appendHeader(nil, header{kind: kindPing, payload: 8}), make([]byte, 8)...))
	f.Add(append(appendHeader(nil, header{kind: kindCredit, payload: 4}), 0, 0, 1, 0))
	f.Add(open[:7])
	f.Fuzz(func(t *testing.T, b []byte) {
		lines, failure := transcript(bytes.NewReader(b), 64<<10)
		again, failureAgain := transcript(&pieces{rest: b, sizes: slices.Repeat([]int{1}, min(len(b), 1000))}, setupPayloadMax)
		if !slices.Equal(lines, again) || failure != failureAgain {
			t.Fatalf("in one piece %v, %s; byte by byte %v, %s", lines, failure, again, failureAgain)
		}
	})
}

// FuzzControlMessage reads arbitrary bytes as every control message: what decodes
// is used without harm and encodes again.
func FuzzControlMessage(f *testing.F) {
	seed := func(which uint8, b []byte, err error) {
		if err != nil {
			f.Fatal(err)
		}
		f.Add(which, b)
	}
	a := Announcement{Interconnect: "a:1", Applied: 7, Failures: []DomainFailure{{Domain: "d", Revision: 3, Reason: "r"}}}
	b, err := Encode(&interconnectpb.Probe{Target: testProcess("n3", 3, 4, 7).proto(), Announcement: a.proto(4)})
	seed(0, b, err)
	b, err = Encode(&interconnectpb.Reset{Code: resetRefused, Class: uint32(Rejected), Subject: "s", Detail: "d"})
	seed(1, b, err)
	b, err = Encode(&interconnectpb.Welcome{Process: testProcess("n3", 3, 4, 7).proto(), Cluster: testCluster[:]})
	seed(2, b, err)
	b, err = Encode(&interconnectpb.Refused{Code: 5, Detail: "d"})
	seed(3, b, err)
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		switch which % 4 {
		case 0:
			m := new(interconnectpb.Probe)
			if Decode(b, m) != nil {
				return
			}
			a := announcementOf(m.GetAnnouncement())
			if _, err := Encode(a.proto(1)); err != nil {
				t.Fatal(err)
			}
			if !a.equal(&a) {
				t.Fatal("an announcement differs from itself")
			}
		case 1:
			m := new(interconnectpb.Reset)
			if Decode(b, m) != nil {
				return
			}
			c := &connection{remote: testProcess("n3", 3, 4, 7)}
			if err := c.resetError(RuntimeDescribe, m); err == nil || err.Error() == "" {
				t.Fatalf("a RESET without an error: %v", err)
			}
		case 2:
			m := new(interconnectpb.Welcome)
			if Decode(b, m) != nil {
				return
			}
			r := testReception
			if p, refused := r.accept(m, nil, Peer{Node: "n3", RaftID: 3, Counter: 4}, testMembers()); refused == nil && p.Node != "n3" {
				t.Fatalf("accepted %v", p)
			}
		case 3:
			m := new(interconnectpb.Refused)
			if Decode(b, m) == nil && clip(m.GetDetail()) == "" && m.GetDetail() != "" && len(m.GetDetail()) < detailMax {
				t.Fatal("a detail was lost")
			}
		}
	})
}

// What answers instead of a member is named by the first bytes.
func TestStrangersAreNamed(t *testing.T) {
	for text, want := range map[string]func(error) bool{ //plexus:orderfree independent cases
		"HTTP/1.1 400 Bad Request\r\n\r\n": func(err error) bool { return errors.Is(err, ErrHTTP) },
		string(unexpectedMessage):          mixed,
		"SSH-2.0-x\r\n\r\n\r\n":            func(err error) bool { return errors.Is(err, ErrMalformed) && !mixed(err) },
	} {
		f := newFrameReader(strings.NewReader(text), 1<<10)
		_, err := f.next()
		if err = f.mixed(err); !want(err) {
			t.Errorf("%.8q: %v", text, err)
		}
	}
}
