package typed

import (
	"math"
	"testing"

	"plexus/nspl/vocab"
)

// TestConstantCasts goes through the edges of the cast table.
func TestConstantCasts(t *testing.T) {
	const day = 86400 * int64(1e9)
	for _, c := range []struct {
		from vocab.Kind
		in   Literal
		to   vocab.Kind
		want Literal
		ok   bool
	}{
		{vocab.I64, Literal{Int: 255}, vocab.U8, Literal{Uint: 255}, true},
		{vocab.I64, Literal{Int: 256}, vocab.U8, Literal{}, false},
		{vocab.I64, Literal{Int: -1}, vocab.U64, Literal{}, false},
		{vocab.I64, Literal{Int: math.MaxInt64}, vocab.U64, Literal{Uint: math.MaxInt64}, true},
		{vocab.I64, Literal{Int: -128}, vocab.I8, Literal{Int: -128}, true},
		{vocab.I64, Literal{Int: -129}, vocab.I8, Literal{}, false},
		{vocab.U64, Literal{Uint: math.MaxUint64}, vocab.I64, Literal{}, false},
		{vocab.U64, Literal{Uint: math.MaxUint64}, vocab.Datetime, Literal{}, false},
		{vocab.U64, Literal{Uint: math.MaxUint64}, vocab.F64, Literal{Float: 0x1p64}, true},
		{vocab.U8, Literal{Uint: 200}, vocab.I8, Literal{}, false},
		{vocab.F64, Literal{Float: -0.9}, vocab.U8, Literal{}, true},
		{vocab.F64, Literal{Float: 0x1p63}, vocab.I64, Literal{}, false},
		{vocab.F64, Literal{Float: -0x1p63}, vocab.I64, Literal{Int: math.MinInt64}, true},
		{vocab.F64, Literal{Float: 0x1p63}, vocab.U64, Literal{Uint: 1 << 63}, true},
		{vocab.F64, Literal{Float: 0x1p64}, vocab.U64, Literal{}, false},
		{vocab.F64, Literal{Float: math.Inf(1)}, vocab.I64, Literal{}, false},
		{vocab.F64, Literal{Float: 1e300}, vocab.F32, Literal{Float: math.Inf(1)}, true},
		{vocab.F64, Literal{Float: 1.5}, vocab.Datetime, Literal{Int: 1}, true},
		{vocab.Bool, Literal{Bool: true}, vocab.U8, Literal{Uint: 1}, true},
		{vocab.F64, Literal{Float: 0.1}, vocab.Bool, Literal{Bool: true}, true},
		{vocab.Datetime, Literal{Int: day}, vocab.String, Literal{Str: "1970-01-02T00:00:00+00:00"}, true},
		{vocab.Datetime, Literal{Int: 1_500_000}, vocab.String, Literal{Str: "1970-01-01T00:00:00.001500+00:00"}, true},
		{vocab.Datetime, Literal{Int: -1}, vocab.String, Literal{Str: "1969-12-31T23:59:59.999999999+00:00"}, true},
		{vocab.F64, Literal{Float: 1}, vocab.String, Literal{Str: "1"}, true},
		{vocab.F64, Literal{Float: 1e21}, vocab.String, Literal{Str: "1000000000000000000000"}, true},
		{vocab.F64, Literal{Float: math.Inf(-1)}, vocab.String, Literal{Str: "-inf"}, true},
		{vocab.F64, Literal{Float: math.Inf(1)}, vocab.String, Literal{Str: "inf"}, true},
		{vocab.String, Literal{Str: "+7"}, vocab.U8, Literal{Uint: 7}, true},
		{vocab.String, Literal{Str: "-0"}, vocab.U8, Literal{}, true},
		{vocab.String, Literal{Str: " 7"}, vocab.I8, Literal{}, false},
		{vocab.String, Literal{Str: "0x7"}, vocab.I8, Literal{}, false},
		{vocab.String, Literal{Str: "1_0"}, vocab.F64, Literal{}, false},
		{vocab.String, Literal{Str: "0x1p4"}, vocab.F64, Literal{}, false},
		{vocab.String, Literal{Str: "1e999"}, vocab.F64, Literal{Float: math.Inf(1)}, true},
		{vocab.String, Literal{Str: "-Infinity"}, vocab.F64, Literal{Float: math.Inf(-1)}, true},
		{vocab.String, Literal{Str: " YES "}, vocab.Bool, Literal{Bool: true}, true},
		{vocab.String, Literal{Str: "maybe"}, vocab.Bool, Literal{}, false},
		{vocab.String, Literal{Str: "1970-01-02t00:00:00z"}, vocab.Datetime, Literal{Int: day}, true},
		{vocab.String, Literal{Str: "1970-01-02 01:00:00.000000001+01:00"}, vocab.Datetime, Literal{Int: day + 1}, true},
		{vocab.String, Literal{Str: "1970-01-02T00:00:00"}, vocab.Datetime, Literal{}, false},
		{vocab.String, Literal{Str: "1970-01-02T00:00:60Z"}, vocab.Datetime, Literal{}, false},
		{vocab.String, Literal{Str: "1970-01-02T00:00:00.0000000001Z"}, vocab.Datetime, Literal{}, false},
		{vocab.String, Literal{Str: "1970-01-02T00:00:00,5Z"}, vocab.Datetime, Literal{}, false},
		{vocab.String, Literal{Str: "2262-04-11T23:47:16.854775807Z"}, vocab.Datetime, Literal{Int: math.MaxInt64}, true},
		{vocab.String, Literal{Str: "2262-04-11T23:47:16.854775808Z"}, vocab.Datetime, Literal{}, false},
		{vocab.String, Literal{Str: "1677-09-21T00:12:43.145224192Z"}, vocab.Datetime, Literal{Int: math.MinInt64}, true},
		{vocab.String, Literal{Str: "1677-09-21T00:12:43.145224191Z"}, vocab.Datetime, Literal{}, false},
	} {
		got, ok := convert(c.in, c.from, c.to)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%v of %s as %s: %v %v, want %v %v", c.in, c.from, c.to, got, ok, c.want, c.ok)
		}
	}
}

