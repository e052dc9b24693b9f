package workload

import (
	"bytes"
	"strconv"

	"plexus/sim/oracle"
)

// LeafMarked is the stream of the cursor pipeline.
const LeafMarked = 1

// Rows remembers what a generator was seen to yield: the reference of the cursor
// pipeline.
type Rows struct{ seen [][]byte } // payloads by sequence

// Read notes a row, which the caller gives away, and reports whether it is what
// it was before.
func (s *Rows) Read(number uint64, payload []byte) bool {
	for uint64(len(s.seen)) <= number {
		s.seen = append(s.seen, nil)
	}
	if s.seen[number] == nil {
		s.seen[number] = payload
	}
	return bytes.Equal(s.seen[number], payload)
}

// valueMost is the filter of the cursor pipeline.
const valueMost = 0.75

// Reference says what the cursor pipeline makes of each row.
func (s *Rows) Reference() oracle.Reference {
	return oracle.Reference{
		Leaves: []string{"marks"},
		Expect: func(number uint64) uint8 {
			if number >= uint64(len(s.seen)) || s.seen[number] == nil {
				return 0
			}
			value, err := strconv.ParseFloat(string(member(s.seen[number], `"value":`)), 64)
			if err != nil || value >= valueMost {
				return 0
			}
			return LeafMarked
		},
		Number: RowNumber,
		Check: func(document []byte, _ uint8, number uint64) bool {
			return bytes.Equal(member(document, `"text":`), bytes.ToUpper(member(s.seen[number], `"text":`)))
		},
	}
}

// RowNumber reads the sequence of a row or of what became of it.
func RowNumber(document []byte) (number uint64, ok bool) {
	number, err := strconv.ParseUint(string(member(document, `{"sequence":`)), 10, 64)
	return number, err == nil
}

// member returns the text between a key and the next comma or the end of a flat
// document whose texts hold neither.
func member(document []byte, key string) []byte {
	_, rest, found := bytes.Cut(document, []byte(key))
	if !found {
		return nil
	}
	if end := bytes.IndexAny(rest, ",}"); end >= 0 {
		return rest[:end]
	}
	return nil
}
