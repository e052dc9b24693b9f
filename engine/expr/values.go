package expr

import "plexus/nspl/typed"

// Values is a compiled list of expressions that are read as values rather than
// stored: names and values of headers, HTTP methods and paths.
type Values struct {
	program
	nodes []*node
}

// CompileValues compiles expressions in order. Errors of rows report op and the
// position of the group that holds the expression: with perGroup 2, the third
// and fourth expression have index 1.
func CompileValues(op Operation, perGroup int, exprs ...*typed.Expr) (*Values, error) {
	c := newCompiler(nil)
	p := &Values{}
	for i, e := range exprs {
		d, err := c.clause(op, i/perGroup, -1, e)
		if err != nil {
			return nil, err
		}
		p.nodes = append(p.nodes, d)
	}
	p.slots = c.slots
	return p, nil
}

// Texts is a column of STRING or BYTES values. It lives until its Scratch is
// used again, and no longer than the batches it was computed from.
type Texts struct{ v vec }

// At returns the value for the i-th selected row. The caller must not change it.
func (t *Texts) At(i int) (value []byte, present bool) {
	if t.v.null(i) {
		return nil, false
	}
	return t.v.text(i), true
}

// Run evaluates every expression for the selected rows and returns their texts
// in order, and the failed rows, ascending.
func (p *Values) Run(ctx *Context, in *Rows, s *Scratch) (texts []Texts, failed []RowError) {
	f := p.begin(ctx, in, s)
	defer f.end()
	texts = make([]Texts, len(p.nodes))
	for i, d := range p.nodes {
		texts[i].v = d.run(f)
	}
	return texts, f.errors()
}
