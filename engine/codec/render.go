package codec

import (
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"plexus/nspl/vocab"
)

// masked stands for every sensitive value that is shown.
const masked = "<masked>"

// Renderer writes rows of any schema for people and clients: subscription rows,
// materialised records, lookups. Members are sorted by name, nulls left out and
// sensitive values masked. It belongs to one task.
type Renderer struct {
	members []renderMember
}

type renderMember struct {
	key       []byte
	column    int
	sensitive bool
	reader    *reader
}

// NewRenderer returns a renderer for a schema.
func NewRenderer(schema *vocab.Schema) *Renderer {
	r := &Renderer{}
	order := make([]int, len(schema.Fields))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(schema.Fields[a].Name, schema.Fields[b].Name) })
	for _, i := range order {
		f := &schema.Fields[i]
		r.members = append(r.members, renderMember{
			key:       append(appendString(nil, []byte(f.Name)), ':'),
			column:    i,
			sensitive: f.Sensitive,
			reader:    newReader(f.Type),
		})
	}
	return r
}

// Bind points the renderer at a batch, which must live until the next Bind.
func (r *Renderer) Bind(rec arrow.RecordBatch) {
	for i := range r.members {
		r.members[i].reader.bind(rec.Column(r.members[i].column).Data())
	}
}

// Append appends one row as an object. A float that JSON has no number for is
// written as the text a cast gives it.
func (r *Renderer) Append(dst []byte, row int) []byte {
	open := byte('{')
	for i := range r.members {
		m := &r.members[i]
		if m.reader.null(row) {
			continue
		}
		dst = append(append(dst, open), m.key...)
		open = ','
		if m.sensitive {
			dst = appendString(dst, []byte(masked))
			continue
		}
		dst = m.reader.render(dst, row)
	}
	if open == '{' {
		dst = append(dst, open)
	}
	return append(dst, '}')
}

// render is append for values that a codec would refuse as well.
func (r *reader) render(dst []byte, row int) []byte {
	switch r.kind {
	case vocab.Array:
		first := (r.start + row) * r.length
		return r.renderList(dst, first, first+r.length)
	case vocab.Vec:
		start, end := r.span(row)
		return r.renderList(dst, start, end)
	}
	from := len(dst)
	dst, ok := r.append(dst, row)
	if ok {
		return dst
	}
	return append(dst[:from], r.notFinite(row)...)
}

func (r *reader) renderList(dst []byte, start, end int) []byte {
	dst = append(dst, '[')
	for k := start; k < end; k++ {
		if k > start {
			dst = append(dst, ',')
		}
		dst = r.child.render(dst, k)
	}
	return append(dst, ']')
}

func (r *reader) notFinite(row int) string {
	x := math.Float64frombits(r.uint(row))
	if r.kind == vocab.F32 {
		x = float64(math.Float32frombits(uint32(r.uint(row))))
	}
	switch {
	case math.IsInf(x, 1):
		return `"inf"`
	case math.IsInf(x, -1):
		return `"-inf"`
	default:
		return `"NaN"`
	}
}
