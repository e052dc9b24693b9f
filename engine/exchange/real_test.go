package exchange_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/ack"
	"plexus/engine/exchange"
	"plexus/engine/exchange/exchangetest"
	"plexus/engine/interconnect"
	"plexus/primitives"
	"plexus/real"
)

// direct is a network without bytes: what one side asks runs in the other.
type direct struct {
	world primitives.World
	self  exchange.Process
	other *direct
	serve exchange.Server
	quiet *primitives.Notice
}

func (d *direct) Self() exchange.Process { return d.self }
func (d *direct) Peers() []exchange.Peer {
	return []exchange.Peer{{Node: d.other.self.Node, Process: d.other.self, Connected: true}}
}
func (d *direct) Changed(ctx context.Context) error { return d.quiet.Wait(ctx) }
func (d *direct) Serve(s exchange.Server)           { d.serve = s }
func (d *direct) Ask(ctx context.Context, _ exchange.Process, op interconnect.Operation, message []byte) ([]byte, error) {
	return d.other.serve.Answer(ctx, d.self, op, message)
}
func (d *direct) Transfer(ctx context.Context, _ exchange.Process, _ uint64, head, body []byte) ([]byte, error) {
	return d.other.serve.Body(ctx, d.self, head, func() ([]byte, error) { return body, nil })
}
func (d *direct) Post(_ exchange.Process, message []byte) {
	_ = d.other.serve.Progress(d.self, message)
}

// swift is a graph that takes and ends everything at once.
type swift struct {
	world  primitives.World
	layout *exchange.Layout
	rows   atomic.Int64
}

func (s *swift) Layout(exchange.Role, string, string, []byte) (*exchange.Layout, error) {
	return s.layout, nil
}
func (s *swift) Accept(_ context.Context, _ exchange.Process, _ exchange.Channel, b *exchange.Batch, acks *ack.Set) error {
	s.rows.Add(b.Record.NumRows())
	b.Record.Release()
	acks.OK(s.world.Clock().Now())
	return nil
}

// pair returns two exchanges that talk to each other.
func pair(t testing.TB, layout *exchange.Layout) (from *exchange.Exchange, at *swift, stop func()) {
	w := real.NewWorld(real.Options{})
	ports := [2]*direct{}
	var exchanges [2]*exchange.Exchange
	for i := range ports {
		name := fmt.Sprintf("n%d", i+1)
		ports[i] = &direct{world: w, quiet: primitives.NewNotice(w), self: exchange.Process{Node: name, RaftID: uint64(i + 1), Counter: 1, Epoch: exchange.Epoch{byte(i + 1)}}}
	}
	ports[0].other, ports[1].other = ports[1], ports[0]
	at = &swift{world: w, layout: layout}
	for i := range ports {
		exchanges[i] = exchange.New(exchange.Settings{World: w, Port: ports[i], Executor: primitives.NewExecutor(w, 4)})
		exchanges[i].Serve(at)
		ports[i].Serve(exchanges[i])
	}
	for _, x := range exchanges {
		x.Start(context.Background())
	}
	return exchanges[0], at, func() {
		for _, x := range exchanges {
			if err := x.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	}
}

// What the simulator cannot show is a data race.
func TestOnTheRealWorld(t *testing.T) {
	layout, err := exchange.NewLayout(exchangetest.Schema)
	if err != nil {
		t.Fatal(err)
	}
	x, at, stop := pair(t, layout)
	defer stop()
	ledger := ack.NewLedger("d", nil, nil)
	const channels, batches, rows = 6, 60, 50
	var ends, wg sync.WaitGroup
	var failed atomic.Int64
	for c := range channels {
		wg.Go(func() {
			for n := range batches {
				rec, marks := plain(rows, int64(n))
				body, err := x.Encode(context.Background(), "d", "r", layout, rec, marks, marks)
				if err != nil {
					t.Error(err)
					return
				}
				var acks *ack.Set
				if c%2 == 0 {
					ends.Add(1)
					_, acks = ledger.Open(rows, 0, func(out ack.Outcome) {
						if out.Failed {
							failed.Add(1)
						}
						ends.Done()
					})
				}
				if err := x.Deliver(context.Background(), exchange.Channel{Node: "n2", Role: exchange.ToOwner, Domain: "d", Relay: "r", Branch: fmt.Sprint(c)}, body, nil, acks); err != nil {
					t.Error(err)
				}
				body.Release()
			}
		})
	}
	wg.Wait()
	ends.Wait()
	if n := at.rows.Load(); n != channels*batches*rows || failed.Load() > 0 {
		t.Errorf("%d rows arrived, %d batches failed", n, failed.Load())
	}
}

func plain(rows int, from int64) (arrow.RecordBatch, []int64) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, exchangetest.Schema)
	defer b.Release()
	for r := range rows {
		b.Field(0).(*array.Int64Builder).Append(from + int64(r))
	}
	marks := make([]int64, rows)
	for i := range marks {
		marks[i] = from
	}
	return b.NewRecordBatch(), marks
}

