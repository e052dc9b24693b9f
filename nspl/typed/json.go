package typed

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// json checks an extraction from JSON text. The parser has checked the path.
func (c *checker) json(e *ast.JSON) *Expr {
	doc := c.expr(e.Doc, nil)
	if doc == nil {
		return nil
	}
	if doc.Type.Kind != vocab.String {
		c.fault(ast.CodeTypeMismatch, doc.Span, "%s reads a STRING, not %s", e.Form, doc.Type)
		return nil
	}
	op, t := OpJSONExists, boolType
	if e.Form != ast.JSONExists {
		op, t = OpJSONValue, e.Type.Type
		if e.Form == ast.TryJSONValue {
			op = OpTryJSONValue
		}
		innermost := t
		for innermost.Elem != nil {
			innermost = *innermost.Elem
		}
		if !isBasic(innermost.Kind) || innermost.Kind == vocab.Datetime {
			c.fault(ast.CodeUnsupportedCast, e.Type.Span, "%s cannot yield %s", e.Form, t).
				WithHint("extract a STRING and convert it")
			return nil
		}
	}
	path, err := vocab.JSONPath(e.Path.Text)
	if err != nil {
		c.fault(ast.CodeParse, e.Path.Span, "%v", err)
		return nil
	}
	x := combine(op, t, []*Expr{doc})
	x.Span, x.Path, x.Fallible = e.Span, path, true
	x.Optional = x.Optional || op != OpJSONExists
	return x
}
