package observe

import "strings"

// Explain renders an error with its causes for people: the outermost text first,
// then each cause that the text does not hold already. Errors say only what they
// add; this is the one place where a chain becomes text.
func Explain(err error) string {
	if err == nil {
		return ""
	}
	return explain(err.Error(), err)
}

func explain(text string, err error) string {
	var causes []error
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if cause := e.Unwrap(); cause != nil {
			causes = append(causes, cause)
		}
	case interface{ Unwrap() []error }:
		causes = e.Unwrap()
	}
	for _, cause := range causes {
		if what := cause.Error(); !strings.Contains(text, what) {
			text += ": " + what
		}
		text = explain(text, cause)
	}
	return text
}
