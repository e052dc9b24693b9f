package parse

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// reserved are the words that name no field, function or target inside an
// expression unless they stand in backticks.
var reserved = map[string]bool{
	"where": true, "set": true, "inherit": true, "all": true, "except": true, "leak": true, "sensitive": true,
	"invoke": true, "as": true, "try_cast": true, "json_value": true, "try_json_value": true, "json_exists": true,
	"and": true, "or": true, "not": true, "true": true, "false": true, "null": true, "if": true, "case": true,
	"when": true, "then": true, "else": true, "end": true, "in": true, "between": true, "is": true,
	"distinct": true, "from": true, "udf": true,
}

// Reserved reports whether a lower-case word must be quoted where an expression
// reads it bare.
func Reserved(word string) bool { return reserved[word] }

// ReservedWords lists them in order.
func ReservedWords() []string { return slices.Sorted(maps.Keys(reserved)) }

// expr takes an expression and stops at the first token that cannot continue it.
func (p *parser) expr() ast.Expr {
	p.enter()
	e := p.or()
	if !p.detailed { // else each operator was recorded
		p.expecting(p.at, Expectation{Text: "operator", Class: ClassOperator})
	}
	p.leave()
	return e
}

// bracketed takes an expression inside brackets, where an AS is an ordinary one.
func (p *parser) bracketed() ast.Expr {
	outer := p.tryCast
	p.tryCast = false
	e := p.expr()
	p.tryCast = outer
	return e
}

// bracketedIn takes an expression of a clause that stands in brackets.
func (p *parser) bracketedIn(clause Clause) ast.Expr {
	p.clause = clause
	e := p.bracketed()
	p.clause = ClauseNone
	return e
}

// or ::= and (OR and)*
func (p *parser) or() ast.Expr {
	x := p.and()
	for n := 0; p.is(p.at, "OR"); n++ {
		x = p.binary(ast.Or, 1, x, (*parser).and, n)
	}
	p.possible(ClassOperator, "OR")
	return x
}

// and ::= cmp (AND cmp)*
func (p *parser) and() ast.Expr {
	x := p.comparison()
	for n := 0; p.is(p.at, "AND"); n++ {
		x = p.binary(ast.And, 1, x, (*parser).comparison, n)
	}
	p.possible(ClassOperator, "AND")
	return x
}

// binary takes an operator of some tokens and its right operand.
func (p *parser) binary(op ast.BinaryOp, tokens int, x ast.Expr, operand func(*parser) ast.Expr, links int) ast.Expr {
	if links >= chainMax {
		p.refuse(ast.CodeParse, p.span(p.at), "more than %d operators in a row", chainMax)
	}
	p.mark(p.at, p.at+tokens, RoleKeyword)
	p.at += tokens
	y := operand(p)
	return &ast.Binary{At: ast.At{Span: x.Place().Cover(y.Place())}, Op: op, X: x, Y: y}
}

// comparisonOp returns the comparison that stands here.
func (p *parser) comparisonOp() (ast.BinaryOp, bool) {
	switch p.kind() {
	case '=':
		return ast.Eq, true
	case tokenNe:
		return ast.Ne, true
	case '<':
		return ast.Lt, true
	case tokenLe:
		return ast.Le, true
	case '>':
		return ast.Gt, true
	case tokenGe:
		return ast.Ge, true
	}
	return 0, false
}

// comparison ::= sum (comparison | IS NOT? DISTINCT FROM sum | NOT? IN set | NOT? BETWEEN sum AND sum)*
func (p *parser) comparison() ast.Expr {
	x := p.sum()
	for n := 0; ; n++ {
		if op, ok := p.comparisonOp(); ok {
			x = p.binary(op, 1, x, (*parser).sum, n)
			continue
		}
		switch {
		case p.is(p.at, "IS"):
			p.mark(p.at, p.at+1, RoleKeyword)
			p.at++
			op := ast.Distinct
			if p.one("DISTINCT FROM", "NOT DISTINCT FROM") == 1 {
				op = ast.NotDistinct
			}
			x = p.binary(op, 0, x, (*parser).sum, n)
		case p.is(p.at, "IN"), p.is(p.at, "BETWEEN"):
			x = p.membership(x, false, n)
		case p.is(p.at, "NOT"):
			p.mark(p.at, p.at+1, RoleKeyword)
			p.at++
			x = p.membership(x, true, n)
		default:
			p.possible(ClassOperator, "=", "!=", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "IN", "NOT IN",
				"BETWEEN", "NOT BETWEEN")
			return x
		}
	}
}

