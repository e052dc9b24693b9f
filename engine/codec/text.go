package codec

import (
	"bytes"
	"encoding/base64"

	"plexus/nspl/rfc3339"
)

// datetime reads an RFC 3339 text into a column.
func (p *parser) datetime(c *column) Cause {
	if p.i >= len(p.b) || p.b[p.i] != '"' {
		return p.mismatch()
	}
	text, cause := p.plainString()
	if cause != accepted {
		return cause
	}
	nanos, verdict := rfc3339.Parse(text)
	switch verdict {
	case rfc3339.Invalid:
		return CauseRFC3339
	case rfc3339.Range:
		return CauseRange
	}
	c.appendFixed(uint64(nanos))
	return accepted
}

// canonical refuses trailing bits; the line breaks it tolerates are refused
// before.
var canonical = base64.StdEncoding.Strict()

// base64 reads canonical padded standard base64 into a column of octets.
func (p *parser) base64(c *column) Cause {
	if p.i >= len(p.b) || p.b[p.i] != '"' {
		return p.mismatch()
	}
	text, cause := p.plainString()
	if cause != accepted {
		return cause
	}
	if bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') >= 0 {
		return CauseBase64
	}
	c.values.need(c.data + canonical.DecodedLen(len(text)))
	n, err := canonical.Decode(c.values.bytes[c.data:], text)
	if err != nil {
		return CauseBase64
	}
	c.data += n
	c.closeVariable(c.data)
	return accepted
}
