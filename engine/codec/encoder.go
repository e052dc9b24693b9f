package codec

import (
	"github.com/apache/arrow-go/v18/arrow"

	"plexus/engine/batch"
	"plexus/engine/decide"
)

// Encoder writes the documents of one wire schema. It is immutable.
type Encoder struct{ document }

// NewEncoder compiles a plan.
func NewEncoder(plan *decide.CodecPlan) (*Encoder, error) {
	d, err := compile(plan)
	if err != nil {
		return nil, err
	}
	return &Encoder{*d}, nil
}

// Page reads the rows of one batch at a time for an encoder. It belongs to one
// task.
type Page struct {
	encoder *Encoder
	readers []*reader // by field of the document
}

// NewPage returns a page without a batch.
func (e *Encoder) NewPage() *Page {
	p := &Page{encoder: e}
	for _, f := range e.fields {
		p.readers = append(p.readers, newReader(f.kind))
	}
	return p
}

// Bind points the page at a batch of the encoder's schema, which must live until
// the next Bind or [Page.Unbind].
func (p *Page) Bind(rec arrow.RecordBatch) {
	for i, r := range p.readers {
		r.bind(rec.Column(p.encoder.fields[i].column).Data())
	}
}

// Unbind forgets the batch.
func (p *Page) Unbind() {
	for _, r := range p.readers {
		r.unbind()
	}
}

// encode appends the document of one row and returns the field that failed, or
// -1.
func (p *Page) encode(dst []byte, row int) (_ []byte, failed int) {
	open := byte('{')
	for i, r := range p.readers {
		if r.null(row) {
			continue
		}
		dst = append(append(dst, open), p.encoder.fields[i].key...)
		open = ','
		var ok bool
		if dst, ok = r.append(dst, row); !ok {
			return dst, i
		}
	}
	if open == '{' {
		dst = append(dst, open)
	}
	return append(dst, '}'), -1
}

func (p *Page) failure(field int) *EncodeError {
	return &EncodeError{Codec: p.encoder.codec, Field: p.encoder.fields[field].name, Reason: "NaN and infinities have no JSON form"}
}

func (p *Page) tooLarge(size int, limit int64) *SizeError {
	return &SizeError{Codec: p.encoder.codec, Size: int64(size), Limit: limit}
}

// Members are encoded documents, back to back: member i is
// Bytes[Ends[i-1]:Ends[i]]. They can be published one by one, or packed into
// containers without encoding them again.
type Members struct {
	Bytes []byte
	Ends  []int
	Rows  []int32 // the row of each member
}

// Reset empties the list and keeps its memory.
func (m *Members) Reset() { m.Bytes, m.Ends, m.Rows = m.Bytes[:0], m.Ends[:0], m.Rows[:0] }

// Member returns the document of member i.
func (m *Members) Member(i int) []byte { return m.Bytes[m.start(i):m.Ends[i]] }

func (m *Members) start(i int) int {
	if i == 0 {
		return 0
	}
	return m.Ends[i-1]
}

// RowError is a row that does not encode. Err is an [*EncodeError] or a
// [*SizeError].
type RowError struct {
	Row int32
	Err error
}

// EncodeRows appends the documents of the selected rows to m, and returns the
// rows that have none, ascending; their neighbours are unaffected.
func (p *Page) EncodeRows(m *Members, rows batch.Selection) []RowError {
	var failed []RowError
	for i := range rows.Len() {
		row := rows.At(i)
		from := len(m.Bytes)
		out, field := p.encode(m.Bytes, int(row))
		switch size := len(out) - from; {
		case field >= 0:
			m.Bytes = out[:from]
			failed = append(failed, RowError{row, p.failure(field)})
		case size > PayloadBytesMax:
			m.Bytes = out[:from]
			failed = append(failed, RowError{row, p.tooLarge(size, PayloadBytesMax)})
		default:
			m.Bytes = out
			m.Ends = append(m.Ends, len(out))
			m.Rows = append(m.Rows, row)
		}
	}
	return failed
}

// ContainerSize returns the exact bytes of the container of the members from
// start to before end.
func (m *Members) ContainerSize(start, end int) int64 {
	if start == end {
		return 2
	}
	return int64(m.Ends[end-1]-m.start(start)) + int64(end-start) + 1 // brackets and commas
}

// AppendContainer appends the members from start to before end as one payload, a
// JSON array. A container exists for one member too.
func (m *Members) AppendContainer(dst []byte, start, end int) []byte {
	dst = append(dst, '[')
	for i := start; i < end; i++ {
		if i > start {
			dst = append(dst, ',')
		}
		dst = append(dst, m.Member(i)...)
	}
	return append(dst, ']')
}
