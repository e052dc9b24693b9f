package check

import (
	"go/ast"
	"strings"
)

// waitingCalls are the calls of primitives that block on other tasks or time.
var waitingCalls = map[string]bool{
	"Queue.Send": true, "Queue.Recv": true, "Event.Wait": true, "Notice.Wait": true, "Mutex.Lock": true, "Cond.Wait": true,
	"Semaphore.Acquire": true, "Group.Wait": true, "Ticker.Next": true, "Executor.Run": true, "Executor.RunWaiting": true, "Executor.Close": true,
	"Sleep": true, "SleepUntil": true, "Select": true,
	"Net.Dial": true, "Resolver.Lookup": true,
}

// bounded are waits that end without cancellation. Dial and Lookup take a
// deadline; a group is joined when its tasks' own waits end, and a mutex is free
// again because nobody waits while holding it.
var bounded = map[string]bool{"Net.Dial": true, "Resolver.Lookup": true, "Group.Wait": true, "Mutex.Lock": true}

// checkWaits reports waits that nothing can end, and waits under a lock.
func checkWaits(f *found) {
	each(f, func(c *ast.CallExpr) {
		if name := f.waits(c); name != "" && !bounded[name] && len(c.Args) > 0 && f.isEndless(c.Args[0]) {
			f.at(c.Pos(), "%s cannot be cancelled; pass a context that can be", name)
		}
	})
	each(f, func(b *ast.BlockStmt) { f.checkHeld(b.List) })
}

// waits returns the name of a blocking call of primitives, or nothing.
func (f *found) waits(c *ast.CallExpr) string {
	name, ok := strings.CutPrefix(f.callee(c), "plexus/primitives.")
	if !ok || !waitingCalls[name] {
		return ""
	}
	return name
}

// isEndless reports whether a context is never cancelled, as far as the
// expression itself says.
func (f *found) isEndless(e ast.Expr) bool {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	name := f.callee(c)
	return name == "context.Background" || name == "context.TODO" || name == "context.WithoutCancel"
}

// checkHeld reports waits between a Lock of a primitives.Mutex and its Unlock in
// the same list of statements; a deferred Unlock holds to the end of the list.
func (f *found) checkHeld(list []ast.Stmt) {
	held := false
	for _, s := range list {
		switch {
		case f.calls(s, "plexus/primitives.Mutex.Lock"):
			held = true
		case isExprCall(s) && f.calls(s, "plexus/primitives.Mutex.Unlock"):
			held = false
		case held:
			ast.Inspect(s, func(n ast.Node) bool {
				if _, ok := n.(*ast.FuncLit); ok {
					return false
				}
				if c, ok := n.(*ast.CallExpr); ok {
					if name := f.waits(c); name != "" && name != "Cond.Wait" {
						f.at(c.Pos(), "%s while a primitives.Mutex is held", name)
					}
				}
				return true
			})
		}
	}
}

func isExprCall(s ast.Stmt) bool {
	_, ok := s.(*ast.ExprStmt)
	return ok
}

// calls reports whether a statement, without the blocks inside it, calls a
// function.
func (f *found) calls(s ast.Stmt, name string) (yes bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt, *ast.FuncLit:
			return false
		case *ast.CallExpr:
			yes = yes || f.callee(n) == name
		}
		return true
	})
	return yes
}
