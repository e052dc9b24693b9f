package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"plexus/engine/batch"
	"plexus/nspl/vocab"
)

// choiceNull is the choice of a row that takes null.
const choiceNull = -1

// merge makes a column whose row i is row i of the arm choice[i]. Texts that
// together pass what one column holds fail with full, or are null without it. t
// is needed for lists only.
func (f *frame) merge(kind vocab.Kind, t arrow.DataType, arms []vec, choice []int16, full *Fault) vec {
	out := vec{kind: kind, valid: f.mergeValidity(arms, choice)}
	switch {
	case kind == vocab.Bool:
		out.bits = f.scratch.empty(f.n)
		for i, k := range choice {
			if k >= 0 && arms[k].bits.has(arms[k].at(i)) {
				out.bits.set(i)
			}
		}
	case kind == vocab.String || kind == vocab.Bytes:
		return f.mergeText(out.valid, arms, choice, full)
	case kind.Scalar():
		out.fixed = f.scratch.bytes(f.n * batch.Width(kind))
		mergeFixed(out.fixed, batch.Width(kind), arms, choice)
	default:
		f.mergeLists(&out, t, arms, choice)
	}
	return out
}

func (f *frame) mergeValidity(arms []vec, choice []int16) bitmap {
	valid := f.scratch.full(f.n)
	nulls := false
	for i, k := range choice {
		if k < 0 || arms[k].null(i) {
			valid.unset(i)
			nulls = true
		}
	}
	if !nulls {
		return nil
	}
	return valid
}

func mergeFixed(to []byte, width int, arms []vec, choice []int16) {
	switch width {
	case 1:
		mergeValues[uint8](to, arms, choice)
	case 2:
		mergeValues[uint16](to, arms, choice)
	case 4:
		mergeValues[uint32](to, arms, choice)
	default:
		mergeValues[uint64](to, arms, choice)
	}
}

func mergeValues[T number](raw []byte, arms []vec, choice []int16) {
	to := as[T](raw)
	for i, k := range choice {
		if k < 0 {
			to[i] = 0
			continue
		}
		to[i] = as[T](arms[k].fixed)[arms[k].at(i)]
	}
}

func (f *frame) mergeText(valid bitmap, arms []vec, choice []int16, full *Fault) vec {
	var size int64
	for i, k := range choice {
		if k >= 0 {
			size += int64(len(arms[k].text(i)))
		}
	}
	t := f.text(valid, int(min(size, columnBytesMax)))
	for i, k := range choice {
		if k >= 0 && !arms[k].null(i) {
			t.append(i, arms[k].text(i))
		} else {
			t.append(i, nil)
		}
	}
	return t.finish(full)
}

// mergeLists joins the list columns of all arms, and one null, and picks rows of
// the result.
func (f *frame) mergeLists(out *vec, t arrow.DataType, arms []vec, choice []int16) {
	parts := []arrow.Array{batch.Nulls(f.ctx.Memory, t, 1)}
	defer parts[0].Release()
	base := make([]int32, len(arms))
	next := int32(1)
	for k := range arms {
		if arms[k].list != nil {
			base[k] = next
			next += int32(arms[k].list.Len())
			parts = append(parts, arms[k].list)
		}
	}
	out.rows = f.scratch.int32s(f.n)
	for i, k := range choice {
		out.rows[i] = 0
		if k >= 0 && !arms[k].null(i) {
			out.rows[i] = base[k] + arms[k].rows[arms[k].at(i)]
		}
	}
	joined, err := array.Concatenate(parts, f.ctx.Memory)
	if err != nil {
		// The offsets of 2^31 elements do not fit: the rows become null.
		clear(out.rows)
		out.valid = f.scratch.empty(f.n)
		out.list = f.keep(batch.Nulls(f.ctx.Memory, t, 1))
		return
	}
	out.list = f.keep(joined)
}

// keep releases a list column at the end of the run.
func (f *frame) keep(a arrow.Array) arrow.Array {
	f.joined = append(f.joined, a)
	return a
}
