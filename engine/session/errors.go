package session

import (
	"errors"
	"fmt"

	"plexus/engine/client"
)

// refusal makes a transport error: the call was not taken.
func refusal(code, format string, args ...any) error {
	return &client.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// errStopping answers every call once the node stops.
var errStopping error = &client.Error{Code: client.Unavailable, Message: "the node is stopping; retry elsewhere"}

// CodeOf returns the transport code of an error that a Service method returned,
// and its text.
func CodeOf(err error) (code, message string) {
	var answered *client.Error
	if errors.As(err, &answered) {
		return answered.Code, answered.Message
	}
	return client.Internal, err.Error()
}
