package ast

// Start is START; AtNow is START AT NOW.
type Start struct {
	Head
	AtNow bool
}

// Stop is STOP.
type Stop struct{ Head }
