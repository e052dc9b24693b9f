package invariant

type Violation struct{ What string }

func That(cond bool, what string) {
	if !cond {
		panic(Violation{what})
	}
}
