package render

import (
	"strconv"
	"strings"

	"plexus/nspl/ast"
)

// The precedence levels, loosest first. An operand stands in parentheses where
// its own level is below the one its place asks for.
const (
	levelOr = iota + 1
	levelAnd
	levelComparison
	levelSum
	levelProduct
	levelUnary
	levelCast
	levelPrimary
)

func binaryLevel(op ast.BinaryOp) int {
	switch op {
	case ast.Or:
		return levelOr
	case ast.And:
		return levelAnd
	case ast.Add, ast.Sub:
		return levelSum
	case ast.Mul, ast.Div, ast.Rem:
		return levelProduct
	default:
		return levelComparison
	}
}

func level(e ast.Expr) int {
	switch e := e.(type) {
	case *ast.Binary:
		return binaryLevel(e.Op)
	case *ast.In, *ast.Between:
		return levelComparison
	case *ast.Unary:
		return levelUnary
	case *ast.Cast:
		if e.Try {
			return levelPrimary
		}
		return levelCast
	default:
		return levelPrimary
	}
}

// Expr returns the canonical text of an expression.
func Expr(e ast.Expr) string {
	w := &writer{}
	w.expr(e)
	return string(w.text)
}

// expr writes an expression where any may stand.
func (w *writer) expr(e ast.Expr) *writer { return w.operand(e, levelOr) }

// operand writes an expression where one of at least a level may stand.
func (w *writer) operand(e ast.Expr, at int) *writer {
	if level(e) < at {
		return w.put("(").expr(e).put(")")
	}
	switch e := e.(type) {
	case *ast.IntLit:
		w.text = strconv.AppendInt(w.text, e.Value, 10)
	case *ast.FloatLit:
		w.float(e.Value)
	case *ast.StringLit:
		w.string(e.Value)
	case *ast.BoolLit:
		w.put(strings.ToUpper(strconv.FormatBool(e.Value)))
	case *ast.NullLit:
		w.put("NULL")
	case *ast.Field:
		w.field(e)
	case *ast.Call:
		w.call(e)
	case *ast.Unary:
		w.put([]string{ast.Neg: "-", ast.Not: "NOT "}[e.Op]).operand(e.X, levelUnary)
	case *ast.Binary:
		l := binaryLevel(e.Op)
		w.operand(e.X, l).put(" ", e.Op.String(), " ").operand(e.Y, l+1)
	case *ast.In:
		w.operand(e.X, levelComparison).put(not(e.Not), " IN (").exprs(e.Set).put(")")
	case *ast.Between:
		w.operand(e.X, levelComparison).put(not(e.Not), " BETWEEN ").operand(e.Low, levelSum).put(" AND ").operand(e.High, levelSum)
	case *ast.Cast:
		w.cast(e)
	case *ast.Conditional:
		w.conditional(e)
	case *ast.List:
		w.put("[").exprs(e.Items).put("]")
	case *ast.JSON:
		w.put(e.Form.String(), "(").expr(e.Doc).put(", ").string(e.Path.Text)
		if e.Form != ast.JSONExists {
			w.put(" AS ", e.Type.String())
		}
		w.put(")")
	}
	return w
}

func not(yes bool) string {
	if yes {
		return " NOT"
	}
	return ""
}

func (w *writer) exprs(list []ast.Expr) *writer {
	for i, e := range list {
		if i > 0 {
			w.put(", ")
		}
		w.expr(e)
	}
	return w
}

// float writes the shortest digits that read back, always with a fraction.
func (w *writer) float(f float64) {
	begin := len(w.text)
	w.text = strconv.AppendFloat(w.text, f, 'f', -1, 64)
	if !strings.Contains(string(w.text[begin:]), ".") {
		w.put(".0")
	}
}

func (w *writer) field(f *ast.Field) {
	if f.Scope == ast.ScopeBare {
		w.bareName(f.Name.Text)
		return
	}
	w.put(f.Scope.String(), ".")
	if f.Scope == ast.ScopeRelayState {
		w.name(f.Relay.Text).put(".")
	}
	w.name(f.Name.Text)
}

func (w *writer) call(c *ast.Call) {
	switch {
	case c.UDF:
		w.put("udf::").name(c.Name.Text)
	case ast.Aggregate(c.Name.Text, w.aggregates):
		w.put(strings.ToUpper(c.Name.Text))
	default:
		w.function(c.Name.Text)
	}
	w.put("(").exprs(c.Args).put(")")
}

func (w *writer) cast(c *ast.Cast) {
	if c.Try {
		w.put("TRY_CAST(").expr(c.X).put(" AS ", c.Type.String(), ")")
		return
	}
	w.operand(c.X, levelCast).put(" AS ", c.Type.String())
}

func (w *writer) conditional(c *ast.Conditional) {
	if c.If {
		w.put("IF ").expr(c.Arms[0].When).put(" THEN ").expr(c.Arms[0].Then).put(" ELSE ").expr(c.Else).put(" END")
		return
	}
	w.put("CASE")
	if c.Operand != nil {
		w.put(" ").expr(c.Operand)
	}
	for _, arm := range c.Arms {
		w.put(" WHEN ").expr(arm.When).put(" THEN ").expr(arm.Then)
	}
	if c.Else != nil {
		w.put(" ELSE ").expr(c.Else)
	}
	w.put(" END")
}
