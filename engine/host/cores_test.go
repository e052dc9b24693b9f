package host

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"plexus/connectors/contract"
	"plexus/engine/batch"
	"plexus/engine/codec"
	"plexus/nspl/vocab"
)

func TestBackoff(t *testing.T) {
	b := newBackoff(100*time.Millisecond, 350*time.Millisecond)
	var got []time.Duration
	for range 4 {
		got = append(got, b.take())
	}
	b.reset()
	got = append(got, b.take())
	want := []time.Duration{100, 200, 350, 350, 100}
	for i := range want {
		if got[i] != want[i]*time.Millisecond {
			t.Fatalf("waits %v", got)
		}
	}
}

// The quiesce buffer against a plain list of everything offered.
func TestQuiesceBufferAccounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := vocab.Quiesce{MaxSize: vocab.Size{Bytes: uint64(rapid.IntRange(1, 20).Draw(t, "limit"))}, DropOldest: rapid.Bool().Draw(t, "oldest")}
		b := newQuiesceBuffer(q)
		var model [][]byte
		var offered, drained, refused int
		weight := func(p []byte) uint64 { return uint64(max(len(p), 1)) } // an empty payload counts as well
		size := func() (n uint64) {
			for _, p := range model {
				n += weight(p)
			}
			return n
		}
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			if p, ok := b.front(); ok && rapid.IntRange(0, 3).Draw(t, "drain") == 0 {
				if !bytes.Equal(p.bytes, model[0]) {
					t.Fatalf("front %q, model %q", p.bytes, model[0])
				}
				b.pop()
				model = model[1:]
				drained++
				continue
			}
			body := bytes.Repeat([]byte{byte('a' + offered%26)}, rapid.IntRange(0, 25).Draw(t, "size"))
			offered++
			stayed := b.put(payload{bytes: body})
			fits := weight(body) <= q.MaxSize.Bytes
			if fits && q.DropOldest {
				for size()+weight(body) > q.MaxSize.Bytes {
					model = model[1:]
				}
			}
			if fits && size()+weight(body) <= q.MaxSize.Bytes {
				model = append(model, body)
			} else {
				fits = false
				refused++
			}
			if stayed != fits {
				t.Fatalf("payload of %d bytes stayed: %v", len(body), stayed)
			}
			if b.bytes != size() || b.bytes > q.MaxSize.Bytes || len(b.held) != len(model) {
				t.Fatalf("%d bytes in %d payloads, model %d in %d", b.bytes, len(b.held), size(), len(model))
			}
			if offered != drained+len(b.held)+int(b.dropped)+refused {
				t.Fatal("offered is not drained, held, dropped and refused together")
			}
		}
		b.discard()
		if offered != drained+int(b.dropped)+refused || b.bytes != 0 {
			t.Fatal("a payload was given up without being counted")
		}
	})
}