// TestCastTable: what is castable, and which of it can fail.
func TestCastTable(t *testing.T) {
	for from := vocab.U8; from <= vocab.Datetime; from++ {
		for to := vocab.U8; to <= vocab.Datetime; to++ {
			if castable(from, to) != castable(to, from) {
				t.Errorf("%s and %s are castable one way only", from, to)
			}
			if from == to && castFails(from, to) {
				t.Errorf("%s to %s cannot fail", from, to)
			}
		}
	}
	for _, fails := range [][2]vocab.Kind{{vocab.I8, vocab.U64}, {vocab.U64, vocab.I64}, {vocab.U8, vocab.I8}, {vocab.I16, vocab.I8},
		{vocab.F32, vocab.I64}, {vocab.String, vocab.Bool}, {vocab.String, vocab.F32}, {vocab.Datetime, vocab.U64}, {vocab.U64, vocab.Datetime},
		{vocab.F64, vocab.Datetime}, {vocab.String, vocab.Datetime}} {
		if !castFails(fails[0], fails[1]) {
			t.Errorf("%s to %s can fail", fails[0], fails[1])
		}
	}
	for _, never := range [][2]vocab.Kind{{vocab.U8, vocab.I16}, {vocab.I8, vocab.I64}, {vocab.U32, vocab.U64}, {vocab.I64, vocab.F32},
		{vocab.F64, vocab.F32}, {vocab.F64, vocab.Bool}, {vocab.Bool, vocab.U8}, {vocab.Datetime, vocab.I64}, {vocab.Datetime, vocab.F64},
		{vocab.I64, vocab.Datetime}, {vocab.U32, vocab.Datetime}} {
		if castFails(never[0], never[1]) {
			t.Errorf("%s to %s cannot fail", never[0], never[1])
		}
	}
}
