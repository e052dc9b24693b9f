package interconnect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/primitives"
	"plexus/primitives/dns"
	"plexus/real"
)

// realPair is two nodes of one process on loopback.
func realPair(tb testing.TB, edit func(i int, s *Settings), serve func(*Mesh)) [2]*Mesh {
	tb.Helper()
	w := real.NewWorld(real.Options{Log: slog.DiscardHandler})
	if err := w.LoadResolver(tb.Context(), dns.Options{ConfigFile: "/dev/null", HostsFile: "/dev/null", Servers: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53")}}); err != nil {
		tb.Fatal(err)
	}
	var pair [2]*Mesh
	var peers []Peer
	for i := range pair {
		s := Defaults()
		s.Listen = netip.MustParseAddrPort("127.0.0.1:0")
		if edit != nil {
			edit(i, &s)
		}
		m, err := New(w, s)
		if err != nil {
			tb.Fatal(err)
		}
		m.Identify(Process{Node: fmt.Sprintf("n%d", i+1), RaftID: uint64(i + 1), Counter: 1, Epoch: NewEpoch(w)}, testCluster)
		serve(m)
		if err := m.Start(context.Background()); err != nil {
			tb.Fatal(err)
		}
		pair[i] = m
		peers = append(peers, Peer{Node: fmt.Sprintf("n%d", i+1), RaftID: uint64(i + 1), Endpoint: m.Endpoint(), Counter: 1})
	}
	for _, m := range pair {
		m.SetPeers(peers)
	}
	tb.Cleanup(func() {
		for _, m := range pair {
			if err := m.Stop(context.Background()); err != nil {
				tb.Error(err)
			}
		}
		if err := w.Close(5 * time.Second); err != nil {
			tb.Error(err)
		}
		if n := w.OpenSockets(); n != 0 {
			tb.Errorf("%d sockets left open", n)
		}
	})
	return pair
}

// encodedBatch is a record batch of 1,024 rows as relay bodies carry it.
func encodedBatch(tb testing.TB) []byte {
	tb.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "at", Type: arrow.PrimitiveTypes.Int64},
		{Name: "amount", Type: arrow.PrimitiveTypes.Float64}, {Name: "price", Type: arrow.PrimitiveTypes.Float64},
		{Name: "customer", Type: arrow.BinaryTypes.String}, {Name: "item", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range 1024 {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.Int64Builder).Append(int64(i) * 1_000_000)
		b.Field(2).(*array.Float64Builder).Append(float64(i) / 7)
		b.Field(3).(*array.Float64Builder).Append(float64(i) / 3)
		b.Field(4).(*array.StringBuilder).Append(fmt.Sprintf("customer-%09d", i))
		b.Field(5).(*array.StringBuilder).Append(fmt.Sprintf("item-%05d", i))
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	if err := w.Write(rec); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// BenchmarkBatches moves record batches between two nodes, and the same bytes over
// a bare TCP connection, in turns: on a shared machine only the ratio says
// something. The target is 1 GB/s.
func BenchmarkBatches(b *testing.B) {
	body := encodedBatch(b)
	received := make(chan int, 16)
	pair := realPair(b, nil, func(m *Mesh) {
		m.HandleStream(RelayBody, func(_ context.Context, _ Process, s *Stream) error {
			for {
				got, err := s.Recv()
				if err == io.EOF {
					received <- 0
					return nil
				}
				if err != nil {
					return err
				}
				if len(got) != len(body) {
					b.Errorf("%d bytes of %d", len(got), len(body))
				}
				s.Recycle(got)
			}
		})
	})
	const batches = 2000
	const streams = 8
	ours := func() {
		for k := range streams {
			go func() {
				s, err := pair[0].OpenProcess(context.Background(), pair[1].Process(), RelayBody, uint64(k))
				if err != nil {
					b.Error(err)
					received <- 0
					return
				}
				defer s.Close()
				for range batches / streams {
					if err := s.Send(body); err != nil {
						b.Error(err)
					}
				}
				s.CloseSend()
				if _, err := s.Recv(); err != io.EOF {
					b.Error(err)
				}
			}()
		}
		for range streams {
			<-received
		}
	}
	theirs := rawCopy(b, body, batches)
	versus(b, batches*len(body), ours, theirs)
}

// rawCopy writes the body so often over one TCP connection and reads it into a
// buffer of its size.
func rawCopy(b *testing.B, body []byte, batches int) func() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	out, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	in, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { out.Close(); in.Close(); l.Close() })
	return func() {
		go func() {
			for range batches {
				if _, err := out.Write(body); err != nil {
					b.Error(err)
				}
			}
		}()
		buffer := make([]byte, len(body))
		for range batches {
			if _, err := io.ReadFull(in, buffer); err != nil {
				b.Error(err)
			}
		}
	}
}

// versus reports the median rates of both and their ratio.
func versus(b *testing.B, size int, ours, theirs func()) {
	b.Helper()
	const rounds = 5
	ours()
	theirs()
	for b.Loop() {
		var us, them [rounds]time.Duration
		var ourCPU, theirCPU time.Duration
		for i := range rounds {
			start := cpuTime()
			us[i] = clocked(ours)
			middle := cpuTime()
			them[i] = clocked(theirs)
			ourCPU += middle - start
			theirCPU += cpuTime() - middle
		}
		b.ReportMetric(ourCPU.Seconds()/theirCPU.Seconds(), "cpu-ratio")
		slices.Sort(us[:])
		slices.Sort(them[:])
		b.ReportMetric(float64(size)/us[rounds/2].Seconds()/1e9, "ours-GB/s")
		b.ReportMetric(float64(size)/them[rounds/2].Seconds()/1e9, "tcp-GB/s")
		b.ReportMetric(us[rounds/2].Seconds()/them[rounds/2].Seconds(), "ratio")
	}
	b.ReportMetric(0, "ns/op")
}

// cpuTime is what this process has used of the processors.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func clocked(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// BenchmarkCall is one small request and its answer between two nodes.
func BenchmarkCall(b *testing.B) {
	answer := make([]byte, 64)
	pair := realPair(b, nil, func(m *Mesh) {
		m.Handle(RuntimeDescribe, func(context.Context, Process, []byte) ([]byte, error) { return answer, nil })
	})
	request := make([]byte, 64)
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			b.ReportAllocs()
			tasks := primitives.NewGroup(context.Background(), pair[0].world)
			for i := range callers {
				tasks.Go("caller", func(ctx context.Context) error {
					for n := i; n < b.N; n += callers {
						if _, err := pair[0].Call(ctx, "n2", RuntimeDescribe, request); err != nil {
							return err
						}
					}
					return nil
				})
			}
			if err := tasks.Wait(context.Background()); err != nil {
				b.Fatal(err)
			}
		})
	}
}
