package parse

import (
	"slices"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// hides reports whether a token may be a secret, in a statement that does not parse.
func (p *parser) hides(at int) bool { return p.hidesAt(p.span(at)) }

func (p *parser) hidesAt(part vocab.Span) bool {
	if p.secrets == nil {
		p.secrets = ast.FindSecrets(p.src)
	}
	return p.secrets.Hides(part)
}

// told is how far before and behind the fault a hint may look for what it tells.
const told = 8

// tells reports whether a hint shows something near the fault that may be a secret.
// Words of the language are none.
func (p *parser) tells(hint string) bool {
	words := strings.FieldsFunc(hint, func(r rune) bool { return r > 'z' || !wordStart(byte(r)) && !digit(byte(r)) })
	for at := max(p.furthest-told, 0); at < min(p.furthest+told, len(p.tokens)); at++ {
		text := p.text(at)
		switch kind := p.tokens[at].kind; {
		case kind == tokenEnd || kind > tokenNumber && kind != tokenBroken || !p.hides(at):
		case kind == tokenString, kind == tokenQuoted, kind == tokenBroken:
			if strings.Contains(hint, text) {
				return true
			}
		case !Reserved(strings.ToLower(text)) && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, text) }):
			return !p.expects(strings.ToUpper(text))
		}
	}
	return false
}
