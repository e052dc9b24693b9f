package expr

import (
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// conversion computes a column of another type and marks the rows whose value
// does not convert. Rows outside todo may be left out; nil is every row.
type conversion func(f *frame, v *vec, todo bitmap) (out vec, bad bitmap)

// cast gives CAST and TRY_CAST their kernel: the same conversion, whose failures
// are row errors or nulls.
func (c *compiler) cast(d *node, e *typed.Expr) error {
	from, to := e.Args[0].Type.Kind, e.Type.Kind
	if from == to && from.Scalar() {
		d.kernel = identity
		return nil
	}
	convert := c.conversion(from, to)
	if convert == nil {
		return unsupported(e)
	}
	fault := c.fault(CastFailed, "AS "+to.String(), "a value of type "+from.String()+" does not convert")
	try := e.Op == typed.OpTryCast
	d.kernel = func(f *frame, args []vec) vec {
		a := &args[0]
		out, bad := convert(f, a, f.todo(a.valid))
		if out.valid == nil {
			out.valid = a.valid
		}
		switch {
		case bad == nil:
		case try:
			out.valid = f.scratch.without(f.n, out.valid, bad)
		default:
			out.valid = f.failing(out.valid, bad, fault)
		}
		return out
	}
	return nil
}

// conversion returns how one kind converts to another, nil where it does not.
func (c *compiler) conversion(from, to vocab.Kind) conversion {
	switch {
	case from == vocab.Bytes || to == vocab.Bytes || !from.Scalar() || !to.Scalar():
		return nil
	case from == vocab.Bool && to == vocab.Datetime || from == vocab.Datetime && to == vocab.Bool:
		return nil
	case from == vocab.String:
		return parser(to)
	case to == vocab.String:
		return c.formatter(from)
	case to == vocab.Bool:
		return truth(from)
	case from == vocab.Bool:
		return fromBool(to)
	default:
		return numbers(from, to)
	}
}

// numbers converts between fixed-width kinds; DATETIME counts as I64.
func numbers(from, to vocab.Kind) conversion {
	switch from {
	case vocab.U8:
		return numbersFrom[uint8](from, to)
	case vocab.U16:
		return numbersFrom[uint16](from, to)
	case vocab.U32:
		return numbersFrom[uint32](from, to)
	case vocab.U64:
		return numbersFrom[uint64](from, to)
	case vocab.I8:
		return numbersFrom[int8](from, to)
	case vocab.I16:
		return numbersFrom[int16](from, to)
	case vocab.I32:
		return numbersFrom[int32](from, to)
	case vocab.I64, vocab.Datetime:
		return numbersFrom[int64](from, to)
	case vocab.F32:
		return numbersFrom[float32](from, to)
	default:
		return numbersFrom[float64](from, to)
	}
}

func numbersFrom[S number](from, to vocab.Kind) conversion {
	switch to {
	case vocab.U8:
		return numbersTo[S, uint8](from, 0, 1<<8)
	case vocab.U16:
		return numbersTo[S, uint16](from, 0, 1<<16)
	case vocab.U32:
		return numbersTo[S, uint32](from, 0, 1<<32)
	case vocab.U64:
		return numbersTo[S, uint64](from, 0, 1<<64)
	case vocab.I8:
		return numbersTo[S, int8](from, -1<<7, 1<<7)
	case vocab.I16:
		return numbersTo[S, int16](from, -1<<15, 1<<15)
	case vocab.I32:
		return numbersTo[S, int32](from, -1<<31, 1<<31)
	case vocab.I64, vocab.Datetime:
		return numbersTo[S, int64](from, -1<<63, 1<<63)
	case vocab.F32:
		return plain[S, float32]
	default:
		return plain[S, float64]
	}
}

// plain rounds to the nearest value and never fails.
func plain[S, T number](f *frame, v *vec, _ bitmap) (vec, bitmap) {
	in := as[S](v.fixed)
	out, raw := fixed[T](f.scratch, f.n)
	for i := range out {
		out[i] = T(in[i])
	}
	return vec{fixed: raw}, nil
}

// numbersTo converts to the integers in [low, high).
func numbersTo[S, T number](from vocab.Kind, low, high float64) conversion {
	if from.Float() {
		return func(f *frame, v *vec, _ bitmap) (vec, bitmap) {
			in := as[S](v.fixed)
			out, raw := fixed[T](f.scratch, f.n)
			bad := f.scratch.bits(f.n)
			each(bad, out, func(i int) uint64 {
				x := float64(in[i])
				// Toward zero, -0.9 is 0 and fits unsigned types.
				if x > low-1 && x < high || x == low {
					out[i] = T(truncate(x))
					return 0
				}
				out[i] = 0
				return 1
			})
			return vec{fixed: raw}, bad
		}
	}
	return func(f *frame, v *vec, _ bitmap) (vec, bitmap) {
		in := as[S](v.fixed)
		out, raw := fixed[T](f.scratch, f.n)
		bad := f.scratch.bits(f.n)
		each(bad, out, func(i int) uint64 {
			out[i] = T(in[i])
			return bit(S(out[i]) != in[i] || (out[i] < 0) != (in[i] < 0))
		})
		return vec{fixed: raw}, bad
	}
}

// truncate drops the fraction. Values that have one fit int64.
func truncate(x float64) float64 {
	if x > -1<<53 && x < 1<<53 {
		return float64(int64(x))
	}
	return x
}

// truth is false for zero and true for everything else, NaN included.
func truth(from vocab.Kind) conversion {
	nonZero := comparison(typed.OpNe, from)
	return func(f *frame, v *vec, _ bitmap) (vec, bitmap) {
		zero := f.scratch.expand(nullOf(from), f.n)
		return vec{bits: nonZero(f, []vec{*v, zero}).bits}, nil
	}
}

func fromBool(to vocab.Kind) conversion {
	switch to {
	case vocab.U8, vocab.I8:
		return bools[uint8]
	case vocab.U16, vocab.I16:
		return bools[uint16]
	case vocab.U32, vocab.I32:
		return bools[uint32]
	case vocab.U64, vocab.I64:
		return bools[uint64]
	case vocab.F32:
		return bools[float32]
	default:
		return bools[float64]
	}
}

func bools[T number](f *frame, v *vec, _ bitmap) (vec, bitmap) {
	out, raw := fixed[T](f.scratch, f.n)
	for i := range out {
		out[i] = T(v.bits[i>>6] >> (i & 63) & 1)
	}
	return vec{fixed: raw}, nil
}
