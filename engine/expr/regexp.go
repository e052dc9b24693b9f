package expr

import (
	"regexp"

	"plexus/nspl/typed"
)

const (
	// regexpBytesMax bounds the text of a pattern.
	regexpBytesMax = 64 << 10
	// regexpsMax is how many patterns one call keeps that are not constant, and for
	// how many calls a Scratch does.
	regexpsMax = 64
)

// patterns gives the calls of regexp functions their compiled patterns. One that is
// a literal is compiled with the program; a wrong one is reported by the rows that
// evaluate it.
type patterns struct {
	constant bool
	known    *regexp.Regexp // nil where the constant is no pattern
	fault    *Fault
}

func (c *compiler) patterns(e *typed.Expr) *patterns {
	p := &patterns{}
	why := "the pattern is no regular expression"
	if l := e.Args[1]; l.Op == typed.OpLiteral && !l.Literal.Null {
		p.constant = true
		if len(l.Literal.Str) <= regexpBytesMax {
			if re, err := regexp.Compile(l.Literal.Str); err == nil {
				p.known = re
			} else {
				why = "'" + l.Literal.Str + "' is no regular expression"
			}
		}
	}
	p.fault = c.fault(InvalidArgument, e.Func, why)
	return p
}

// compiled is what a Scratch keeps of patterns that come with the rows, the newest
// last.
type compiled struct {
	text string
	re   *regexp.Regexp // nil for one that does not compile
}

// of returns the pattern of row i, nil where it is none.
func (p *patterns) of(s *Scratch, args []vec, i int) *regexp.Regexp {
	if p.constant {
		return p.known
	}
	text := args[1].text(i)
	kept := s.patterns[p]
	for k := len(kept) - 1; k >= 0; k-- { // rows that follow each other often agree
		if kept[k].text == string(text) {
			return kept[k].re
		}
	}
	made := compiled{text: string(text)}
	if len(text) <= regexpBytesMax {
		made.re, _ = regexp.Compile(made.text) // nil on an error
	}
	if len(kept) == regexpsMax {
		kept = append(kept[:0], kept[1:]...)
	}
	if s.patterns == nil || len(s.patterns) == regexpsMax && kept == nil {
		// Programs come and go; what is still used compiles once more.
		s.patterns = map[*patterns][]compiled{}
	}
	s.patterns[p] = append(kept, made)
	return made.re
}

func (c *compiler) regexpLike(e *typed.Expr) kernel {
	p := c.patterns(e)
	return func(f *frame, args []vec) vec {
		return checkedBools(func(args []vec, i int) (bool, outcome) {
			re := p.of(f.scratch, args, i)
			if re == nil {
				return false, refused
			}
			return re.Match(args[0].text(i)), present
		}, p.fault)(f, args)
	}
}

// regexpPart is regexp_substr, or regexp_extract with the group as third operand.
func (c *compiler) regexpPart(e *typed.Expr) kernel {
	p := c.patterns(e)
	extract := len(e.Args) > 2
	return func(f *frame, args []vec) vec {
		return checkedViews(func(args []vec, i int) (int, int, outcome) {
			re := p.of(f.scratch, args, i)
			if re == nil {
				return 0, 0, refused
			}
			if !extract {
				if at := re.FindIndex(args[0].text(i)); at != nil {
					return at[0], at[1], present
				}
				return 0, 0, absent
			}
			group := args[2].integer(i)
			at := re.FindSubmatchIndex(args[0].text(i))
			if at == nil || group < 0 || group >= int64(len(at)/2) || at[2*group] < 0 {
				return 0, 0, absent
			}
			return at[2*group], at[2*group+1], present
		}, p.fault)(f, args)
	}
}

func (c *compiler) regexpReplace(e *typed.Expr) kernel {
	p := c.patterns(e)
	full := c.columnFull(e.Func)
	return func(f *frame, args []vec) vec {
		return checkedTexts(full, func(t *text, args []vec, i int) outcome {
			re := p.of(f.scratch, args, i)
			if re == nil {
				return refused
			}
			replaceMatches(t, i, re, args[0].text(i), args[2].text(i))
			return present
		}, p.fault)(f, args)
	}
}

// replaceMatches writes s with every match replaced; it stops where the column is
// full, which the end of the row reports.
func replaceMatches(t *text, i int, re *regexp.Regexp, s, by []byte) {
	behind := 0
	for _, at := range re.FindAllSubmatchIndex(s, -1) {
		if !t.room(i, at[0]-behind) {
			return
		}
		t.data = append(t.data, s[behind:at[0]]...)
		t.data = re.Expand(t.data, by, s, at)
		behind = at[1]
	}
	if t.room(i, len(s)-behind) {
		t.data = append(t.data, s[behind:]...)
	}
}
