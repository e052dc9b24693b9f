package model

import (
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// httpRequest checks what a request says in literals. What expressions yield is
// checked for each record, by the same rules.
func (c *checker) httpRequest(s ast.Sink, body ast.Body) {
	c.literal(s.Method, "METHOD", vocab.HTTPMethod)
	if m, ok := s.Method.(*ast.StringLit); ok && body.Codec != nil && bodyless(m.Value) {
		c.add(ast.Errorf(ast.CodeInvalid, m.Span, "METHOD '%s' sends no body", m.Value).
			WithHint("write WITHOUT BODY instead of ENCODE USING %s", body.Codec.Text))
	}
	c.literal(s.Path, "PATH", vocab.HTTPTarget)
	for _, w := range body.Invoke {
		c.literal(w.Name, "header", vocab.HTTPHeaderName)
		c.literal(w.Value, "header value", vocab.HTTPHeaderValue)
	}
}

func bodyless(method string) bool {
	return strings.EqualFold(method, "GET") || strings.EqualFold(method, "HEAD")
}

// literal checks an expression that is a string literal.
func (c *checker) literal(e ast.Expr, what string, check func(string) error) {
	if lit, ok := e.(*ast.StringLit); ok {
		if err := check(lit.Value); err != nil {
			c.invalid(lit.Span, "%s '%s' %v", what, ast.Shown(lit.Value), err)
		}
	}
}
