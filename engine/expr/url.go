package expr

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"plexus/nspl/typed"
)

// URLs are absolute ones by the rules of browsers. Nothing is fetched or looked up.

func (c *compiler) noURL(name string) *Fault {
	return c.fault(CastFailed, name, "the text is no absolute URL")
}

// absolute reads a URL.
func absolute(s []byte) *whatwg.Url {
	u, err := whatwg.Parse(string(s))
	if err != nil {
		return nil
	}
	return u
}

// urlPart binds a component of a URL; ok is false where the URL has none.
func urlPart(part func(u *whatwg.Url) (text string, ok bool)) binder {
	return typedKernel(func(c *compiler, e *typed.Expr) kernel {
		return c.checkedTexts(e.Func, func(t *text, args []vec, i int) outcome {
			u := absolute(args[0].text(i))
			if u == nil {
				return refused
			}
			s, ok := part(u)
			if !ok {
				return absent
			}
			if t.room(i, len(s)) {
				t.data = append(t.data, s...)
			}
			return present
		}, c.noURL(e.Func))
	})
}

func urlScheme(u *whatwg.Url) (string, bool) { return u.Scheme(), true }
func urlPath(u *whatwg.Url) (string, bool)   { return u.Pathname(), true }

// urlHost is without the brackets of an IPv6 address. "file:///x" has an empty one,
// "mailto:x" none.
func urlHost(u *whatwg.Url) (string, bool) {
	host := strings.TrimSuffix(strings.TrimPrefix(u.Hostname(), "["), "]")
	return host, strings.HasPrefix(u.Href(true)[len(u.Scheme())+1:], "//")
}

// A query that is empty differs from none by its question mark, which stands
// nowhere before it unescaped; likewise a fragment.
func urlQuery(u *whatwg.Url) (string, bool) { return u.Query(), strings.Contains(u.Href(true), "?") }
func urlFragment(u *whatwg.Url) (string, bool) {
	return u.Fragment(), strings.Contains(u.Href(false), "#")
}

// defaultPorts are those of the schemes that have one.
var defaultPorts = map[string]int64{"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}

func (c *compiler) urlPort(e *typed.Expr) kernel {
	return checkedNumbers(func(args []vec, i int) (int64, outcome) {
		u := absolute(args[0].text(i))
		if u == nil {
			return 0, refused
		}
		if text := u.Port(); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return 0, refused
			}
			return n, present
		}
		if n, known := defaultPorts[u.Scheme()]; known {
			return n, present
		}
		return 0, absent
	}, c.noURL(e.Func))
}

func isURL(args []vec, i int) (bool, outcome) { return absolute(args[0].text(i)) != nil, present }

// queryValues calls each for the decoded values of a name in a query, until it says no. It
// is false where a name or value is no text.
func queryValues(query string, name []byte, each func(value []byte) bool) bool {
	var key, value []byte
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		left, right, _ := strings.Cut(pair, "=")
		key, value = appendForm(key[:0], left), appendForm(value[:0], right)
		if !utf8.Valid(key) || !utf8.Valid(value) {
			return false
		}
		if bytes.Equal(key, name) && !each(value) {
			return true
		}
	}
	return true
}

// appendForm decodes a name or value of a form: + is a space, and a percent sign
// without two digits is itself.
func appendForm(to []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		switch b, ok := percent(s[i:]); {
		case ok:
			to = append(to, b)
			i += 2
		case s[i] == '+':
			to = append(to, ' ')
		default:
			to = append(to, s[i])
		}
	}
	return to
}

// percent reads %xx.
func percent[T string | []byte](s T) (byte, bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	high, low := hexDigit(s[1]), hexDigit(s[2])
	return high<<4 | low, high < 16 && low < 16
}

func hexDigit(b byte) byte {
	switch {
	case b >= '0' && b <= '9':
		return b - '0'
	case b >= 'a' && b <= 'f':
		return b - 'a' + 10
	case b >= 'A' && b <= 'F':
		return b - 'A' + 10
	}
	return 16
}

func (c *compiler) undecodable(name string) *Fault {
	return c.fault(CastFailed, name, "what the URL encodes is no text")
}

// urlQueryValue is the first value of a name in the query.
func (c *compiler) urlQueryValue(e *typed.Expr) kernel {
	return c.checkedTexts(e.Func, func(t *text, args []vec, i int) outcome {
		u := absolute(args[0].text(i))
		if u == nil {
			return refused
		}
		o := absent
		if !queryValues(u.Query(), args[1].text(i), func(value []byte) bool {
			if o = present; t.room(i, len(value)) {
				t.data = append(t.data, value...)
			}
			return false
		}) {
			return refusedOtherwise
		}
		return o
	}, c.noURL(e.Func), c.undecodable(e.Func))
}

// urlQueryValues lists all values of a name, in order.
func (c *compiler) urlQueryValues(e *typed.Expr) kernel {
	full, faults := c.columnFull(e.Func), []*Fault{c.noURL(e.Func), c.undecodable(e.Func)}
	return func(f *frame, args []vec) vec {
		v := f.verdicts(f.strict(args), faults)
		t := f.textLists(v.valid)
		todo := f.todo(v.valid)
		for i := range f.n {
			if todo == nil || todo.has(i) {
				u := absolute(args[0].text(i))
				switch {
				case u == nil:
					v.note(i, refused)
				case !queryValues(u.Query(), args[1].text(i), func(value []byte) bool { return t.add(i, value) }):
					v.note(i, refusedOtherwise)
				}
			}
			t.close()
		}
		t.valid = v.close()
		return t.finish(e.Type, full)
	}
}

// urlDecode decodes percent signs strictly.
func (c *compiler) urlDecode(e *typed.Expr) kernel {
	return c.checkedTexts(e.Func, func(t *text, args []vec, i int) outcome {
		s, from := args[0].text(i), len(t.data)
		if !t.room(i, len(s)) {
			return present
		}
		for len(s) > 0 {
			if s[0] != '%' {
				t.data, s = append(t.data, s[0]), s[1:]
				continue
			}
			b, ok := percent(s)
			if !ok {
				return refused
			}
			t.data, s = append(t.data, b), s[3:]
		}
		if !utf8.Valid(t.data[from:]) {
			return refused
		}
		return present
	}, c.fault(CastFailed, e.Func, "the text is not percent-encoded UTF-8"))
}
