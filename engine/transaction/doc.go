// Package transaction plans statements: which atomic steps a list of them comes
// to, what each step changes, holds and moves, and which impact that has. An
// ordinary statement is planned as a list of one.
//
//	X1  Planning is a pure function of the view and the statements. Whatever leader
//	    plans them from one view finds the same steps, impact and basis.
//	X2  A run of consecutive model mutations is one step; every other statement is
//	    a step of its own and closes the run before it, which must be complete.
//	X3  A plan is refused or whole: a statement that is invalid on its prefix is a
//	    [Fault], and nothing of the list is planned.
//	X4  Two views with one basis lead to one plan.
//	X5  A [Rehearsal] accepts and refuses what Make would, list by list.
//
// The package imports catalog, decide and nspl. It never imports a World, control
// or session. Properties: plan_test.go.
package transaction
