package typed

import (
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// aggregates is every window aggregate, in the order of the manual.
var aggregates = []function{
	{name: "count", window: true, params: []param{anyType}, result: int64s, nulls: nullNever},
	{name: "count_if", window: true, params: []param{boolean}, result: int64s, nulls: nullNever},
	{name: "bool_and", window: true, params: []param{boolean}, result: booleans},
	{name: "bool_or", window: true, params: []param{boolean}, result: booleans},
	{name: "sum", window: true, params: []param{number}},
	{name: "avg", window: true, params: []param{number}, result: float64s},
	{name: "min", window: true, params: []param{basic}},
	{name: "max", window: true, params: []param{basic}},
	{name: "first", window: true, params: []param{anyType}},
	{name: "last", window: true, params: []param{anyType}},
	{name: "arg_min", window: true, params: []param{anyType, basic}},
	{name: "arg_max", window: true, params: []param{anyType, basic}},
	{name: "var_pop", window: true, params: []param{number}, result: float64s},
	{name: "stddev_pop", window: true, params: []param{number}, result: float64s},
	{name: "var_samp", window: true, params: []param{number}, result: float64s, nulls: nullAlways},
	{name: "stddev_samp", window: true, params: []param{number}, result: float64s, nulls: nullAlways},
	{name: "covar_pop", window: true, params: []param{number, number}, result: float64s},
	{name: "covar_samp", window: true, params: []param{number, number}, result: float64s, nulls: nullAlways},
	{name: "corr", window: true, params: []param{number, number}, result: float64s, nulls: nullAlways},
	{name: "percentile_linear_histogram", window: true, params: []param{number, realLiteral, wholeLiteral, realLiteral, realLiteral, textLiteral},
		result: float64s, rule: histogramRule},
	{name: "approx_count_distinct", window: true, params: []param{basic, wholeLiteral}, result: int64s, nulls: nullNever, rule: distinctRule},
	{name: "approx_quantile", window: true, params: []param{number, realLiteral, wholeLiteral}, result: float64s, rule: quantileRule},
	{name: "approx_top_k", window: true, params: []param{basic, wholeLiteral, wholeLiteral}, result: vecOfArg1, nulls: nullNever, rule: topKRule},
}

// Bounds of literal arguments.
const (
	precisionMin, precisionMax = 4, 16
	centroidsMin, centroidsMax = 32, 4096
	topKMax                    = 4096
)

// aggregate checks a call of a window aggregate.
func (c *checker) aggregate(e *ast.Call, forms []function) *Expr {
	word := strings.ToUpper(e.Name.Text)
	switch {
	case c.inside:
		c.fault(ast.CodeAggregate, e.Name.Span, "%s cannot stand inside another aggregate", word).
			WithHint("assign it to a field of the output, and read output.field outside of aggregates")
		return nil
	case c.aggregated == nil:
		return c.misplacedAggregate(e)
	}
	outside := *c
	c.reading, c.inside, c.aggregates, c.env.Place = *c.aggregated, true, true, "an argument of "+word
	args, ok := c.args(e.Args)
	c.reading, c.inside, c.env.Place = outside.reading, false, outside.env.Place
	form := c.form(e, forms, args, ok)
	if form == nil {
		return nil
	}
	for _, a := range args {
		if hasBytes(a.Type) {
			c.fault(ast.CodeTypeMismatch, a.Span, "%s does not take BYTES", word)
			return nil
		}
	}
	t := combine(OpAggregate, form.result.of(args), args)
	t.Span, t.Func, t.missing = e.Span, e.Name.Text, "aggregate "+word
	form.adjust(t)
	// Its arguments fail when a row enters the window, before the route is built; and
	// its value is that of the window, however constant they are.
	t.Fallible, t.Volatility = false, Stable
	return t
}

// misplacedAggregate reports an aggregate outside of a window.
func (c *checker) misplacedAggregate(e *ast.Call) *Expr {
	code := c.misplaced
	if code == ast.CodeContext {
		code = ast.CodeAggregate
	}
	c.fault(code, e.Name.Span, "aggregate %s is not available in %s", strings.ToUpper(e.Name.Text), c.env.Place).
		WithHint("aggregates stand in the SET of a window's route")
	return nil
}

// hasBytes reports whether a type is or contains BYTES.
func hasBytes(t vocab.Type) bool {
	for t.Elem != nil {
		t = *t.Elem
	}
	return t.Kind == vocab.Bytes
}

// within checks a whole number.
func (c *checker) within(a *Expr, what string, low, high int64) bool {
	if n := a.Literal.Int; n < low || n > high {
		c.wrong(a, "%s must be %d to %d", what, low, high)
		return false
	}
	return true
}

// real is the value of a number literal.
func real(a *Expr) float64 {
	if a.Type.Kind.Float() {
		return a.Literal.Float
	}
	return float64(a.Literal.Int)
}

// percent checks a percentile.
func (c *checker) percent(a *Expr) bool {
	if p := real(a); p < 0 || p > 100 {
		c.wrong(a, "a percentile must be 0 to 100")
		return false
	}
	return true
}

func histogramRule(c *checker, args []*Expr) bool {
	ok := c.percent(args[1])
	if args[2].Literal.Int < 1 {
		c.wrong(args[2], "a histogram needs at least one bucket")
		ok = false
	}
	if real(args[3]) >= real(args[4]) {
		c.wrong(args[4], "the upper bound of a histogram must be above the lower one")
		ok = false
	}
	if _, bad := vocab.DurationNanos(strings.ReplaceAll(args[5].Literal.Str, " ", "")); bad != "" || args[5].Literal.Str == "" {
		c.wrong(args[5], "the delay is no duration").WithHint("a duration is a whole number and a unit, for example '250ms' or '1h30m'")
		ok = false
	}
	return ok
}

func distinctRule(c *checker, args []*Expr) bool {
	return c.within(args[1], "the precision", precisionMin, precisionMax)
}

func quantileRule(c *checker, args []*Expr) bool {
	ok := c.percent(args[1])
	return c.within(args[2], "the capacity", centroidsMin, centroidsMax) && ok
}

func topKRule(c *checker, args []*Expr) bool {
	return c.within(args[2], "the capacity", 1, topKMax) && c.within(args[1], "k", 1, args[2].Literal.Int)
}

// AggregatesOf lists the aggregates of a route in written order.
func AggregatesOf(k Construction) []*Expr {
	var list []*Expr
	for _, s := range k.Steps {
		list = appendAggregates(list, s.Expr)
	}
	return list
}

func appendAggregates(list []*Expr, e *Expr) []*Expr {
	if e.Op == OpAggregate {
		return append(list, e)
	}
	for _, a := range e.Args {
		list = appendAggregates(list, a)
	}
	return list
}

// sketchOverhead is what every sketch reserves besides its content.
const sketchOverhead = 128

// PaneBytes is what an aggregate reserves in each pane of a window: 0 unless it is
// a sketch.
func (e *Expr) PaneBytes() uint64 {
	if e.Op != OpAggregate {
		return 0
	}
	switch e.Func {
	case "approx_count_distinct":
		return 1<<e.Args[1].Literal.Int + sketchOverhead
	case "approx_quantile":
		return 32*uint64(e.Args[2].Literal.Int) + sketchOverhead
	case "approx_top_k":
		return 160*uint64(e.Args[2].Literal.Int) + sketchOverhead
	}
	return 0
}
