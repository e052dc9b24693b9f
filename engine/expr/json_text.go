package expr

import (
	"math"
	"strconv"
	"unicode/utf8"

	"plexus/engine/batch"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

const (
	// jsonBytesMax and jsonDepthMax bound a document.
	jsonBytesMax = 16 << 20
	jsonDepthMax = 128
)

// jsonVerdict says what a document is.
type jsonVerdict uint8

const (
	jsonSound jsonVerdict = iota
	jsonMalformed
	jsonTooDeep
)

// jsonSpan is where a value stands in a document; to is 0 for none.
type jsonSpan struct{ from, to int }

// jsonText walks through one document: it checks all of it, and remembers the value
// at a path. Of a repeated member the last one counts.
type jsonText struct {
	b     []byte
	i     int
	path  []vocab.JSONStep
	found jsonSpan
	any   bool   // some repetition had a value at the path
	name  []byte // of a member, where it has escapes
}

// find looks a path up in a document.
func (p *jsonText) find(doc []byte, path []vocab.JSONStep) jsonVerdict {
	p.b, p.i, p.path, p.found, p.any = doc, 0, path, jsonSpan{}, false
	if len(doc) > jsonBytesMax {
		return jsonTooDeep
	}
	p.space()
	if verdict := p.value(0, 0); verdict != jsonSound {
		return verdict
	}
	if p.space(); p.i != len(doc) {
		return jsonMalformed
	}
	return jsonSound
}

// offPath is the step of values that the path does not lead to.
const offPath = -1

func (p *jsonText) space() {
	for p.i < len(p.b) && (p.b[p.i] == ' ' || p.b[p.i] == '\t' || p.b[p.i] == '\n' || p.b[p.i] == '\r') {
		p.i++
	}
}

func (p *jsonText) at() byte {
	if p.i < len(p.b) {
		return p.b[p.i]
	}
	return 0
}

// value reads one value that so many steps of the path lead to.
func (p *jsonText) value(depth, step int) jsonVerdict {
	from := p.i
	var verdict jsonVerdict
	switch c := p.at(); {
	case c == '"':
		verdict = p.text()
	case c == '{' || c == '[':
		if depth == jsonDepthMax {
			return jsonTooDeep
		}
		verdict = p.container(depth+1, step)
	case c == '-' || c >= '0' && c <= '9':
		verdict = p.number()
	case p.word("true") || p.word("false") || p.word("null"):
	default:
		return jsonMalformed
	}
	if verdict == jsonSound && step == len(p.path) {
		p.found, p.any = jsonSpan{from, p.i}, true
	}
	return verdict
}

func (p *jsonText) word(w string) bool {
	if len(p.b)-p.i < len(w) || string(p.b[p.i:p.i+len(w)]) != w {
		return false
	}
	p.i += len(w)
	return true
}

func (p *jsonText) container(depth, step int) jsonVerdict {
	object := p.at() == '{'
	end := byte(']')
	if object {
		end = '}'
	}
	p.i++
	p.space()
	if p.at() == end {
		p.i++
		return jsonSound
	}
	for n := uint64(0); ; n++ {
		next, verdict := p.member(object, step, n)
		if verdict != jsonSound {
			return verdict
		}
		if next != offPath {
			p.found = jsonSpan{} // an earlier member of the name does not count
		}
		if verdict := p.value(depth, next); verdict != jsonSound {
			return verdict
		}
		p.space()
		switch p.at() {
		case ',':
			p.i++
			p.space()
		case end:
			p.i++
			return jsonSound
		default:
			return jsonMalformed
		}
	}
}

// member reads what stands before a value and returns the step of the value.
func (p *jsonText) member(object bool, step int, n uint64) (next int, verdict jsonVerdict) {
	next = offPath
	inside := step >= 0 && step < len(p.path)
	if !object {
		if inside && p.path[step].IsIndex && uint64(p.path[step].Index) == n {
			next = step + 1
		}
		return next, jsonSound
	}
	if p.at() != '"' {
		return next, jsonMalformed
	}
	from := p.i
	if verdict := p.text(); verdict != jsonSound {
		return next, verdict
	}
	if inside && !p.path[step].IsIndex {
		p.name = appendJSONText(p.name[:0], p.b[from:p.i])
		if string(p.name) == p.path[step].Member {
			next = step + 1
		}
	}
	if p.space(); p.at() != ':' {
		return next, jsonMalformed
	}
	p.i++
	p.space()
	return next, jsonSound
}

// text reads a string: the document is UTF-8, so only escapes and control
// characters can be wrong.
func (p *jsonText) text() jsonVerdict {
	for p.i++; p.i < len(p.b); p.i++ {
		switch c := p.b[p.i]; {
		case c == '"':
			p.i++
			return jsonSound
		case c < 0x20:
			return jsonMalformed
		case c == '\\':
			_, size := jsonEscape(p.b[p.i:])
			if size == 0 {
				return jsonMalformed
			}
			p.i += size - 1
		}
	}
	return jsonMalformed
}

// jsonEscape reads an escape; size is 0 for none, and for half a surrogate pair.
func jsonEscape(b []byte) (r rune, size int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	}
	r, ok := jsonUnit(b)
	switch {
	case !ok || r >= 0xdc00 && r < 0xe000:
		return 0, 0
	case r < 0xd800 || r >= 0xe000:
		return r, 6
	}
	low, ok := jsonUnit(b[6:])
	if !ok || low < 0xdc00 || low >= 0xe000 {
		return 0, 0
	}
	return 0x10000 + (r-0xd800)<<10 + (low - 0xdc00), 12
}

