package expr

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	"golang.org/x/text/unicode/norm"

	"plexus/nspl/typed"
)

// sameOctets reads a text as octets; nothing is copied.
func sameOctets(_ *frame, args []vec) vec {
	a := args[0]
	return vec{lo: a.lo, hi: a.hi, data: a.data, dense: a.dense, valid: a.valid}
}

// utf8Text reads octets as a text.
func (c *compiler) utf8Text(e *typed.Expr) kernel {
	return checkedViews(func(args []vec, i int) (int, int, outcome) {
		b := args[0].text(i)
		if !utf8.Valid(b) {
			return 0, 0, refused
		}
		return 0, len(b), present
	}, c.fault(CastFailed, e.Func, "the value is no UTF-8"))
}

func appendBase64(dst, src []byte) []byte { return base64.StdEncoding.AppendEncode(dst, src) }

// encoded binds what writes octets as text of a known length.
func encoded(image func(dst, src []byte) []byte, size func(n int) int) binder {
	return typedKernel(func(c *compiler, e *typed.Expr) kernel {
		return c.checkedTexts(e.Func, func(t *text, args []vec, i int) outcome {
			src := args[0].text(i)
			if t.room(i, size(len(src))) {
				t.data = image(t.data, src)
			}
			return present
		})
	})
}

// decodeBase64 takes the canonical form only: padded, without line breaks, no bits
// beyond the last octet.
func (c *compiler) decodeBase64(e *typed.Expr) kernel {
	strict := base64.StdEncoding.Strict()
	return c.checkedTexts(e.Func, func(t *text, args []vec, i int) outcome {
		src := args[0].text(i)
		if bytes.IndexByte(src, '\n') >= 0 || bytes.IndexByte(src, '\r') >= 0 {
			return refused // the decoder skips them
		}
		if !t.room(i, strict.DecodedLen(len(src))) {
			return present
		}
		out, err := strict.AppendDecode(t.data, src)
		if err != nil {
			return refused
		}
		t.data = out
		return present
	}, c.fault(CastFailed, e.Func, "the text is not canonical base64"))
}

func (c *compiler) decodeHex(e *typed.Expr) kernel {
	return c.checkedTexts(e.Func, func(t *text, args []vec, i int) outcome {
		src := args[0].text(i)
		if !t.room(i, len(src)/2) {
			return present
		}
		out, err := hex.AppendDecode(t.data, src)
		if err != nil {
			return refused
		}
		t.data = out
		return present
	}, c.fault(CastFailed, e.Func, "the text is no hexadecimal number of whole octets"))
}

func appendSHA256(dst, src []byte) []byte {
	sum := sha256.Sum256(src)
	return append(dst, sum[:]...)
}

func xxh3Of(args []vec, i int) (uint64, outcome) { return xxh3.Hash(args[0].text(i)), present }

// normalizeNFC composes characters. What is normal already is nearly everything,
// and costs a scan.
func normalizeNFC(dst, src []byte) []byte {
	if norm.NFC.QuickSpan(src) == len(src) {
		return append(dst, src...)
	}
	return norm.NFC.Append(dst, src...)
}
