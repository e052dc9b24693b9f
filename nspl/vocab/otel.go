package vocab

import (
	"strconv"
	"strings"
)

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
	// literal checks a value that the statement writes out; nil takes any.
	literal func(text string, number int64) string
}

// Literal checks a value that a statement writes out, as text or as a number. It
// returns what was expected, "" if it fits.
func (v OTELValue) Literal(text string, number int64) string {
	if v.literal == nil {
		return ""
	}
	return v.literal(text, number)
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
	check := oneOf(words...)
	v.literal = func(text string, _ int64) string { return check(text) }
	return v
}

// identifier is a value of hexadecimal digits that are not all zero.
func identifier(name string, digits int) OTELValue {
	v := exactly(name, String)
	v.literal = func(text string, _ int64) string {
		fits := len(text) == digits && strings.Trim(text, "0") != ""
		for i := range len(text) {
			fits = fits && hexDigit(text[i])
		}
		if !fits {
			return "must be " + strconv.Itoa(digits) + " hexadecimal digits, not all zero"
		}
		return ""
	}
	return v
}

func severity() OTELValue {
	v := exactly("severity_number", I32).optional()
	v.literal = func(_ string, n int64) string {
		if n < 0 || n > 24 {
			return "must be 0 to 24"
		}
		return ""
	}
	return v
}

// OTELValues lists the values of a signal, the required ones first. Instrument and
// delta belong to metrics.
func OTELValues(e SinkEntity, instrument Instrument, delta bool) []OTELValue {
	switch {
	case e == SinkOTELLogs:
		return []OTELValue{
			exactly("time", Datetime), exactly("body", String), exactly("severity_text", String).optional(),
			severity(), identifier("trace_id", 32).optional(), identifier("span_id", 16).optional(),
		}
	case e == SinkOTELTraces:
		return []OTELValue{
			identifier("trace_id", 32), identifier("span_id", 16), exactly("name", String),
			exactly("start_time", Datetime), exactly("end_time", Datetime), identifier("parent_span_id", 16).optional(),
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
