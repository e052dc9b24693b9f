package main

import (
	"bytes"
	"math/rand/v2"
)

const (
	recordBytes = 128  // of one JSON document
	batchRows   = 1000 // messages per batch, for both
	poolBatches = 50   // distinct batches, so that no cache holds the answer
)

// records returns JSON documents of recordBytes with one text member; half of
// the texts hold the letter the filter looks for.
func records() [][]byte {
	const head, tail = `{"value":"`, `"}`
	const alphabet = "abcdefghijklmnopqrstuvw yz0123456789"
	random := rand.New(rand.NewPCG(1, 2))
	out := make([][]byte, batchRows*poolBatches)
	for i := range out {
		text := make([]byte, recordBytes-len(head)-len(tail))
		for k := range text {
			text[k] = alphabet[random.IntN(len(alphabet))]
		}
		if i%2 == 0 {
			text[random.IntN(len(text))] = 'x'
		}
		out[i] = bytes.Join([][]byte{[]byte(head), text, []byte(tail)}, nil)
	}
	return out
}

// result is what a run put out, to see that both did the same work.
type result struct {
	rows, bytes int64
}
