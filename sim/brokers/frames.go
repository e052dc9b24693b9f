package brokers

import (
	"encoding/binary"
	"errors"
	"io"

	"plexus/connectors/contract"
)

// A frame is four bytes of length, one of type, and a body of varints and
// length-prefixed texts.
const frameHeaderBytes = 5

// frameBytesMax bounds a frame, so that a torn stream is noticed.
const frameBytesMax = 64 << 20

// ErrFrame says that the peer does not speak this protocol.
var ErrFrame = errors.New("malformed frame")

// Out collects frames to write.
type Out struct {
	Bytes []byte
	start int
}

// Begin starts a frame.
func (o *Out) Begin(kind byte) {
	o.start = len(o.Bytes)
	o.Bytes = append(o.Bytes, 0, 0, 0, 0, kind)
}

// End completes the frame that Begin started.
func (o *Out) End() {
	binary.BigEndian.PutUint32(o.Bytes[o.start:], uint32(len(o.Bytes)-o.start-frameHeaderBytes))
}

// Uint appends a number.
func (o *Out) Uint(v uint64) { o.Bytes = binary.AppendUvarint(o.Bytes, v) }

// Blob appends bytes.
func (o *Out) Blob(b []byte) {
	o.Uint(uint64(len(b)))
	o.Bytes = append(o.Bytes, b...)
}

// Text appends a text.
func (o *Out) Text(s string) {
	o.Uint(uint64(len(s)))
	o.Bytes = append(o.Bytes, s...)
}

// Headers appends header fields.
func (o *Out) Headers(headers []contract.Header) {
	o.Uint(uint64(len(headers)))
	for i := range headers {
		o.Text(headers[i].Name)
		o.Text(headers[i].Value)
	}
}

// In reads the body of one frame. After the first mistake it yields zeros and
// Bad reports it.
type In struct {
	Kind byte
	Bad  bool
	rest []byte
}

// More reports whether anything is left.
func (in *In) More() bool { return len(in.rest) > 0 && !in.Bad }

// Body returns what is left.
func (in *In) Body() []byte { return in.rest }

// Over reads the same frame from bytes of the caller's own.
func (in *In) Over(body []byte) In { return In{Kind: in.Kind, rest: body} }

// Uint reads a number.
func (in *In) Uint() uint64 {
	v, n := binary.Uvarint(in.rest)
	if n <= 0 {
		in.Bad, in.rest = true, nil
		return 0
	}
	in.rest = in.rest[n:]
	return v
}

// Blob reads bytes, which alias the frame.
func (in *In) Blob() []byte {
	n := in.Uint()
	if n > uint64(len(in.rest)) {
		in.Bad, in.rest = true, nil
		return nil
	}
	b := in.rest[:n:n]
	in.rest = in.rest[n:]
	return b
}

// Text reads a text.
func (in *In) Text() string { return string(in.Blob()) }

// Headers reads header fields.
func (in *In) Headers() []contract.Header {
	n := in.Uint()
	if n == 0 || n > uint64(len(in.rest)) {
		in.Bad = in.Bad || n > 0
		return nil
	}
	headers := make([]contract.Header, n)
	for i := range headers {
		headers[i] = contract.Header{Name: in.Text(), Value: in.Text()}
	}
	return headers
}

// Frames reads frames from a stream.
type Frames struct {
	from       io.Reader
	buf        []byte
	read, used int // bytes filled, bytes consumed
}

// framesBufferBytes is where the buffer of a stream starts.
const framesBufferBytes = 8 << 10

// NewFrames returns a reader.
func NewFrames(from io.Reader) *Frames {
	return &Frames{from: from, buf: make([]byte, framesBufferBytes)}
}

// Fill waits for more bytes. It invalidates the frames returned before.
func (f *Frames) Fill() error {
	if f.used > 0 {
		copy(f.buf, f.buf[f.used:f.read])
		f.read -= f.used
		f.used = 0
	}
	if f.read == len(f.buf) {
		f.buf = append(f.buf, make([]byte, len(f.buf))...)
	}
	n, err := f.from.Read(f.buf[f.read:])
	f.read += n
	if n > 0 {
		return nil
	}
	return err
}

// Next returns the next complete frame, or false when Fill has to be called.
func (f *Frames) Next() (In, bool, error) {
	unread := f.buf[f.used:f.read]
	if len(unread) < frameHeaderBytes {
		return In{}, false, nil
	}
	size := binary.BigEndian.Uint32(unread)
	if size > frameBytesMax {
		return In{}, false, ErrFrame
	}
	end := frameHeaderBytes + int(size)
	if len(unread) < end {
		return In{}, false, nil
	}
	f.used += end
	return In{Kind: unread[4], rest: unread[frameHeaderBytes:end:end]}, true, nil
}
