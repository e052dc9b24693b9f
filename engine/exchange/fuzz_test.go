package exchange

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/ack"
	"plexus/engine/batch"
	"plexus/nspl/vocab"
)

// fuzzLayout has a column of every shape that travels.
func fuzzLayout(t testing.TB) *Layout {
	element := func(k vocab.Kind) *vocab.Type { return &vocab.Type{Kind: k} }
	s := &vocab.Schema{Name: "s", Fields: []vocab.Field{
		{Name: "id", Type: vocab.Type{Kind: vocab.U64}},
		{Name: "small", Type: vocab.Type{Kind: vocab.I8}, Optional: true},
		{Name: "at", Type: vocab.Type{Kind: vocab.Datetime}},
		{Name: "flag", Type: vocab.Type{Kind: vocab.Bool}, Optional: true},
		{Name: "name", Type: vocab.Type{Kind: vocab.String}, Optional: true},
		{Name: "raw", Type: vocab.Type{Kind: vocab.Bytes}},
		{Name: "pair", Type: vocab.Type{Kind: vocab.Array, Size: 2, Elem: element(vocab.F32)}, Optional: true},
		{Name: "names", Type: vocab.Type{Kind: vocab.Vec, Elem: element(vocab.String)}},
		{Name: "grid", Type: vocab.Type{Kind: vocab.Vec, Elem: &vocab.Type{Kind: vocab.Array, Size: 3, Elem: element(vocab.Bool)}}, Optional: true},
	}}
	l, err := NewLayout(batch.ArrowSchema(s))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// fuzzRecord fills a record of the layout; some of its values are null.
func fuzzRecord(l *Layout, rows int) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, l.Schema)
	defer b.Release()
	var fill func(b array.Builder, n int)
	fill = func(b array.Builder, n int) {
		switch b := b.(type) {
		case *array.Uint64Builder:
			b.Append(uint64(n))
		case *array.Int8Builder:
			b.Append(int8(n))
		case *array.TimestampBuilder:
			b.Append(arrow.Timestamp(n))
		case *array.BooleanBuilder:
			b.Append(n%2 == 0)
		case *array.StringBuilder:
			b.Append("názv"[:n%2])
		case *array.BinaryBuilder:
			b.Append(bytes.Repeat([]byte{byte(n)}, n%5))
		case *array.Float32Builder:
			b.Append(float32(n))
		case *array.FixedSizeListBuilder:
			b.Append(true)
			for i := range b.Type().(*arrow.FixedSizeListType).Len() {
				fill(b.ValueBuilder(), n+int(i))
			}
		case *array.ListBuilder:
			b.Append(true)
			for i := range n % 4 {
				fill(b.ValueBuilder(), n+i)
			}
		}
	}
	for i, f := range l.Schema.Fields() {
		for r := range rows {
			if f.Nullable && (r+i)%3 == 0 {
				b.Field(i).AppendNull()
				continue
			}
			fill(b.Field(i), r)
		}
	}
	return b.NewRecordBatch()
}

func FuzzRelayBody(f *testing.F) {
	l := fuzzLayout(f)
	for _, rows := range []int{1, 3, 7} {
		rec := fuzzRecord(l, rows)
		low, high := make([]int64, rows), make([]int64, rows)
		for _, mark := range []int64{0, 5} {
			high[0] = mark
			body, err := Encode(l, rec, low, high)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(body.Bytes())
			f.Add(body.Bytes()[:body.Size()/2])
		}
		rec.Release()
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) { read(t, l, bytes.Clone(b)) })
}

func FuzzRelayMessage(f *testing.F) {
	id := Identity{3, 9}
	refusal := &Refusal{Class: NotReady, Subject: "gate", Detail: "closed"}
	answers := []answer{{id: id, state: stateGranted}, {id: id, state: stateRejected, refusal: refusal}, {id: id, state: stateAdmitted}}
	f.Add(encodeAnswers(answers))
	f.Add(encodeIdentities([]Identity{id, {1, 1}}))
	f.Add(encodeGrants([]*grant{{id: id, role: ToOwner, domain: "d", relay: "r", branch: "b", length: 100, rows: 5, registration: Registration{7, 2}, note: []byte("note")}}))
	f.Add(encodeOutcomes(Epoch{1}, answers[1:]))
	f.Add(encodeReports(Epoch{1}, []report{
		{registration: Registration{7, 2}}, {registration: Registration{8, 1}, rows: []int32{0, 5, 6}, outcome: ack.Outcome{Failed: true, Reason: ack.Reason{Class: ack.ClassMessage, Text: "no"}}},
	}))
	f.Add(encodeProgress(Epoch{1}, []standing{{id: id, number: 4, state: stateAdmitted, parked: true, all: true}, {id: id, number: 5, state: stateReceived, held: []byte{5}}}))
	f.Add(encodeHead(id, 77))
	f.Fuzz(func(t *testing.T, b []byte) {
		again := func(name string, err error, encode func() []byte, decode func([]byte) error) {
			if err != nil {
				return
			}
			if err := decode(encode()); err != nil {
				t.Fatalf("%s: what was read does not read again: %v", name, err)
			}
		}
		list, err := decodeAnswers(b)
		again("answers", err, func() []byte { return encodeAnswers(list) }, func(b []byte) error { _, err := decodeAnswers(b); return err })
		ids, err := decodeIdentities(b)
		again("identities", err, func() []byte { return encodeIdentities(ids) }, func(b []byte) error { _, err := decodeIdentities(b); return err })
		grants, err := decodeGrants(b)
		again("grants", err, func() []byte {
			var list []*grant
			for i := range grants {
				list = append(list, &grants[i])
			}
			return encodeGrants(list)
		}, func(b []byte) error { _, err := decodeGrants(b); return err })
		run, verdicts, err := decodeOutcomes(b)
		again("outcomes", err, func() []byte { return encodeOutcomes(run, verdicts) }, func(b []byte) error { _, _, err := decodeOutcomes(b); return err })
		run2, reports, err := decodeReports(b)
		again("reports", err, func() []byte { return encodeReports(run2, reports) }, func(b []byte) error { _, _, err := decodeReports(b); return err })
		run3, standings, err := decodeProgress(b)
		again("progress", err, func() []byte { return encodeProgress(run3, standings) }, func(b []byte) error { _, _, err := decodeProgress(b); return err })
		for i := range standings {
			standings[i].heldRows()
		}
		at, length, err := decodeHead(b)
		again("head", err, func() []byte { return encodeHead(at, length) }, func(b []byte) error { _, _, err := decodeHead(b); return err })
	})
}
