// Package expr runs expressions over Arrow batches. [CompileFilter],
// [CompileConstruction] and [CompileValues] lower the checked form of nspl/typed
// to trees of columnar kernels once; running a program then costs one call per
// operator and batch, and loops over columns inside.
//
//	X1  A row's result depends on that row, the context and nothing else: not on
//	    its neighbours, and not on how rows were batched.
//	X2  A failure is a value beside the columns: the failed operation yields null
//	    for the row, evaluation goes on, and the first failure of a row in program
//	    order is reported.
//	X3  Every operand is evaluated for every row; only the arms of IF and CASE
//	    restrict evaluation to the rows that take them.
//	X4  A folded constant was computed by the kernel that would have run.
//	X5  Bits of a bitmap beyond the rows of its column are zero.
//	X6  Texts of failures name operations, fields and types, never a value.
//
// A compiled program is immutable and may be shared; a [Scratch] belongs to one
// task. Time, randomness and headers come from the [Context] only: the package
// is pure and never imports a World.
package expr
