package ast

// Walk calls visit with an expression and everything in it, outside in and from
// left to right.
func Walk(e Expr, visit func(Expr)) {
	all := func(list ...Expr) {
		for _, x := range list {
			if x != nil {
				Walk(x, visit)
			}
		}
	}
	visit(e)
	switch e := e.(type) {
	case *Call:
		all(e.Args...)
	case *Unary:
		all(e.X)
	case *Binary:
		all(e.X, e.Y)
	case *In:
		all(e.X)
		all(e.Set...)
	case *Between:
		all(e.X, e.Low, e.High)
	case *Cast:
		all(e.X)
	case *Conditional:
		all(e.Operand)
		for _, a := range e.Arms {
			all(a.When, a.Then)
		}
		all(e.Else)
	case *List:
		all(e.Items...)
	case *JSON:
		all(e.Doc)
	}
}
