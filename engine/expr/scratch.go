package expr

import "unsafe"

// Scratch is the working memory of programs: one task's programs share one, and
// every run starts it over. What a run returns is documented as living until the
// next run, or is copied out.
type Scratch struct {
	block    []uint64 // what is left of the current block
	spare    []uint64 // the block to start the next run with
	used     int      // words handed out since the run began
	faults   []*Fault
	stack    []vec
	shared   []vec
	cached   []bool
	patterns map[*patterns][]compiled // that came with the rows, by call
	// columnBytes bounds the bytes of one variable-size column; tests lower it.
	columnBytes int
}

// scratchWordsMax is the memory a Scratch keeps between runs. A larger run
// leaves its blocks to the collector, so one huge batch is not kept forever.
const scratchWordsMax = 4 << 20 / 8

// blockWords is the smallest block.
const blockWords = 64 << 10 / 8

// NewScratch returns an empty Scratch.
func NewScratch() *Scratch { return &Scratch{columnBytes: columnBytesMax} }

// reset starts a run: everything handed out before is free again.
func (s *Scratch) reset() {
	if s.used > len(s.spare) && s.used <= scratchWordsMax {
		s.spare = make([]uint64, max(2*s.used, blockWords))
	}
	s.block, s.used = s.spare, 0
}

// words returns n words of unspecified content.
func (s *Scratch) words(n int) []uint64 {
	if n > len(s.block) {
		s.block = make([]uint64, max(n, blockWords, s.used))
	}
	s.used += n
	out := s.block[:n:n]
	s.block = s.block[n:]
	return out
}

func (s *Scratch) bits(n int) bitmap { return s.words(wordsFor(n)) }

// bytes returns n bytes of unspecified content, aligned to a word.
func (s *Scratch) bytes(n int) []byte {
	if n == 0 {
		return nil
	}
	w := s.words((n + 7) / 8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), n)
}

// int32s returns n values of unspecified content, never nil: a nil list of rows
// means all of them.
func (s *Scratch) int32s(n int) []int32 {
	if n == 0 {
		return []int32{}
	}
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(s.words((n+1)/2)))), n)
}

// number is every type that a fixed-width column holds.
type number interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64
}

// fixed returns n values of unspecified content and the same memory as bytes.
func fixed[T number](s *Scratch, n int) ([]T, []byte) {
	var zero T
	raw := s.bytes(n * int(unsafe.Sizeof(zero)))
	return as[T](raw), raw
}

// as reads the memory of a fixed-width column.
func as[T number](raw []byte) []T {
	var zero T
	if len(raw) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw)/int(unsafe.Sizeof(zero)))
}
