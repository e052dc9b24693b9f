package check

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

func isError(t types.Type) bool { return t != nil && types.Implements(t, errorType) }

// checkErrors reports causes cut off, decisions by text, panics and results that
// nobody looks at.
func checkErrors(f *found) {
	each(f, func(c *ast.CallExpr) {
		switch name := f.callee(c); name {
		case "fmt.Errorf":
			f.checkErrorf(c)
		case "strings.Contains", "strings.HasPrefix", "strings.HasSuffix", "strings.EqualFold", "strings.Index":
			for _, a := range c.Args {
				if f.isErrorText(a) {
					f.at(c.Pos(), "deciding by an error's text; use errors.Is or errors.As")
				}
			}
		}
		if f.isBuiltin(c, "panic") && !f.mayPanic(c.Args[0]) {
			f.at(c.Pos(), "panic; use an error, or invariant.That for our own mistakes")
		}
	})
	each(f, func(e *ast.BinaryExpr) {
		if (e.Op == token.EQL || e.Op == token.NEQ) && (f.isErrorText(e.X) || f.isErrorText(e.Y)) {
			f.at(e.Pos(), "comparing an error's text; use errors.Is or errors.As")
		}
	})
	each(f, func(s *ast.ExprStmt) {
		c, ok := s.X.(*ast.CallExpr)
		if !ok || !returnsError(f.TypesInfo.TypeOf(c)) || f.neverFails(c) {
			return
		}
		f.at(s.Pos(), "an error is dropped; handle it, or write _ = and why")
	})
}

// mayPanic reports whether a value may be thrown: an invariant's violation, a
// type of the package itself, which nobody but its own recover knows, or what
// recover returned.
func (f *found) mayPanic(e ast.Expr) bool {
	if named, ok := f.TypesInfo.TypeOf(e).(*types.Named); ok {
		obj := named.Obj()
		if obj.Pkg() == f.Pkg && !obj.Exported() || obj.Name() == "Violation" && obj.Pkg() != nil && obj.Pkg().Path() == "plexus/primitives/invariant" {
			return true
		}
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && f.isRecovered(f.TypesInfo.Uses[id])
}

// isRecovered reports whether a variable was declared with the result of
// recover. In a type switch each case has a variable of its own, declared at the
// same place.
func (f *found) isRecovered(v types.Object) (yes bool) {
	if v == nil {
		return false
	}
	each(f, func(s *ast.AssignStmt) {
		if len(s.Rhs) != 1 || s.Lhs[0].Pos() != v.Pos() {
			return
		}
		from := s.Rhs[0]
		if t, ok := from.(*ast.TypeAssertExpr); ok {
			from = t.X
		}
		c, ok := from.(*ast.CallExpr)
		yes = yes || ok && f.isBuiltin(c, "recover")
	})
	return yes
}

// checkErrorf reports error operands that %w does not keep.
func (f *found) checkErrorf(c *ast.CallExpr) {
	value := f.TypesInfo.Types[c.Args[0]].Value
	if value == nil || value.Kind() != constant.String || c.Ellipsis != token.NoPos {
		return
	}
	operands := c.Args[1:]
	for i, verb := range verbs(constant.StringVal(value)) {
		if i < len(operands) && verb != 'w' && isError(f.TypesInfo.TypeOf(operands[i])) {
			f.at(operands[i].Pos(), "%%%c loses the cause; use %%w", verb)
		}
	}
}

// verbs returns the verb of each operand of a format without explicit indexes.
func verbs(format string) (list []rune) {
	inVerb := false
	for _, r := range format {
		switch {
		case !inVerb:
			inVerb = r == '%'
		case r == '%':
			inVerb = false
		case r == '*':
			list = append(list, r)
		case !strings.ContainsRune("+-# 0123456789.[]", r):
			list = append(list, r)
			inVerb = false
		}
	}
	return list
}

// isErrorText reports whether an expression is the text of an error.
func (f *found) isErrorText(e ast.Expr) bool {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	s, ok := c.Fun.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Error" && len(c.Args) == 0 && isError(f.TypesInfo.TypeOf(s.X))
}

func returnsError(t types.Type) bool {
	if tuple, ok := t.(*types.Tuple); ok {
		if tuple.Len() == 0 {
			return false
		}
		t = tuple.At(tuple.Len() - 1).Type()
	}
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// neverFails reports whether a call's error is nil by contract, or says nothing
// that the caller could act on: a Close on the way out of another failure.
func (f *found) neverFails(c *ast.CallExpr) bool {
	name := f.callee(c)
	switch name {
	case "strings.Builder.WriteString", "strings.Builder.WriteByte", "strings.Builder.WriteRune", "strings.Builder.Write",
		"bytes.Buffer.WriteString", "bytes.Buffer.WriteByte", "bytes.Buffer.WriteRune", "bytes.Buffer.Write",
		"fmt.Print", "fmt.Printf", "fmt.Println":
		return true
	case "fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln":
		// A command that cannot speak to people has nobody to tell.
		return isMemory(f.TypesInfo.TypeOf(c.Args[0])) || f.isStandardStream(c.Args[0]) || within(f.Pkg.Path(), "plexus/cmd/...")
	}
	if strings.HasSuffix(name, ".Close") || strings.HasSuffix(name, ".Entropy.Read") {
		return true
	}
	s, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	return ok && strings.HasPrefix(s.Sel.Name, "Write") && isHash(f.TypesInfo.TypeOf(s.X))
}

// isMemory reports whether a writer keeps what it gets in memory.
func isMemory(t types.Type) bool {
	switch types.TypeString(t, nil) {
	case "*strings.Builder", "*bytes.Buffer":
		return true
	}
	return isHash(t)
}

// isStandardStream reports whether a writer is standard output or error.
func (f *found) isStandardStream(e ast.Expr) bool {
	s, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	obj := f.TypesInfo.Uses[s.Sel]
	return obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == "os" && (obj.Name() == "Stdout" || obj.Name() == "Stderr")
}

// isHash reports whether a type has the method Sum64, Sum32 or Sum: hashes accept
// everything.
func isHash(t types.Type) bool {
	if t == nil {
		return false
	}
	for _, name := range []string{"Sum", "Sum32", "Sum64"} {
		if obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name); obj != nil {
			if _, ok := obj.(*types.Func); ok {
				return true
			}
		}
	}
	return false
}
