package oracle

// Oracle checks one property. Its functions run outside every task, between
// steps, and return what is wrong; numbers in the text do not count when failures
// are compared.
type Oracle struct {
	Name       string
	Continuous func() error
	Quiet      func() error
	// Evidence tells, after one of them failed, what a reader of the report needs
	// beside the message; nil where the message says it all.
	Evidence func() string
}
