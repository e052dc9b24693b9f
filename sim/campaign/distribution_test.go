package campaign

import (
	"strings"
	"testing"
	"time"
)

func TestHistogramsAddUp(t *testing.T) {
	var d Distribution
	for i := range 100 {
		d = append(d, time.Duration(99-i)*time.Millisecond)
	}
	if d.Quantile(.5) != 50*time.Millisecond || d.Quantile(1) != 99*time.Millisecond || d.Quantile(0) != 0 {
		t.Error(d.Quantile(.5), d.Quantile(1), d.Quantile(0))
	}
	text := d.Histogram()
	if !strings.Contains(text, "100 values: least 0s, median 50ms, 90% 90ms, 99% 99ms, most 99ms") || strings.Count(text, "\n") != histogramBars+1 {
		t.Error(text)
	}
	if got := (Distribution{time.Second}).Histogram(); !strings.Contains(got, "1 values: least 1s") {
		t.Error(got)
	}
	if got := (Distribution{}).Histogram(); got != "  no value\n" {
		t.Error(got)
	}
}