// membership takes what follows x [NOT].
func (p *parser) membership(x ast.Expr, not bool, links int) ast.Expr {
	if links >= chainMax {
		p.refuse(ast.CodeParse, p.span(p.at), "more than %d operators in a row", chainMax)
	}
	if p.one("IN", "BETWEEN") == 0 {
		p.expectMark('(')
		set := listUntil(p, ')', p.bracketed)
		return &ast.In{At: ast.At{Span: x.Place().Cover(p.span(p.at - 1))}, Not: not, X: x, Set: set}
	}
	low := p.sum()
	p.expect("AND")
	high := p.sum()
	return &ast.Between{At: ast.At{Span: x.Place().Cover(high.Place())}, Not: not, X: x, Low: low, High: high}
}

// sum ::= product (('+' | '-') product)*
func (p *parser) sum() ast.Expr {
	x := p.product()
	for n := 0; ; n++ {
		switch p.kind() {
		case '+':
			x = p.binary(ast.Add, 1, x, (*parser).product, n)
		case '-':
			x = p.binary(ast.Sub, 1, x, (*parser).product, n)
		default:
			p.possible(ClassOperator, "+", "-")
			return x
		}
	}
}

// product ::= unary (('*' | '/' | '%') unary)*
func (p *parser) product() ast.Expr {
	x := p.unary()
	for n := 0; ; n++ {
		switch p.kind() {
		case '*':
			x = p.binary(ast.Mul, 1, x, (*parser).unary, n)
		case '/':
			x = p.binary(ast.Div, 1, x, (*parser).unary, n)
		case '%':
			x = p.binary(ast.Rem, 1, x, (*parser).unary, n)
		default:
			p.possible(ClassOperator, "*", "/", "%")
			return x
		}
	}
}

// unary ::= ('-' | NOT) unary | cast
func (p *parser) unary() ast.Expr {
	op := ast.Neg
	switch {
	case p.kind() == '-':
	case p.is(p.at, "NOT"):
		op = ast.Not
	default:
		return p.cast()
	}
	first := p.at
	p.enter()
	p.mark(first, first+1, RoleKeyword)
	p.at++
	x := p.unary()
	p.leave()
	return &ast.Unary{At: ast.At{Span: p.span(first).Cover(x.Place())}, Op: op, X: x}
}

// cast ::= primary (AS type)*
func (p *parser) cast() ast.Expr {
	x := p.primary()
	for n := 0; p.is(p.at, "AS") && !p.lastOfTryCast(); n++ {
		if n >= chainMax {
			p.refuse(ast.CodeParse, p.span(p.at), "more than %d operators in a row", chainMax)
		}
		p.mark(p.at, p.at+1, RoleKeyword)
		p.at++
		t := p.castType()
		x = &ast.Cast{At: ast.At{Span: x.Place().Cover(t.Span)}, X: x, Type: t}
	}
	p.possible(ClassOperator, "AS")
	return x
}

// lastOfTryCast reports whether the AS here is the one that TRY_CAST owns.
func (p *parser) lastOfTryCast() bool {
	return p.tryCast && p.peek(1) == tokenWord && p.peek(2) == ')'
}

