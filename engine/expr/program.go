package expr

import (
	"fmt"
	"slices"
	"strings"

	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// program is what the clauses of one program share.
type program struct{ slots int }

// kernel computes one operator over columns of f.n rows. Operands are columns
// too, or all of them scalars of one row; a kernel of a raw node also takes
// scalars beside columns.
type kernel func(f *frame, args []vec) vec

// node is one compiled operator.
type node struct {
	kind vocab.Kind
	// eval computes leaves and conditionals, which decide themselves what they
	// evaluate; every other node has a kernel over its operands.
	eval   func(f *frame) vec
	kernel kernel
	args   []*node
	raw    bool
	// perRow says that equal operands do not make equal results.
	perRow bool
	// constant is the value of a literal or folded node.
	constant *vec
	// slot holds the result of a node that occurs several times, or is -1.
	slot int
	// id is shared by equal subexpressions of a program only.
	id int
}

// run evaluates a node for the rows of a run.
func (d *node) run(f *frame) vec {
	if d.constant != nil {
		return *d.constant
	}
	if d.slot >= 0 && f.scratch.cached[d.slot] {
		return f.scratch.shared[d.slot]
	}
	v := d.compute(f)
	// A result computed for the rows of one arm is not everyone's.
	if d.slot >= 0 && f.active == nil {
		f.scratch.shared[d.slot], f.scratch.cached[d.slot] = v, true
	}
	return v
}

func (d *node) compute(f *frame) vec {
	if d.eval != nil {
		return d.eval(f)
	}
	s := f.scratch
	base := len(s.stack)
	scalars := 0
	for _, arg := range d.args {
		v := arg.run(f)
		if v.scalar {
			scalars++
		}
		s.stack = append(s.stack, v)
	}
	args := s.stack[base:]
	var out vec
	switch {
	case scalars == len(args) && !d.perRow:
		out = d.once(f, args)
	case scalars > 0 && !d.raw:
		for i := range args {
			args[i] = s.expand(args[i], f.n)
		}
		out = d.kernel(f, args)
	default:
		out = d.kernel(f, args)
	}
	out.kind = d.kind
	clear(args)
	s.stack = s.stack[:base]
	return out
}

// once computes a node whose operands are equal for all rows.
func (d *node) once(f *frame, args []vec) vec {
	if f.single {
		return d.kernel(f, args)
	}
	f.single, f.outer, f.n = true, f.n, 1
	out := d.kernel(f, args)
	f.single, f.n = false, f.outer
	out.scalar = true
	return out
}

// compiler lowers the clauses of one program in order.
type compiler struct {
	operation Operation
	index     int
	fields    []string
	output    *vocab.Schema
	// writes counts the assignments to each output field so far: a read is equal
	// to another one only between the same two assignments.
	writes []int
	// known are the nodes that may be shared, by what they compute.
	known map[string]*node
	nodes int
	slots int
}

func newCompiler(output *vocab.Schema) *compiler {
	c := &compiler{output: output, known: map[string]*node{}}
	if output != nil {
		c.writes = make([]int, len(output.Fields))
	}
	return c
}

// clause compiles one expression. target is the output field it writes, or -1.
func (c *compiler) clause(op Operation, index, target int, e *typed.Expr) (*node, error) {
	c.operation, c.index, c.fields = op, index, nil
	if target >= 0 {
		c.fields = append(c.fields, "output."+c.output.Fields[target].Name)
	}
	c.collectFields(e)
	slices.Sort(c.fields)
	c.fields = slices.Compact(c.fields)
	d, err := c.node(e)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if target >= 0 {
		c.writes[target]++
	}
	return d, nil
}

var scopeNames = [...]string{
	typed.ScopeInput:         "input",
	typed.ScopeOutput:        "output",
	typed.ScopeError:         "error",
	typed.ScopePartialOutput: "partial_output",
	typed.ScopeMetadata:      "metadata",
}

func (c *compiler) collectFields(e *typed.Expr) {
	if e.Op == typed.OpColumn {
		c.fields = append(c.fields, scopeNames[e.Column.Scope]+"."+e.Column.Name)
	}
	for _, arg := range e.Args {
		c.collectFields(arg)
	}
}

// fault describes one way in which an operator of the current clause fails.
func (c *compiler) fault(kind Kind, what, why string) *Fault {
	return &Fault{Kind: kind, Operation: c.operation, Index: c.index, Fields: c.fields, what: what, why: why}
}

// node compiles an expression. Equal subexpressions that cannot fail and are not
// volatile become one node, evaluated once; a failing one reports its own error
// at each occurrence.
func (c *compiler) node(e *typed.Expr) (*node, error) {
	c.nodes++
	d := &node{kind: e.Type.Kind, slot: -1, id: c.nodes}
	constants := 0
	for _, arg := range e.Args {
		a, err := c.node(arg)
		if err != nil {
			return nil, err
		}
		if a.constant != nil {
			constants++
		}
		d.args = append(d.args, a)
	}
	if e.Fallible || e.Volatility == typed.Volatile {
		return d, c.bind(d, e)
	}
	key := c.key(e, d.args)
	if known := c.known[key]; known != nil {
		if known.slot < 0 && len(known.args) > 0 && known.constant == nil {
			known.slot = c.slots
			c.slots++
		}
		return known, nil
	}
	c.known[key] = d
	if err := c.bind(d, e); err != nil {
		return nil, err
	}
	casts := e.Op == typed.OpCast || e.Op == typed.OpTryCast // never folded
	if !casts && e.Volatility == typed.Immutable && constants == len(d.args) && constants > 0 && e.Type.Kind.Scalar() && !d.perRow {
		v := fold(d)
		d.constant = &v
	}
	return d, nil
}

// fold computes a node over constants with its own kernel (X4).
func fold(d *node) vec {
	s := NewScratch()
	f := &frame{in: &Rows{}, scratch: s, n: 1}
	return own(d.compute(f))
}

// own copies a scalar out of its Scratch.
func own(v vec) vec {
	out := vec{kind: v.kind, scalar: true, fixed: make([]byte, 8)}
	copy(out.fixed, v.fixed)
	if v.null(0) {
		out.valid = bitmap{0}
	}
	if v.bits != nil {
		out.bits = bitmap{v.bits[0] & 1}
	}
	if v.lo != nil {
		out.data = append([]byte(nil), v.text(0)...)
		out.lo, out.hi = []int32{0}, []int32{int32(len(out.data))}
	}
	return out
}

// literal makes a constant a scalar.
func literal(l typed.Literal, kind vocab.Kind) vec {
	v := nullOf(kind)
	if l.Null {
		return v
	}
	v.valid = nil
	switch kind {
	case vocab.Bool:
		if l.Bool {
			v.bits.set(0)
		}
	case vocab.String, vocab.Bytes:
		v.data = []byte(l.Str)
		v.hi = []int32{int32(len(v.data))}
	default:
		storeLiteral(v.fixed, l, kind)
	}
	return v
}

func storeLiteral(to []byte, l typed.Literal, kind vocab.Kind) {
	switch kind {
	case vocab.U8:
		as[uint8](to)[0] = uint8(l.Uint)
	case vocab.U16:
		as[uint16](to)[0] = uint16(l.Uint)
	case vocab.U32:
		as[uint32](to)[0] = uint32(l.Uint)
	case vocab.U64:
		as[uint64](to)[0] = l.Uint
	case vocab.I8:
		as[int8](to)[0] = int8(l.Int)
	case vocab.I16:
		as[int16](to)[0] = int16(l.Int)
	case vocab.I32:
		as[int32](to)[0] = int32(l.Int)
	case vocab.I64, vocab.Datetime:
		as[int64](to)[0] = l.Int
	case vocab.F32:
		as[float32](to)[0] = float32(l.Float)
	case vocab.F64:
		as[float64](to)[0] = l.Float
	}
}

// key is equal for equal subexpressions. Operands stand in it by their ids, so
// that it stays short however deep the tree is.
func (c *compiler) key(e *typed.Expr, args []*node) string {
	var w strings.Builder
	fmt.Fprintf(&w, "%d %s %t", e.Op, e.Type, e.Negated)
	switch e.Op {
	case typed.OpLiteral:
		writeLiteralKey(&w, e.Literal)
	case typed.OpColumn:
		fmt.Fprintf(&w, " %d.%d", e.Column.Scope, e.Column.Index)
		if e.Column.Scope == typed.ScopeOutput && c.writes != nil {
			fmt.Fprintf(&w, "@%d", c.writes[e.Column.Index])
		}
	case typed.OpCall:
		w.WriteString(" " + e.Func)
	case typed.OpIn:
		for _, l := range e.Set {
			writeLiteralKey(&w, l)
		}
	}
	for _, arg := range args {
		fmt.Fprintf(&w, " #%d", arg.id)
	}
	return w.String()
}

func writeLiteralKey(w *strings.Builder, l typed.Literal) {
	// %b prints a float exactly, the sign of zero included.
	fmt.Fprintf(w, " %t %d %d %b %t %q", l.Null, l.Int, l.Uint, l.Float, l.Bool, l.Str)
}
