package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	// bodyBytesMax bounds one message.
	bodyBytesMax = 64 << 20
	// headerBytesMax bounds one line of a header.
	headerBytesMax = 8 << 10
)

// errHeader says that what was read is no header of a message.
var errHeader = errors.New("no Content-Length")

// Serve answers the messages of a stream until it ends or the editor asks to exit.
// It returns the exit status that the protocol wants: 0 after shutdown.
func Serve(in io.Reader, out io.Writer) (status int, err error) {
	s := NewServer()
	r := bufio.NewReaderSize(in, headerBytesMax)
	for {
		body, err := readMessage(r)
		switch {
		case errors.Is(err, errHeader):
			refused := encode(failure{"2.0", json.RawMessage("null"), rpcError{parseError, "a message begins with Content-Length"}})
			if err := writeMessage(out, refused); err != nil {
				return 1, err
			}
			continue
		case errors.Is(err, io.EOF):
			return 1, nil
		case err != nil:
			return 1, err
		}
		answers, done, clean := s.Handle(body)
		for _, a := range answers {
			if err := writeMessage(out, a); err != nil {
				return 1, err
			}
		}
		if done && clean {
			return 0, nil
		} else if done {
			return 1, nil
		}
	}
}

// readMessage reads one message. After errHeader the stream goes on behind what was
// read.
func readMessage(r *bufio.Reader) ([]byte, error) {
	length := -1
	for lines := 0; ; lines++ {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, errHeader
		}
		if err != nil {
			return nil, io.EOF
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			if length < 0 && lines == 0 {
				continue
			}
			break
		}
		name, value, found := strings.Cut(text, ":")
		if found && strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && n >= 0 && n <= bodyBytesMax {
				length = n
			}
		}
	}
	if length < 0 {
		return nil, errHeader
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, io.EOF
	}
	return body, nil
}

func writeMessage(out io.Writer, body []byte) error {
	_, err := fmt.Fprintf(out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}
