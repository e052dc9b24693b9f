package random

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// generator is splitmix64 (Steele, Lea, Flood 2014): one word of state, every
// word of output visited once in 2^64 steps.
type generator struct{ word uint64 }

func (g *generator) next() uint64 {
	g.word += 0x9e3779b97f4a7c15
	z := g.word
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// idDigits is the length of an id: two words in hexadecimal.
const idDigits = 32

// textLetters is the length of the text member.
const textLetters = 12

// appendRow appends the JSON object of one sequence number and the digits of its
// id. It draws four words, whatever they are.
func (g *generator) appendRow(payload, ids []byte, sequence uint64) (_, _ []byte) {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], g.next())
	binary.BigEndian.PutUint64(id[8:], g.next())
	value, letters := g.next(), g.next()

	ids = hex.AppendEncode(ids, id[:])
	payload = append(payload, `{"sequence":`...)
	payload = strconv.AppendUint(payload, sequence, 10)
	payload = append(payload, `,"id":"`...)
	payload = append(payload, ids[len(ids)-idDigits:]...)
	payload = append(payload, `","value":`...)
	payload = strconv.AppendFloat(payload, float64(value>>11)/(1<<53), 'g', -1, 64) // [0,1), exact in 53 bits
	payload = append(payload, `,"text":"`...)
	for range textLetters {
		payload = append(payload, 'a'+byte(letters%26))
		letters /= 26
	}
	return append(payload, `"}`...), ids
}
