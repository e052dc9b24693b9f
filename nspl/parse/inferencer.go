package parse

import "plexus/nspl/ast"

// INFERENCER name inputs filter? USING RESOURCE name version FILE string INPUTS '{' string tensor '=' expr, ... '}'
// OUTPUT SCHEMA '{' string tensor, ... '}' branch_use state* route+
func (p *parser) createInferencer(c ast.Create, attachment ast.Attachment) ast.Statement {
	s := &ast.CreateInferencer{}
	p.processor(s, &s.Processor, c, attachment, setOnly, func() {
		p.module(&s.Model, &s.File)
		p.expect("INPUTS")
		p.expectMark('{')
		for more := true; more; more = p.anotherOf('}') {
			s.Tensors = append(s.Tensors, ast.TensorInput{})
			t := &s.Tensors[len(s.Tensors)-1]
			p.tensor(&t.Tensor)
			p.expectMark('=')
			t.Value = p.exprIn(ClauseTensors)
		}
		p.expect("OUTPUT SCHEMA")
		p.expectMark('{')
		for more := true; more; more = p.anotherOf('}') {
			s.Output = append(s.Output, ast.Tensor{})
			p.tensor(&s.Output[len(s.Output)-1])
		}
	})
	return s
}

// module ::= USING RESOURCE name version FILE string
func (p *parser) module(b *ast.Binding, file *ast.Text) {
	p.expect("USING RESOURCE")
	p.binding(b)
	p.expect("FILE")
	*file = p.string()
}

// tensor ::= string DENSE TENSOR '<' F32 '>' '[' (axis, ...)? ']'
func (p *parser) tensor(t *ast.Tensor) {
	first := p.at
	t.Name = p.string()
	p.expect("DENSE TENSOR")
	p.expectMark('<')
	p.expect("F32")
	p.expectMark('>')
	p.expectMark('[')
	if !p.acceptMark(']') {
		t.Axes = list(p, p.axis)
		p.expectMark(']')
	}
	t.Span = p.since(first)
}

// axis ::= BATCH | DYNAMIC | uint
func (p *parser) axis() ast.Axis {
	first := p.at
	var a ast.Axis
	switch {
	case p.accept("BATCH"):
		a.Kind = ast.AxisBatch
	case p.accept("DYNAMIC"):
		a.Kind = ast.AxisDynamic
	default:
		a.Length = p.uint()
	}
	a.Span = p.since(first)
	return a
}
