package campaign

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Distribution is many values of one virtual time.
type Distribution []time.Duration

// Quantile returns the value that the share of them does not exceed, 0 of none.
func (d Distribution) Quantile(share float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

const (
	histogramBars  = 12
	histogramWidth = 40
)

// Histogram renders the distribution as text, with its quantiles.
func (d Distribution) Histogram() string {
	if len(d) == 0 {
		return "  no value\n"
	}
	least, most := slices.Min(d), slices.Max(d)
	bucket := max((most-least)/histogramBars+1, time.Millisecond)
	var counts [histogramBars]int
	for _, v := range d {
		counts[min(int((v-least)/bucket), histogramBars-1)]++
	}
	highest := slices.Max(counts[:])
	var b strings.Builder
	for i, n := range counts {
		from := least + time.Duration(i)*bucket
		if from > most {
			break
		}
		fmt.Fprintf(&b, "  %10s to %-10s %6d %s\n", from.Round(time.Millisecond), (from + bucket).Round(time.Millisecond), n,
			strings.Repeat("#", (n*histogramWidth+highest-1)/highest))
	}
	fmt.Fprintf(&b, "  %d values: least %v, median %v, 90%% %v, 99%% %v, most %v\n", len(d), least.Round(time.Millisecond),
		d.Quantile(.5).Round(time.Millisecond), d.Quantile(.9).Round(time.Millisecond), d.Quantile(.99).Round(time.Millisecond),
		most.Round(time.Millisecond))
	return b.String()
}
