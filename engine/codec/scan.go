package codec

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// special returns the position at or after i of the next byte that ends or
// interrupts a string: a quote, a backslash or a control. beyond collects the
// bytes before it, whose high bits tell whether they are ASCII.
func special(b []byte, i int) (at int, beyond uint64) {
	for ; i+32 <= len(b) && plain(b[i:i+32]); i += 32 {
	}
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		// A borrow between bytes can only mark a byte behind the first special one.
		quote, escape := w^lowBits*'"', w^lowBits*'\\'
		found := ((quote-lowBits)&^quote | (escape-lowBits)&^escape | (w-lowBits*0x20)&^w) & highBits
		if found != 0 {
			k := bits.TrailingZeros64(found) >> 3
			return i + k, beyond | w&(1<<(8*k)-1)
		}
		beyond |= w
	}
	for ; i < len(b); i++ {
		c := b[i]
		if c == '"' || c == '\\' || c < 0x20 {
			return i, beyond
		}
		beyond |= uint64(c)
	}
	return i, beyond
}

// plain reports whether 32 bytes are ASCII without a special one. Bytes beyond
// ASCII are left to the exact test.
func plain(b []byte) bool {
	_ = b[31]
	return (suspect(binary.LittleEndian.Uint64(b))|suspect(binary.LittleEndian.Uint64(b[8:]))|
		suspect(binary.LittleEndian.Uint64(b[16:]))|suspect(binary.LittleEndian.Uint64(b[24:])))&highBits == 0
}

// suspect sets the high bit of every byte that is special or not ASCII.
func suspect(w uint64) uint64 {
	return w | (w - lowBits*0x20) | ((w ^ lowBits*'"') - lowBits) | ((w ^ lowBits*'\\') - lowBits)
}