// orders is a batch of the usual shape: a key, a text, two numbers and an instant.
func orders(rows int) (*exchange.Layout, arrow.RecordBatch, []int64) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "customer", Type: arrow.BinaryTypes.String},
		{Name: "cents", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "rate", Type: arrow.PrimitiveTypes.Float64},
		{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "+00:00"}},
	}, nil)
	layout, err := exchange.NewLayout(s)
	if err != nil {
		panic(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	marks := make([]int64, rows)
	for r := range rows {
		b.Field(0).(*array.Uint64Builder).Append(uint64(r))
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("customer-%d", r%97))
		if r%10 == 0 {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.Int64Builder).Append(int64(r * 7))
		}
		b.Field(3).(*array.Float64Builder).Append(float64(r) / 3)
		b.Field(4).(*array.TimestampBuilder).Append(arrow.Timestamp(r))
		marks[r] = int64(r)
	}
	return layout, b.NewRecordBatch(), marks
}

func perRow(b *testing.B, rows int, size int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	if size > 0 {
		b.SetBytes(int64(size))
	}
}

// The Arrow library is the peer: it writes and reads the same batch as a stream
// with its schema sent once before.

func BenchmarkEncode(b *testing.B) {
	layout, rec, marks := orders(1024)
	b.Run("plexus", func(b *testing.B) {
		size := 0
		b.ReportAllocs()
		for b.Loop() {
			body, err := exchange.Encode(layout, rec, marks, marks)
			if err != nil {
				b.Fatal(err)
			}
			size = body.Size()
		}
		perRow(b, 1024, size)
	})
	b.Run("arrow", func(b *testing.B) {
		var out bytes.Buffer
		w := ipc.NewWriter(&out, ipc.WithSchema(layout.Schema))
		b.ReportAllocs()
		for b.Loop() {
			out.Reset()
			if err := w.Write(rec); err != nil {
				b.Fatal(err)
			}
		}
		perRow(b, 1024, out.Len())
	})
}

func BenchmarkDecode(b *testing.B) {
	layout, rec, marks := orders(1024)
	body, err := exchange.Encode(layout, rec, marks, marks)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("plexus", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			got, err := exchange.Decode(layout, body.Bytes())
			if err != nil {
				b.Fatal(err)
			}
			got.Record.Release()
		}
		perRow(b, 1024, body.Size())
	})
	b.Run("arrow", func(b *testing.B) {
		const batches = 1000
		var stream bytes.Buffer
		w := ipc.NewWriter(&stream, ipc.WithSchema(layout.Schema))
		for range batches {
			if err := w.Write(rec); err != nil {
				b.Fatal(err)
			}
		}
		left := 0
		var r *ipc.Reader
		b.ReportAllocs()
		for b.Loop() {
			if left == 0 {
				var err error
				if r, err = ipc.NewReader(bytes.NewReader(stream.Bytes())); err != nil {
					b.Fatal(err)
				}
				left = batches
			}
			if _, err := r.Read(); err != nil {
				b.Fatal(err)
			}
			left--
		}
		perRow(b, 1024, stream.Len()/batches)
	})
}

// BenchmarkDeliver is one batch from its encoding to the acknowledgement of its
// rows, several channels at once.
func BenchmarkDeliver(b *testing.B) {
	for _, channels := range []int{1, 16} {
		b.Run(fmt.Sprintf("channels=%d", channels), func(b *testing.B) {
			const rows = 1024
			layout, rec, marks := orders(rows)
			x, _, stop := pair(b, layout)
			defer stop()
			ledger := ack.NewLedger("d", nil, nil)
			var ends, wg sync.WaitGroup
			var next atomic.Int64
			b.ReportAllocs()
			b.ResetTimer()
			for c := range channels {
				ch := exchange.Channel{Node: "n2", Role: exchange.ToOwner, Domain: "d", Relay: "r", Branch: fmt.Sprint(c)}
				wg.Go(func() {
					for next.Add(1) <= int64(b.N) {
						body, err := x.Encode(context.Background(), "d", "r", layout, rec, marks, marks)
						if err != nil {
							b.Error(err)
							return
						}
						ends.Add(1)
						_, acks := ledger.Open(rows, 0, func(ack.Outcome) { ends.Done() })
						if err := x.Deliver(context.Background(), ch, body, nil, acks); err != nil {
							b.Error(err)
						}
						body.Release()
					}
				})
			}
			wg.Wait()
			ends.Wait()
			perRow(b, rows, 0)
		})
	}
}