// Packing: members partition the rows in order, seal on relay, headers and both
// limits, and the bytes are what the codec writes.
func TestPacking(t *testing.T) {
	encoder, err := codec.NewEncoder(&readingCodec)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := packing{page: encoder.NewPage(), next: func() uint64 { return 0 }}
		if rapid.Bool().Draw(t, "batched") {
			p.batch = &vocab.Batch{MaxMessages: uint64(rapid.IntRange(1, 5).Draw(t, "max")), MaxSize: vocab.Size{Bytes: uint64(rapid.IntRange(9, 60).Draw(t, "bytes"))}}
		}
		var chunks []*chunk
		type row struct {
			n      int64
			relay  string
			header string
		}
		var want []row
		for range rapid.IntRange(1, 4).Draw(t, "chunks") {
			n := rapid.IntRange(1, 6).Draw(t, "rows")
			k := &chunk{relay: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "relay"), rows: n}
			b := array.NewRecordBuilder(memory.NewGoAllocator(), batch.ArrowSchema(reading))
			for i := range n {
				v := rapid.Int64Range(0, 5000).Draw(t, "v")
				b.Field(0).(*array.Int64Builder).Append(v)
				h := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "header")
				k.headers = append(k.headers, []contract.Header{{Name: "h", Value: h}})
				if rapid.IntRange(0, 4).Draw(t, "gone") > 0 {
					k.open = append(k.open, int32(i))
					want = append(want, row{v, k.relay, h})
				}
			}
			k.output = b.NewRecordBatch()
			chunks = append(chunks, k)
		}
		var got []row
		for _, out := range p.prepare(chunks) {
			var docs [][]byte
			first := out.members[0]
			for _, m := range out.members {
				v := m.chunk.output.Column(0).(*array.Int64).Value(int(m.row))
				docs = append(docs, fmt.Appendf(nil, `{"n":%d}`, v))
				r := row{v, m.chunk.relay, m.chunk.headers[m.row][0].Value}
				if r.relay != first.chunk.relay || r.header != out.headers()[0].Value {
					t.Fatal("a payload mixes relays or headers")
				}
				got = append(got, r)
			}
			body := docs[0]
			if p.batch != nil {
				body = append(append([]byte("["), bytes.Join(docs, []byte(","))...), ']')
				if len(body) > int(p.batch.MaxSize.Bytes) || len(docs) > int(p.batch.MaxMessages) {
					t.Fatalf("payload of %d members and %d bytes over %+v", len(docs), len(body), *p.batch)
				}
			}
			if !bytes.Equal(out.body, body) {
				t.Fatalf("body %s, want %s", out.body, body)
			}
		}
		// What is missing is exactly the single rows that do not fit.
		for _, k := range chunks {
			for _, f := range k.faults {
				v := k.output.Column(0).(*array.Int64).Value(int(f.Row))
				if len(fmt.Sprintf(`[{"n":%d}]`, v)) <= int(p.batch.MaxSize.Bytes) {
					t.Fatalf("row %d fits and was refused: %s", v, f.Message)
				}
			}
		}
		i := 0
		for _, r := range want {
			if i < len(got) && got[i] == r {
				i++
			} else if p.batch == nil || len(fmt.Sprintf(`[{"n":%d}]`, r.n)) <= int(p.batch.MaxSize.Bytes) {
				t.Fatalf("row %+v is missing or out of order: %v", r, got)
			}
		}
	})
}

func TestOutcomeChecks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 5).Draw(t, "n")
		ids := rapid.SliceOfN(rapid.Uint64Range(0, 6), 0, 8).Draw(t, "answers")
		cut := 0
		if len(ids) > 0 {
			cut = rapid.IntRange(0, len(ids)).Draw(t, "cut")
		}
		var out contract.Outcome
		for i, id := range ids {
			if i < cut {
				out.Delivered = append(out.Delivered, contract.RecordID(id))
			} else {
				out.Rejected = append(out.Rejected, contract.Rejection{ID: contract.RecordID(id)})
			}
		}
		sorted := slices.Sorted(slices.Values(ids))
		injective := len(slices.Compact(slices.Clone(sorted))) == len(ids) && (len(ids) == 0 || sorted[len(ids)-1] < uint64(n))
		verdicts, err := checkOutcome(n, &out)
		if (err == nil) != injective {
			t.Fatalf("answers %v of %d: %v", ids, n, err)
		}
		if err != nil && !errors.As(err, new(*AnswerError)) {
			t.Fatal("not an AnswerError")
		}
		for i, v := range verdicts {
			at := slices.Index(ids, uint64(i))
			if v != unanswered && at < 0 || v == delivered && at >= cut || v == refused && at < cut {
				t.Fatalf("verdict %d of %d", v, i)
			}
		}
	})
}

func TestEndpointAnswerCombination(t *testing.T) {
	a, u, r, x := offer{outcome: offerAccepted}, offer{outcome: offerUndecodable}, offer{offerRejecting, 3 * time.Second}, offer{outcome: offerRefused}
	for _, c := range []struct {
		offers     []offer
		status     int
		retryAfter time.Duration
	}{
		{nil, 503, 0},
		{[]offer{a, u, r, x}, 202, 0},
		{[]offer{u, u}, 400, 0},
		{[]offer{u, x}, 503, 0},
		{[]offer{r, {offerRejecting, 9 * time.Second}}, 503, 9 * time.Second},
		{[]offer{r, x}, 503, 0},
	} {
		if got := answer(c.offers); got.Status != c.status || got.RetryAfter != c.retryAfter {
			t.Errorf("%v: %+v", c.offers, got)
		}
	}
}