// jsonUnit reads \uXXXX.
func jsonUnit(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		digit := hexDigit(c)
		if digit > 15 {
			return 0, false
		}
		r = r<<4 | rune(digit)
	}
	return r, true
}

// appendJSONText writes the text of a string that was found sound.
func appendJSONText(to, quoted []byte) []byte {
	s := quoted[1 : len(quoted)-1]
	for len(s) > 0 {
		k := 0
		for k < len(s) && s[k] != '\\' {
			k++
		}
		to, s = append(to, s[:k]...), s[k:]
		if len(s) > 0 {
			r, size := jsonEscape(s)
			to, s = utf8.AppendRune(to, r), s[size:]
		}
	}
	return to
}

// number reads a number; one beyond the range of F64 makes the document malformed.
func (p *jsonText) number() jsonVerdict {
	from := p.i
	if p.at() == '-' {
		p.i++
	}
	switch {
	case p.at() == '0':
		p.i++
	case !p.digits():
		return jsonMalformed
	}
	large := p.i-from > 300
	if p.at() == '.' {
		p.i++
		if !p.digits() {
			return jsonMalformed
		}
	}
	if c := p.at(); c == 'e' || c == 'E' {
		p.i++
		if c := p.at(); c == '+' || c == '-' {
			p.i++
		}
		if !p.digits() {
			return jsonMalformed
		}
		large = true
	}
	if large {
		if _, err := strconv.ParseFloat(view(p.b[from:p.i]), 64); err != nil {
			return jsonMalformed
		}
	}
	return jsonSound
}

func (p *jsonText) digits() bool {
	from := p.i
	for p.i < len(p.b) && p.b[p.i] >= '0' && p.b[p.i] <= '9' {
		p.i++
	}
	return p.i > from
}

// jsonScalar reads a value that was found sound as a scalar; text is the text of a
// STRING, appended to room. ok is false where it is of another kind or out of range.
func jsonScalar(value []byte, kind vocab.Kind, room []byte) (l typed.Literal, text []byte, ok bool) {
	switch c := value[0]; {
	case kind == vocab.String:
		if c != '"' {
			return l, nil, false
		}
		return l, appendJSONText(room, value), true
	case kind == vocab.Bool:
		l.Bool = c == 't'
		return l, nil, c == 't' || c == 'f'
	case c != '-' && (c < '0' || c > '9'):
		return l, nil, false
	case kind.Float():
		l.Float, _ = strconv.ParseFloat(view(value), 64)
		if kind == vocab.F32 {
			l.Float = float64(float32(l.Float))
		}
		return l, nil, !math.IsInf(l.Float, 0)
	}
	l, ok = jsonInteger(value, kind)
	return l, nil, ok
}

// jsonInteger reads digits exactly, and any other number through the nearest F64.
func jsonInteger(value []byte, kind vocab.Kind) (l typed.Literal, ok bool) {
	var err error
	if kind.Signed() {
		if l.Int, err = strconv.ParseInt(view(value), 10, 64); err == nil {
			return l, signedFits(l.Int, kind)
		}
	} else if l.Uint, err = strconv.ParseUint(view(value), 10, 64); err == nil {
		return l, l.Uint&widthMask(kind) == l.Uint
	}
	f, _ := strconv.ParseFloat(view(value), 64)
	if f != math.Trunc(f) {
		return l, false
	}
	if kind.Signed() {
		l.Int = int64(f)
		return l, f >= -0x1p63 && f < 0x1p63 && signedFits(l.Int, kind)
	}
	l.Uint = uint64(max(f, 0))
	return l, f >= 0 && f < 0x1p64 && l.Uint&widthMask(kind) == l.Uint
}

func signedFits(n int64, kind vocab.Kind) bool {
	shift := 64 - 8*batch.Width(kind)
	return n<<shift>>shift == n
}
