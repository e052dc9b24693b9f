package sessionframe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"
)

// Kind says what a frame carries.
type Kind uint8

// The kinds.
const (
	Call  Kind = iota + 1 // sessionpb.Call
	Reply                 // the method's reply, or one element of its stream
	End                   // sessionpb.End
)

// BytesMax bounds a frame: a reply of 64 MiB and its envelope.
const BytesMax = 64<<20 + 1<<16

// ErrFrame says that the bytes are no frame of the protocol.
var ErrFrame = errors.New("malformed session frame")

// Write sends one frame.
func Write(w io.Writer, kind Kind, m proto.Message) error {
	b := make([]byte, 5, 64)
	b, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(b, m)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	if len(b)-4 > BytesMax {
		return fmt.Errorf("%w: %d bytes", ErrFrame, len(b)-4)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	b[4] = byte(kind)
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	return nil
}

// Read takes the next frame, at most bytesMax long. A connection that ends
// between frames is io.EOF.
func Read(r io.Reader, bytesMax int) (Kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w: cut off", ErrFrame)
		}
		return 0, nil, err
	}
	length, kind := binary.BigEndian.Uint32(head[:4]), Kind(head[4])
	if length < 1 || uint64(length) > uint64(bytesMax) || kind < Call || kind > End {
		return 0, nil, fmt.Errorf("%w: length %d, kind %d", ErrFrame, length, kind)
	}
	body, err := io.ReadAll(io.LimitReader(r, int64(length-1)))
	if err != nil {
		return 0, nil, fmt.Errorf("read frame: %w", err)
	}
	if len(body) != int(length-1) {
		return 0, nil, fmt.Errorf("%w: cut off", ErrFrame)
	}
	return kind, body, nil
}
