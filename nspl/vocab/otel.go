package vocab

// Instrument is the shape of a metric.
type Instrument uint8

// The instruments.
const (
	Gauge Instrument = iota
	Sum
	Histogram
)

var instrumentNames = [...]string{"GAUGE", "SUM", "HISTOGRAM"}

// String returns the keyword.
func (i Instrument) String() string { return instrumentNames[i] }

// OTELValue is one value of a signal.
type OTELValue struct {
	Name     string
	Required bool
	// Expect is how messages call the types that Fits takes.
	Expect string
	Fits   func(Type) bool
	// Words are the texts that the value can have, where they are a closed set.
	Words []string
}

func (v OTELValue) optional() OTELValue { v.Required = false; return v }

func exactly(name string, kind Kind) OTELValue {
	return OTELValue{Name: name, Required: true, Expect: kind.String(), Fits: func(t Type) bool { return t.Equal(Scalar(kind)) }}
}

func listOf(name, expect string, fits func(Kind) bool) OTELValue {
	return OTELValue{Name: name, Required: true, Expect: expect, Fits: func(t Type) bool {
		return t.Elem != nil && t.Elem.Kind.Scalar() && fits(t.Elem.Kind)
	}}
}

func number(name string) OTELValue {
	return OTELValue{Name: name, Required: true, Expect: "an integer or a float", Fits: func(t Type) bool { return t.Kind.Numeric() }}
}

func oneWord(name string, words ...string) OTELValue {
	v := exactly(name, String).optional()
	v.Words = words
	return v
}

// OTELValues lists the values of a signal, the required ones first. Instrument and
// delta belong to metrics.
func OTELValues(e SinkEntity, instrument Instrument, delta bool) []OTELValue {
	switch {
	case e == SinkOTELLogs:
		return []OTELValue{
			exactly("time", Datetime), exactly("body", String), exactly("severity_text", String).optional(),
			exactly("severity_number", I32).optional(), exactly("trace_id", String).optional(), exactly("span_id", String).optional(),
		}
	case e == SinkOTELTraces:
		return []OTELValue{
			exactly("trace_id", String), exactly("span_id", String), exactly("name", String),
			exactly("start_time", Datetime), exactly("end_time", Datetime), exactly("parent_span_id", String).optional(),
			oneWord("kind", "SERVER", "CLIENT", "INTERNAL", "PRODUCER", "CONSUMER"),
			oneWord("status_code", "OK", "ERROR", "UNSET"), exactly("status_message", String).optional(),
		}
	}
	start := exactly("start_time", Datetime)
	start.Required = delta && instrument != Gauge
	if instrument != Histogram {
		return []OTELValue{exactly("time", Datetime), number("value"), start}
	}
	return []OTELValue{
		exactly("time", Datetime),
		{Name: "count", Required: true, Expect: "an integer", Fits: func(t Type) bool { return t.Kind.Integer() }},
		listOf("bucket_counts", "a list of integers", Kind.Integer), listOf("explicit_bounds", "a list of floats", Kind.Float),
		start, number("sum").optional(), number("min").optional(), number("max").optional(),
	}
}
