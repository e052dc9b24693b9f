package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 5, "how often each side runs; medians are printed")
	rows := flag.Int("rows", 1_000_000, "messages of one of our runs; a peer takes a tenth")
	flag.Parse()
	err := compare(*rounds, *rows)
	if err == nil {
		err = statements(*rounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// side is one contender and its measurements.
type side struct {
	name   string
	rows   int
	run    func(rows int) (result, error)
	output result
	perCPU []float64 // rows per CPU second
	allocs []float64 // heap allocations per row
}

// floor is the ratio the product promises.
const floor = 10

func compare(rounds, rows int) error {
	pool := records()
	ours, err := newPipeline()
	if err != nil {
		return err
	}
	whole := rows / len(pool) * len(pool) // every run reads the pool evenly
	whole = max(whole, len(pool))
	peer := max(whole/10/len(pool)*len(pool), len(pool))
	sides := []*side{
		{name: "plexus, acknowledged", rows: whole, run: func(n int) (result, error) { return ours.run(pool, n) }},
		{name: "benthos, 1 thread", rows: peer, run: func(n int) (result, error) { return runBenthos(pool, n, 1) }},
		{name: "benthos, a thread per core", rows: peer, run: func(n int) (result, error) { return runBenthos(pool, n, runtime.NumCPU()) }},
	}
	for round := range rounds + 1 {
		for _, s := range sides {
			if err := s.measure(round > 0); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	best := 0.0
	for _, s := range sides[1:] {
		best = max(best, median(s.perCPU))
	}
	fmt.Printf("decode JSON of %d bytes, contains, upper, encode; batches of %d; medians of %d rounds in turns\n\n", recordBytes, batchRows, rounds)
	fmt.Printf("%-28s %16s %12s %14s\n", "", "rows/CPU second", "ns CPU/row", "allocs/row")
	for _, s := range sides {
		m := median(s.perCPU)
		fmt.Printf("%-28s %16.0f %12.1f %14.4f\n", s.name, m, 1e9/m, median(s.allocs))
	}
	fmt.Printf("\nratio to the better peer: %.1f (floor %d)\n", median(sides[0].perCPU)/best, floor)
	return nil
}

// measure runs a side once; the first round only warms up.
func (s *side) measure(keep bool) error {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpuTime()
	out, err := s.run(s.rows)
	if err != nil {
		return err
	}
	used := cpuTime() - start
	runtime.ReadMemStats(&after)
	// Half of the rows pass, whole; a side that did less is no measurement.
	if want := int64(s.rows) / 2; out.rows != want || out.bytes != want*recordBytes {
		return fmt.Errorf("put out %d rows of %d bytes, want %d", out.rows, out.bytes, want)
	}
	if keep {
		s.perCPU = append(s.perCPU, float64(s.rows)/used.Seconds())
		s.allocs = append(s.allocs, float64(after.Mallocs-before.Mallocs)/float64(s.rows))
	}
	return nil
}

// cpuTime is what the process has used on all cores.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}
