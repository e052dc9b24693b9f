package trace

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"plexus/sim"
)

// Format names the file format.
const Format = "plexus-trace/1"

// ErrFormat says that a file is no trace, or not of this format.
var ErrFormat = errors.New("not a trace of format " + Format)

// Header says what run a trace is of.
type Header struct {
	Format   string          `json:"format"`
	Build    string          `json:"build"`
	Go       string          `json:"go"`
	Arch     string          `json:"arch"`
	Mode     string          `json:"mode"`
	Scenario string          `json:"scenario"`
	Seed     uint64          `json:"seed"`
	Nodes    int             `json:"nodes,omitempty"`
	Profile  string          `json:"profile,omitempty"`
	Strategy string          `json:"strategy,omitempty"`
	Plan     json.RawMessage `json:"plan,omitempty"`
}

const (
	tagName       = 0
	tagCheckpoint = 1
	tagKinds      = 1 // added to a kind
	nameBytesMax  = 1 << 12
)

// Writer is a tracer that writes a file.
type Writer struct {
	out  *bufio.Writer
	last time.Duration
	buf  []byte
	err  error
}

var _ sim.Tracer = (*Writer)(nil)

// NewWriter writes the header. Errors are reported by Close.
func NewWriter(w io.Writer, h Header) *Writer {
	h.Format = Format
	t := &Writer{out: bufio.NewWriterSize(w, 1<<16)}
	line, err := json.Marshal(h)
	t.err = err
	t.write(append(line, '\n'))
	return t
}

func (t *Writer) write(p []byte) {
	if t.err == nil {
		_, t.err = t.out.Write(p)
	}
}

// Name implements sim.Tracer.
func (t *Writer) Name(kind sim.Kind, id uint32, name string) {
	name = name[:min(len(name), nameBytesMax)]
	b := append(t.buf[:0], tagName, byte(kind))
	b = binary.AppendUvarint(b, uint64(id))
	b = binary.AppendUvarint(b, uint64(len(name)))
	t.buf = append(b, name...)
	t.write(t.buf)
}

// Record implements sim.Tracer.
func (t *Writer) Record(r sim.Record) {
	b := append(t.buf[:0], byte(r.Kind)+tagKinds)
	b = binary.AppendUvarint(b, uint64(r.At-t.last))
	b = binary.AppendUvarint(b, uint64(r.Task))
	b = binary.AppendUvarint(b, r.A)
	t.buf = binary.AppendUvarint(b, r.B)
	t.last = r.At
	t.write(t.buf)
}

// Checkpoint implements sim.Tracer.
func (t *Writer) Checkpoint(digest uint64) {
	t.buf = binary.BigEndian.AppendUint64(append(t.buf[:0], tagCheckpoint), digest)
	t.write(t.buf)
}

// Close writes what is buffered and returns the first error.
func (t *Writer) Close() error {
	if t.err != nil {
		return t.err
	}
	return t.out.Flush()
}

// Reader reads a file entry by entry.
type Reader struct {
	Header Header
	in     *bufio.Reader
	event  uint64
	at     time.Duration
	tasks  map[uint32]string
	labels map[uint32]string
	digest uint64 // the last checkpoint
}

// NewReader reads the header.
func NewReader(r io.Reader) (*Reader, error) {
	t := &Reader{in: bufio.NewReaderSize(r, 1<<16), tasks: map[uint32]string{}, labels: map[uint32]string{}}
	line, err := t.in.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if err := json.Unmarshal(bytes.TrimSpace(line), &t.Header); err != nil || t.Header.Format != Format {
		return nil, ErrFormat
	}
	return t, nil
}

// Next returns the next record, io.EOF after the last one.
func (t *Reader) Next() (sim.Record, error) {
	for {
		tag, err := t.in.ReadByte()
		if err != nil {
			return sim.Record{}, err
		}
		switch tag {
		case tagName:
			err = t.name()
		case tagCheckpoint:
			var b [8]byte
			_, err = io.ReadFull(t.in, b[:])
			t.digest = binary.BigEndian.Uint64(b[:])
		default:
			r, err := t.record(sim.Kind(tag - tagKinds))
			return r, cut(err)
		}
		if err != nil {
			return sim.Record{}, cut(err)
		}
	}
}

// cut turns an end inside an entry into an error that says so.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (t *Reader) name() error {
	kind, err := t.in.ReadByte()
	if err != nil {
		return err
	}
	id, err := binary.ReadUvarint(t.in)
	if err != nil {
		return err
	}
	length, err := binary.ReadUvarint(t.in)
	if err != nil {
		return err
	}
	if length > nameBytesMax {
		return ErrFormat
	}
	b := make([]byte, length)
	if _, err := io.ReadFull(t.in, b); err != nil {
		return err
	}
	if sim.Kind(kind) == sim.KindMark {
		t.labels[uint32(id)] = string(b)
	} else {
		t.tasks[uint32(id)] = string(b)
	}
	return nil
}

func (t *Reader) record(kind sim.Kind) (sim.Record, error) {
	var v [4]uint64
	for i := range v {
		n, err := binary.ReadUvarint(t.in)
		if err != nil {
			return sim.Record{}, err
		}
		v[i] = n
	}
	t.at += time.Duration(v[0])
	r := sim.Record{Event: t.event, At: t.at, Kind: kind, Task: uint32(v[1]), A: v[2], B: v[3]}
	t.event++
	return r, nil
}

// Who names the task or the label of a record.
func (t *Reader) Who(r sim.Record) string {
	switch {
	case r.Kind == sim.KindMark:
		return t.labels[r.Task]
	case r.Task == 0:
		return "-"
	case t.tasks[r.Task] == "":
		return fmt.Sprintf("task %d", r.Task)
	}
	return t.tasks[r.Task]
}

// Render is one line for people.
func (t *Reader) Render(r sim.Record) string {
	detail := r.Detail()
	if r.Kind == sim.KindUnpark {
		if name := t.tasks[uint32(r.A)]; name != "" {
			detail = name
		}
	}
	return fmt.Sprintf("%9d %14v %-8s %-32s %s", r.Event, r.At, r.Kind, t.Who(r), detail)
}
