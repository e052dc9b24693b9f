package codec

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Group collects the messages of consecutive payloads in columns of one
// decoder's schema. It belongs to one task.
type Group struct {
	layout  *arrow.Schema
	columns []*column
	rows    int
	bytes   int // of the payloads
	parser  parser
}

// NewGroup returns an empty group. Its columns come from mem.
func (d *Decoder) NewGroup(mem memory.Allocator) *Group {
	g := &Group{layout: d.layout}
	for _, f := range d.schema.Fields {
		g.columns = append(g.columns, newColumn(mem, f.Type, f.Optional))
	}
	g.parser.seen = make([]bool, len(d.fields))
	return g
}

// Rows returns the messages in the group.
func (g *Group) Rows() int { return g.rows }

// Finish returns the messages as a batch, which the caller releases, and leaves
// the group empty.
func (g *Group) Finish() arrow.RecordBatch {
	arrays := make([]arrow.Array, len(g.columns))
	for i, c := range g.columns {
		data := c.finish()
		arrays[i] = array.MakeFromData(data)
		data.Release()
	}
	out := array.NewRecordBatch(g.layout, arrays, int64(g.rows))
	for _, a := range arrays {
		a.Release()
	}
	g.rows, g.bytes = 0, 0
	return out
}

// Release gives the group's memory back. Messages that were not finished are
// lost.
func (g *Group) Release() {
	for _, c := range g.columns {
		c.release()
	}
}
