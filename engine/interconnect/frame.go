package interconnect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// kind says what a frame is.
type kind uint8

const (
	kindHello kind = iota + 1
	kindWelcome
	kindRefused
	kindOpen
	kindData
	kindEnd
	kindReset
	kindCredit
	kindPing
	kindPong
	kindGoaway
	kindCount
)

var kindNames = [kindCount]string{"", "HELLO", "WELCOME", "REFUSED", "OPEN", "DATA", "END", "RESET", "CREDIT", "PING", "PONG", "GOAWAY"}

func (k kind) String() string {
	if k < kindCount {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Flags of OPEN and DATA. A message is one frame with both of the first two, or
// a first fragment, which declares the length of the whole, and further ones.
const (
	flagLast  = 1 << iota // the last fragment of its message
	flagFirst             // the first one
	flagEnd               // no further message follows in this direction
)

// flagDeparts on a GOAWAY says that the process ends, not only the connection.
const flagDeparts = 1

// header is a frame without its payload.
type header struct {
	kind    kind
	flags   uint8
	stream  uint32
	payload int
}

// appendHeader encodes a header.
func appendHeader(b []byte, h header) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(h.payload+headerBytes-4))
	b = append(b, byte(h.kind), h.flags, 0, 0)
	return binary.BigEndian.AppendUint32(b, h.stream)
}

// frameRule says what a kind allows.
type frameRule struct {
	least, most int // payload
	flags       uint8
	stream      bool // names a stream; CREDIT may do either
}

var frameRules = [kindCount]frameRule{
	kindHello:   {0, setupPayloadMax, 0, false},
	kindWelcome: {0, setupPayloadMax, 0, false},
	kindRefused: {0, noticeMax, 0, false},
	kindOpen:    {openBytes, payloadMax, flagFirst | flagLast | flagEnd, true},
	kindData:    {0, payloadMax, flagFirst | flagLast | flagEnd, true},
	kindEnd:     {0, 0, 0, true},
	kindReset:   {0, noticeMax, 0, true},
	kindCredit:  {4, 4, 0, true},
	kindPing:    {8, 8, 0, false},
	kindPong:    {8, 8, 0, false},
	kindGoaway:  {0, 0, flagDeparts, false},
}

const (
	openBytes    = 2 // of the operation number
	declareBytes = 4 // of the declared length
)

// parseHeader decodes and checks a header.
func parseHeader(b []byte) (header, error) {
	length := binary.BigEndian.Uint32(b)
	h := header{kind: kind(b[4]), flags: b[5], stream: binary.BigEndian.Uint32(b[8:])}
	switch {
	case h.kind == 0 || h.kind >= kindCount:
		return h, fmt.Errorf("%w: %s", ErrMalformed, h.kind)
	case length < headerBytes-4 || length > payloadMax+headerBytes-4:
		return h, fmt.Errorf("%w: %s of length %d", ErrMalformed, h.kind, length)
	case b[6] != 0 || b[7] != 0:
		return h, fmt.Errorf("%w: %s with reserved bytes", ErrMalformed, h.kind)
	}
	h.payload = int(length) - (headerBytes - 4)
	rule := &frameRules[h.kind]
	switch {
	case h.payload < rule.least || h.payload > rule.most:
		return h, fmt.Errorf("%w: %s with a payload of %d bytes", ErrMalformed, h.kind, h.payload)
	case h.flags&^rule.flags != 0:
		return h, fmt.Errorf("%w: %s with flags %#x", ErrMalformed, h.kind, h.flags)
	case (h.stream != 0) != rule.stream && h.kind != kindCredit:
		return h, fmt.Errorf("%w: %s on stream %d", ErrMalformed, h.kind, h.stream)
	case h.kind == kindOpen && h.flags&flagFirst == 0:
		return h, fmt.Errorf("%w: OPEN without the start of a message", ErrMalformed)
	case h.flags&flagEnd != 0 && h.flags&flagLast == 0:
		return h, fmt.Errorf("%w: %s ends within a message", ErrMalformed, h.kind)
	case h.kind == kindOpen || h.kind == kindData:
		least := 0
		if h.kind == kindOpen {
			least = openBytes
		}
		switch h.flags & (flagFirst | flagLast) {
		case flagFirst:
			least += declareBytes + 1
		case flagLast, 0:
			least++
		}
		if h.payload < least {
			return h, fmt.Errorf("%w: %s with a payload of %d bytes", ErrMalformed, h.kind, h.payload)
		}
	}
	return h, nil
}

