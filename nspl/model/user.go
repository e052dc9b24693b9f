package model

import "plexus/nspl/ast"

const (
	passwordBytesMin = 8
	passwordBytesMax = 1024
)

// CheckPassword reports a password that no user can have. The message does not
// hold it.
func CheckPassword(password ast.Text) ast.Diagnostics {
	c := &checker{}
	if n := len(password.Text); n < passwordBytesMin || n > passwordBytesMax {
		c.invalid(password.Span, "a password is %d to %d bytes long", passwordBytesMin, passwordBytesMax)
	}
	return c.found
}
