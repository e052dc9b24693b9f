package observe

import (
	"slices"
	"sync/atomic"

	"plexus/primitives/invariant"
)

// Kind is the type of a metric family.
type Kind uint8

// The kinds.
const (
	KindCounter Kind = iota
	KindGauge
	KindHistogram
)

// Family is one metric name with its fixed labels. Families are package
// variables; their text is the documentation of the metric.
type Family struct {
	Name   string
	Help   string
	Kind   Kind
	Labels []string
	// Buckets are the upper bounds of a histogram, ascending, without infinity.
	Buckets []float64
	// Nanoseconds says that a counter is kept in nanoseconds and shown in seconds.
	Nanoseconds bool
}

// Registry holds the series of one node.
type Registry struct {
	series atomic.Pointer[[]*Series] // in (family name, label values) order
}

// Series is one family with one set of label values.
type Series struct {
	Family *Family
	Values []string

	counter   Counter
	gauge     Gauge
	histogram Histogram
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	r := &Registry{}
	r.series.Store(&[]*Series{})
	return r
}

// Counter returns the counter of the label values, creating it once. A nil
// registry returns a counter that nobody reads.
func (r *Registry) Counter(f *Family, values ...string) *Counter {
	invariant.That(f.Kind == KindCounter, "O1: counter family")
	return &r.resolve(f, values).counter
}

// Gauge returns the gauge of the label values.
func (r *Registry) Gauge(f *Family, values ...string) *Gauge {
	invariant.That(f.Kind == KindGauge, "O1: gauge family")
	return &r.resolve(f, values).gauge
}

// Histogram returns the histogram of the label values.
func (r *Registry) Histogram(f *Family, values ...string) *Histogram {
	invariant.That(f.Kind == KindHistogram, "O1: histogram family")
	return &r.resolve(f, values).histogram
}

// resolve finds or adds a series. The slice is replaced as a whole, so readers
// and other registrations never wait.
func (r *Registry) resolve(f *Family, values []string) *Series {
	invariant.That(len(values) == len(f.Labels), "O2: one value per label")
	if r == nil {
		return newSeries(f, values)
	}
	for {
		old := r.series.Load()
		at, found := slices.BinarySearchFunc(*old, values, func(s *Series, values []string) int {
			return compareSeries(s, f.Name, values)
		})
		if found {
			return (*old)[at]
		}
		s := newSeries(f, values)
		next := slices.Insert(slices.Clone(*old), at, s)
		if r.series.CompareAndSwap(old, &next) {
			return s
		}
	}
}

func newSeries(f *Family, values []string) *Series {
	s := &Series{Family: f, Values: slices.Clone(values)}
	if f.Kind == KindHistogram {
		s.histogram.bounds = f.Buckets
		s.histogram.counts = make([]atomic.Uint64, len(f.Buckets)+1)
	}
	return s
}

func compareSeries(s *Series, name string, values []string) int {
	switch {
	case s.Family.Name < name:
		return -1
	case s.Family.Name > name:
		return 1
	}
	return slices.Compare(s.Values, values)
}

// Sample is the value of one series at the time of a snapshot.
type Sample struct {
	Family *Family
	Values []string
	// Value is a counter's or gauge's value, in seconds for Nanoseconds families.
	Value float64
	// Cumulative counts per bucket, the last one for infinity; histograms only.
	Cumulative []uint64
	Sum        float64
}

// Snapshot reads every series, in (family name, label values) order.
func (r *Registry) Snapshot() []Sample {
	all := *r.series.Load()
	out := make([]Sample, len(all))
	for i, s := range all {
		sample := Sample{Family: s.Family, Values: s.Values}
		switch s.Family.Kind {
		case KindCounter:
			sample.Value = float64(s.counter.Value())
			if s.Family.Nanoseconds {
				sample.Value /= 1e9
			}
		case KindGauge:
			sample.Value = float64(s.gauge.Value())
		case KindHistogram:
			sample.Cumulative, sample.Sum = s.histogram.read()
		}
		out[i] = sample
	}
	return out
}
