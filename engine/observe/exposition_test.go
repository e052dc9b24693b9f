package observe

import "testing"

func TestAppendText(t *testing.T) {
	r := NewRegistry()
	r.Counter(&Family{Name: "a_total", Help: "All\nof them.", Kind: KindCounter, Labels: []string{"name"}}, `x"y\z`).Add(3)
	r.Gauge(&Family{Name: "b", Help: "Now.", Kind: KindGauge}).Set(-2)
	h := r.Histogram(&Family{Name: "c_seconds", Help: "Time.", Kind: KindHistogram, Labels: []string{"k"}, Buckets: []float64{0.5, 1}}, "v")
	h.Observe(0.25, 1)
	h.Observe(7, 1)
	const want = `# HELP a_total All\nof them.
# TYPE a_total counter
a_total{name="x\"y\\z"} 3
# HELP b Now.
# TYPE b gauge
b -2
# HELP c_seconds Time.
# TYPE c_seconds histogram
c_seconds_bucket{k="v",le="0.5"} 1
c_seconds_bucket{k="v",le="1"} 1
c_seconds_bucket{k="v",le="+Inf"} 2
c_seconds_sum{k="v"} 7.25
c_seconds_count{k="v"} 2
`
	if got := string(AppendText(nil, r.Snapshot())); got != want {
		t.Errorf("got:\n%s", got)
	}
}