// frameReader takes frames from a byte stream: the header first, then its payload
// in one piece or straight to where it belongs.
//
// It reads ahead only as much as is cheaper to copy than to read apart: behind a
// large frame another one is likely, whose payload is best read where it belongs.
type frameReader struct {
	src   io.Reader
	buf   []byte
	r, w  int
	ahead int // how much to read at once
}

// headAhead is how much is read ahead behind a large frame.
const headAhead = 1 << 10

func newFrameReader(src io.Reader, size int) *frameReader {
	return &frameReader{src: src, buf: make([]byte, size), ahead: size}
}

// next reads a header. A stream that ends between frames is io.EOF.
func (f *frameReader) next() (header, error) {
	if err := f.fill(headerBytes); err != nil {
		if errors.Is(err, io.EOF) && f.r == f.w {
			return header{}, io.EOF
		}
		return header{}, f.cut(err)
	}
	h, err := parseHeader(f.buf[f.r:])
	f.r += headerBytes
	f.ahead = len(f.buf)
	if h.payload >= len(f.buf)/2 {
		f.ahead = headAhead
	}
	return h, err
}

// peek returns n bytes of the payload without taking them, valid until the next
// call; n is at most the size of the buffer.
func (f *frameReader) peek(n int) ([]byte, error) {
	if err := f.fill(n); err != nil {
		return nil, f.cut(err)
	}
	return f.buf[f.r : f.r+n], nil
}

// take is peek and skip.
func (f *frameReader) take(n int) ([]byte, error) {
	b, err := f.peek(n)
	f.r += len(b)
	return b, err
}

// read fills p with payload.
func (f *frameReader) read(p []byte) error {
	n := copy(p, f.buf[f.r:f.w])
	f.r += n
	for n < len(p) {
		// A large rest goes straight to its place; a small one shares its read with
		// what follows it.
		if rest := p[n:]; len(rest) >= f.ahead {
			got, err := f.src.Read(rest)
			n += got
			if err != nil && n < len(p) {
				return f.cut(err)
			}
			continue
		}
		if err := f.fill(1); err != nil {
			return f.cut(err)
		}
		got := copy(p[n:], f.buf[f.r:f.w])
		f.r += got
		n += got
	}
	return nil
}

// discard drops n bytes of payload.
func (f *frameReader) discard(n int) error {
	for n > 0 {
		if err := f.fill(1); err != nil {
			return f.cut(err)
		}
		got := min(n, f.w-f.r)
		f.r += got
		n -= got
	}
	return nil
}

// buffered returns how many bytes are there without reading.
func (f *frameReader) buffered() int { return f.w - f.r }

// fill makes n bytes available.
func (f *frameReader) fill(n int) error {
	for f.w-f.r < n {
		if f.r == f.w {
			f.r, f.w = 0, 0
		}
		if f.r+n > len(f.buf) {
			f.w = copy(f.buf, f.buf[f.r:f.w])
			f.r = 0
		}
		got, err := f.src.Read(f.buf[f.w:min(len(f.buf), max(f.w+f.ahead, f.r+n))])
		f.w += got
		if err != nil && f.w-f.r < n {
			return err
		}
	}
	return nil
}

// cut names an end within a frame.
func (f *frameReader) cut(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: cut off", ErrMalformed)
	}
	return err
}

// mixed names a first frame that is a TLS record.
func (f *frameReader) mixed(err error) error {
	switch {
	case !errors.Is(err, ErrMalformed):
		return err
	case speaksTLS(f.buf):
		mixedSeen.Hit()
		return &SetupError{Code: SetupTransport, Detail: "the peer speaks TLS, this node has no certificates; give it --interconnect-tls-ca, --interconnect-tls-cert and --interconnect-tls-key"}
	case speaksHTTP(f.buf):
		return ErrHTTP
	}
	return err
}