// space skips white space. Compact documents have none.
func (p *parser) space() {
	if p.i < len(p.b) && p.b[p.i] > ' ' {
		return
	}
	for p.i < len(p.b) {
		switch p.b[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

// word consumes a literal name that nothing continues.
func (p *parser) word(w string) bool {
	if len(p.b)-p.i < len(w) || string(p.b[p.i:p.i+len(w)]) != w {
		return false
	}
	p.i += len(w)
	return true
}

// mismatch is the cause where a value of another kind, or none, stands.
func (p *parser) mismatch() Cause {
	if p.i < len(p.b) {
		switch c := p.b[p.i]; {
		case c == '"' || c == '{' || c == '[' || c == '-' || c-'0' <= 9:
			return CauseType
		case p.word("true") || p.word("false"):
			return CauseType
		}
	}
	return p.syntax()
}

// plainString reads a string and returns its text, which lives until the next
// one or the end of the payload.
func (p *parser) plainString() (text []byte, cause Cause) {
	at, beyond := special(p.b, p.i+1)
	if at < len(p.b) && p.b[at] == '"' {
		text = p.b[p.i+1 : at]
		p.beyond |= beyond
		p.i = at + 1
		return text, accepted
	}
	p.text, cause = p.unescape(p.text[:0])
	return p.text, cause
}

// string reads a string into a column of texts.
func (p *parser) string(c *column) Cause {
	if p.i >= len(p.b) || p.b[p.i] != '"' {
		return p.mismatch()
	}
	from := p.i + 1
	at, beyond := special(p.b, from)
	if at < len(p.b) && p.b[at] == '"' {
		p.beyond |= beyond
		p.i = at + 1
		return c.appendText(p.b[from:at])
	}
	text, cause := p.unescape(p.text[:0])
	p.text = text
	if cause != accepted {
		return cause
	}
	return c.appendText(text)
}

func (c *column) appendText(text []byte) Cause {
	end := c.data + len(text)
	c.values.need(end)
	copy(c.values.bytes[c.data:], text)
	c.data = end
	c.closeVariable(end)
	return accepted
}

// unescape reads a string with escapes, appending its text to dst.
func (p *parser) unescape(dst []byte) ([]byte, Cause) {
	p.i++
	for {
		at, beyond := special(p.b, p.i)
		p.beyond |= beyond
		dst = append(dst, p.b[p.i:at]...)
		p.i = at
		if at >= len(p.b) {
			return dst, p.syntax()
		}
		switch p.b[at] {
		case '"':
			p.i++
			return dst, accepted
		case '\\':
			var cause Cause
			if dst, cause = p.escape(dst); cause != accepted {
				return dst, cause
			}
		default:
			return dst, p.syntax()
		}
	}
}

// simpleEscapes are the bytes that one-letter escapes stand for.
var simpleEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads one escape. A surrogate without its partner is no character.
func (p *parser) escape(dst []byte) ([]byte, Cause) {
	if p.i+1 >= len(p.b) {
		return dst, p.syntax()
	}
	if c := simpleEscapes[p.b[p.i+1]]; c != 0 {
		p.i += 2
		return append(dst, c), accepted
	}
	r, ok := p.unit(p.i)
	if !ok {
		return dst, p.syntax()
	}
	length := 6
	switch {
	case r >= 0xdc00 && r < 0xe000:
		return dst, CauseUTF8
	case r >= 0xd800 && r < 0xdc00:
		low, ok := p.unit(p.i + 6)
		if !ok || low < 0xdc00 || low >= 0xe000 {
			return dst, CauseUTF8
		}
		r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
		length = 12
	}
	p.i += length
	return utf8.AppendRune(dst, r), accepted
}

// unit reads \uXXXX at position i.
func (p *parser) unit(i int) (rune, bool) {
	if i+6 > len(p.b) || p.b[i] != '\\' || p.b[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range p.b[i+2 : i+6] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// invalidUTF8 returns the position of the first byte that is not UTF-8.
func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(b)
}

// skip reads a value that nobody wants, checking that it is one. depth is the
// nesting of what holds it.
func (p *parser) skip(depth int) Cause {
	if p.i >= len(p.b) {
		return p.syntax()
	}
	switch c := p.b[p.i]; {
	case c == '"':
		_, cause := p.plainString()
		return cause
	case c == '{' || c == '[':
		if depth == nestingMax {
			return CauseDepth
		}
		return p.skipContainer(depth + 1)
	case c == '-' || c-'0' <= 9:
		if !p.number() {
			return p.syntax()
		}
		return accepted
	case p.word("true") || p.word("false") || p.word("null"):
		return accepted
	default:
		return p.syntax()
	}
}

func (p *parser) skipContainer(depth int) Cause {
	object := p.b[p.i] == '{'
	end := byte(']')
	if object {
		end = '}'
	}
	p.i++
	p.space()
	if p.i < len(p.b) && p.b[p.i] == end {
		p.i++
		return accepted
	}
	for {
		if object {
			if cause := p.skipName(); cause != accepted {
				return cause
			}
		}
		if cause := p.skip(depth); cause != accepted {
			return cause
		}
		if more, cause := p.more(end); !more {
			return cause
		}
	}
}

// more reads what stands behind a member or an item: a comma, after which another
// follows, or the end of what holds it.
func (p *parser) more(end byte) (bool, Cause) {
	p.space()
	if p.i < len(p.b) {
		switch p.b[p.i] {
		case ',':
			p.i++
			p.space()
			return true, accepted
		case end:
			p.i++
			return false, accepted
		}
	}
	return false, p.syntax()
}

func (p *parser) skipName() Cause {
	if p.i >= len(p.b) || p.b[p.i] != '"' {
		return p.syntax()
	}
	if _, cause := p.plainString(); cause != accepted {
		return cause
	}
	p.space()
	if p.i >= len(p.b) || p.b[p.i] != ':' {
		return p.syntax()
	}
	p.i++
	p.space()
	return accepted
}