func (p *parser) primary() ast.Expr {
	first := p.at
	switch p.kind() {
	case tokenNumber:
		return p.numberLit()
	case tokenString:
		s := p.string()
		return &ast.StringLit{At: ast.At{Span: s.Span}, Value: s.Text}
	case '(':
		p.at++
		e := p.bracketed()
		p.expectMark(')')
		return e
	case '[':
		p.at++
		items := listUntil(p, ']', p.bracketed)
		return &ast.List{At: ast.At{Span: p.since(first)}, Items: items}
	case tokenQuoted:
		return p.named()
	case tokenWord:
		if !reserved[strings.ToLower(p.text(p.at))] {
			return p.named()
		}
		if e := p.special(); e != nil {
			return e
		}
	}
	p.expecting(first, Expectation{Text: "expression", Class: ClassExpression})
	p.possible(ClassMark, "(", "[", "-")
	p.possible(ClassKeyword, "NOT")
	for _, form := range specials {
		p.possible(ClassKeyword, form.word)
	}
	p.fail()
	return nil
}

func (p *parser) numberLit() ast.Expr {
	text, at := p.text(p.at), ast.At{Span: p.span(p.at)}
	p.at++
	if strings.Contains(text, ".") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			p.refuseWith(ast.Errorf(ast.CodeInvalidLiteral, at.Span, "number is outside the range of F64").
				WithHint("the greatest F64 is about 1.8e308"))
		}
		return &ast.FloatLit{At: at, Value: f}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.refuseWith(ast.Errorf(ast.CodeInvalidLiteral, at.Span, "whole number is greater than %d", int64(math.MaxInt64)).
			WithHint("'%s' AS U64 makes greater ones", text))
	}
	return &ast.IntLit{At: at, Value: n}
}

// named takes a field or a call.
func (p *parser) named() ast.Expr {
	first := p.at
	quoted := p.kind() == tokenQuoted
	n := p.takeName()
	if _, scope := ast.ScopeNamed(n.Text); scope && !quoted {
		p.possible(ClassMark, ".")
	}
	if p.detailed {
		p.expecting(p.at, Expectation{Text: "(", Class: ClassCall, Of: n.Text})
	}
	switch {
	case p.kind() == '(':
		return p.call(first, n, false)
	case p.kind() == '.' && !quoted:
		return p.scoped(first, n)
	}
	return &ast.Field{At: ast.At{Span: n.Span}, Name: n}
}

// scoped takes the rest of scope.name.
func (p *parser) scoped(first int, n ast.Name) ast.Expr {
	scope, ok := ast.ScopeNamed(n.Text)
	if !ok {
		d := ast.Errorf(ast.CodeScope, n.Span, "'%s' is not a scope", n.Text)
		if near := vocab.Nearest(n.Text, scopeWords); near != "" {
			d.Hint = "did you mean " + near + "?"
		} else {
			d.Hint = "scopes are " + strings.Join(scopeWords, ", ")
		}
		panic(fault{d})
	}
	f := &ast.Field{Scope: scope}
	p.at++
	if scope == ast.ScopeRelayState {
		f.Relay = p.ref(toState)
		p.expectMark('.')
	}
	f.Name = p.fieldOf(scope, f.Relay.Text)
	f.Span = p.since(first)
	return f
}

var scopeWords = func() []string {
	var words []string
	for s := ast.ScopeInput; s <= ast.ScopeRelayState; s++ {
		words = append(words, s.String())
	}
	return words
}()

func (p *parser) call(first int, n ast.Name, udf bool) ast.Expr {
	p.mark(p.at-1, p.at, RoleFunction)
	p.expectMark('(')
	args := listUntil(p, ')', p.bracketed)
	if !udf {
		n.Text = ast.CanonicalFunction(n.Text)
	}
	return &ast.Call{At: ast.At{Span: p.since(first)}, UDF: udf, Name: n, Args: args}
}

// specials are the forms that begin with a reserved word, and who reads what
// follows it.
var specials []special

type special struct {
	word string
	read func(p *parser, first int) ast.Expr
}

