package batch

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"plexus/engine/batch/batchtest"
	"plexus/nspl/vocab"
)

// TestNulls makes nulls of every type in buffers that hold something else.
func TestNulls(t *testing.T) {
	types := []vocab.Type{vocab.VecOf(vocab.Scalar(vocab.String)), vocab.VecOf(vocab.VecOf(vocab.Scalar(vocab.F32))),
		vocab.ArrayOf(vocab.Scalar(vocab.Bool), 3), vocab.ArrayOf(vocab.Scalar(vocab.String), 2, 2), vocab.ArrayOf(vocab.VecOf(vocab.Scalar(vocab.I8)), 2)}
	for k := vocab.U8; k <= vocab.Datetime; k++ {
		if k.Scalar() {
			types = append(types, vocab.Scalar(k))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(batchtest.Soiled{})
		kind := rapid.SampledFrom(types).Draw(t, "type")
		n := rapid.IntRange(0, 70).Draw(t, "n")
		got, want := Nulls(mem, ArrowType(kind), n), array.MakeArrayOfNull(memory.NewGoAllocator(), ArrowType(kind), n)
		if !array.Equal(got, want) || got.NullN() != n || got.String() != want.String() {
			t.Fatalf("%d nulls of %s are %v", n, kind, got)
		}
		rows := make([]int32, n)
		gathered := GatherRows(mem, got, rows)
		if gathered.NullN() != n {
			t.Fatalf("%v", gathered)
		}
		if size := logicalSize(got.Data(), 0, n); size < 0 || size > int64(100*(n+1)) {
			t.Fatalf("%d bytes", size)
		}
		gathered.Release()
		got.Release()
		mem.AssertSize(fatal{t}, 0)
	})
}
