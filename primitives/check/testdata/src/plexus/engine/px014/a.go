package px014

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"plexus/primitives/invariant"
)

func refused(err error, f func() (int, error)) error {
	if err.Error() == "closed" { // want `PX014: comparing an error's text`
		panic("no") // want `PX014: panic; use an error`
	}
	if strings.Contains(err.Error(), "closed") { // want `PX014: deciding by an error's text`
		f() // want `PX014: an error is dropped`
	}
	return fmt.Errorf("%d: reading: %v", 1, err) // want `PX014: %v loses the cause`
}

type bailOut struct{}

func accepted(err error, f func() (int, error), h interface {
	Write([]byte) (int, error)
	Sum64() uint64
}) error {
	defer func() {
		switch r := recover().(type) {
		case bailOut:
		default:
			panic(r)
		}
	}()
	defer func() {
		if r := recover(); r != nil {
			panic(r)
		}
	}()
	var text strings.Builder
	text.WriteString("x")
	fmt.Fprintf(&text, "%s", err)
	fmt.Fprintln(os.Stderr, "x")
	h.Write(nil)
	_, _ = f()
	if text.Len() > 3 {
		panic(bailOut{})
	}
	if errors.Is(err, nil) {
		panic(invariant.Violation{"x"})
	}
	return fmt.Errorf("%s at 100%%, %*d: %w", "x", 3, 4, err)
}