func init() { // the forms hold expressions, which look for the forms
	specials = []special{
		{"TRUE", func(p *parser, first int) ast.Expr { return &ast.BoolLit{At: ast.At{Span: p.span(first)}, Value: true} }},
		{"FALSE", func(p *parser, first int) ast.Expr { return &ast.BoolLit{At: ast.At{Span: p.span(first)}} }},
		{"NULL", func(p *parser, first int) ast.Expr { return &ast.NullLit{At: ast.At{Span: p.span(first)}} }},
		{"UDF", (*parser).udfCall},
		{"TRY_CAST", (*parser).tryCastCall},
		{"JSON_VALUE", func(p *parser, first int) ast.Expr { return p.json(first, ast.JSONValue) }},
		{"TRY_JSON_VALUE", func(p *parser, first int) ast.Expr { return p.json(first, ast.TryJSONValue) }},
		{"JSON_EXISTS", func(p *parser, first int) ast.Expr { return p.json(first, ast.JSONExists) }},
		{"IF", (*parser).ifExpr},
		{"CASE", (*parser).caseExpr},
	}
}

// special takes the forms that begin with a reserved word, or nothing.
func (p *parser) special() ast.Expr {
	for _, form := range specials {
		if p.is(p.at, form.word) {
			p.mark(p.at, p.at+1, RoleKeyword)
			p.at++
			return form.read(p, p.at-1)
		}
	}
	return nil
}

// udfCall takes what follows UDF.
func (p *parser) udfCall(first int) ast.Expr {
	if p.kind() != tokenScope {
		p.expecting(p.at, Expectation{Text: "::", Class: ClassMark})
		p.fail()
	}
	p.at++
	return p.call(first, p.ref(toUDF), true)
}

func (p *parser) tryCastCall(first int) ast.Expr {
	p.expectMark('(')
	outer := p.tryCast
	p.tryCast = true
	x := p.expr()
	p.tryCast = outer
	p.expect("AS")
	t := p.castType()
	p.expectMark(')')
	return &ast.Cast{At: ast.At{Span: p.since(first)}, Try: true, X: x, Type: t}
}

func (p *parser) json(first int, form ast.JSONForm) ast.Expr {
	p.expectMark('(')
	j := &ast.JSON{Form: form, Doc: p.bracketed()}
	p.expectMark(',')
	j.Path = p.stringOf("JSON path")
	if _, err := vocab.JSONPath(j.Path.Text); err != nil {
		p.refuseWith(ast.Errorf(ast.CodeParse, j.Path.Span, "%v", err).WithHint("a path is $ and steps: .name, [\"any name\"] or [0]"))
	}
	if form != ast.JSONExists {
		p.expect("AS")
		j.Type = p.typ()
	}
	p.expectMark(')')
	j.Span = p.since(first)
	return j
}

func (p *parser) ifExpr(first int) ast.Expr {
	c := &ast.Conditional{If: true, Arms: []ast.Arm{{}}}
	c.Arms[0].When = p.bracketed()
	p.expect("THEN")
	c.Arms[0].Then = p.bracketed()
	p.expect("ELSE")
	c.Else = p.bracketed()
	p.expect("END")
	c.Span = p.since(first)
	return c
}

func (p *parser) caseExpr(first int) ast.Expr {
	c := &ast.Conditional{}
	if !p.accept("WHEN") {
		c.Operand = p.bracketed()
		p.expect("WHEN")
	}
	for {
		arm := ast.Arm{When: p.bracketed()}
		p.expect("THEN")
		arm.Then = p.bracketed()
		c.Arms = append(c.Arms, arm)
		if !p.accept("WHEN") {
			break
		}
	}
	if p.accept("ELSE") {
		c.Else = p.bracketed()
	}
	p.expect("END")
	c.Span = p.since(first)
	return c
}

// target takes the name of a field that is assigned to.
func (p *parser) target() ast.Name {
	if p.kind() == tokenWord && reserved[strings.ToLower(p.text(p.at))] {
		p.expecting(p.at, Expectation{Text: "name", Class: ClassField})
		p.fail()
	}
	return p.field()
}
