package vocab

import (
	"errors"
	"strings"
)

// NameRule is one external name of a clause: the word that introduces it and
// the check of its owner.
type NameRule struct {
	Role  string
	Check func(text string) error
}

// What is wrong with an external name. The messages complete "<role> '<text>': ".
var (
	errEmpty       = errors.New("must not be empty")
	errToken       = errors.New("has an empty token")
	errSpace       = errors.New("must not contain white space or control characters")
	errWildcard    = errors.New("must not contain a wildcard")
	errWildcardPos = errors.New("has a wildcard that is not a whole token, or '>' before the end")
	errStreamChar  = errors.New("must not contain '.', '*', '>', '/' or '\\'")
	errLong        = errors.New("must not be longer than 255 bytes")
)

// nameBytesMax is the limit NATS servers put on stream and consumer names.
const nameBytesMax = 255

// NATSSubject checks the subject that is published to: tokens joined by dots.
func NATSSubject(text string) error {
	if err := natsTokens(text); err != nil {
		return err
	}
	if strings.ContainsAny(text, "*>") {
		return errWildcard
	}
	return nil
}

// NATSSubjectPattern checks the subject that is subscribed to: '*' stands for one
// token, '>' at the end for one or more.
func NATSSubjectPattern(text string) error {
	if err := natsTokens(text); err != nil {
		return err
	}
	for rest, more := text, true; more; {
		var token string
		token, rest, more = strings.Cut(rest, ".")
		if strings.ContainsAny(token, "*>") && (len(token) > 1 || token == ">" && more) {
			return errWildcardPos
		}
	}
	return nil
}

// NATSQueueGroup checks a queue group.
func NATSQueueGroup(text string) error { return printable(text) }

// JetStreamName checks the name of a stream or of a consumer.
func JetStreamName(text string) error {
	if err := printable(text); err != nil {
		return err
	}
	if strings.ContainsAny(text, `.*>/\`) {
		return errStreamChar
	}
	if len(text) > nameBytesMax {
		return errLong
	}
	return nil
}

// RedisChannel checks a channel, which may be any text.
func RedisChannel(text string) error {
	if text == "" {
		return errEmpty
	}
	return nil
}

func natsTokens(text string) error {
	if err := printable(text); err != nil {
		return err
	}
	if text[0] == '.' || text[len(text)-1] == '.' || strings.Contains(text, "..") {
		return errToken
	}
	return nil
}

func printable(text string) error {
	if text == "" {
		return errEmpty
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] == 0x7f {
			return errSpace
		}
	}
	return nil
}
