package grammar

import (
	_ "embed" // the grammar
	"fmt"
	"slices"
	"strings"
	"unicode"
)

//go:embed grammar.ebnf
var text string

// Text returns the grammar as it is printed.
func Text() string { return text }

// Op is the sort of a part of a rule.
type Op uint8

// The sorts.
const (
	Word     Op = iota // a keyword: Text
	Mark               // punctuation: Text
	Name               // a rule, or a token that the lexer knows: Text
	Sequence           // Parts after each other
	Choice             // one of Parts
	Optional           // Parts[0] or nothing
	Many               // Parts[0] any number of times
	Some               // Parts[0] once or more
	List               // Parts[0] with commas between
	Trailing           // the same, perhaps with a comma behind
)

// Part is a part of a rule.
type Part struct {
	Op    Op
	Text  string
	Parts []*Part
}

// Rule is one rule with its text.
type Rule struct {
	Name string
	Body *Part
	Text string
}

// rules are read from a text that is part of the program, so errText is nil; a test
// says so.
var rules, errText = read(text)

// Rules returns the rules in order.
func Rules() []*Rule { return rules }

// Find returns the rule with a name.
func Find(name string) (*Rule, bool) {
	i := slices.IndexFunc(rules, func(r *Rule) bool { return r.Name == name })
	if i < 0 {
		return nil, false
	}
	return rules[i], true
}

// Forms returns the rules of the statements that begin with the words, such as
// CREATE RELAY, or whose name they are. Words need not be complete.
func Forms(words string) (list []*Rule) {
	asked := strings.Fields(strings.ToUpper(words))
	statement, ok := Find("statement")
	if !ok || len(asked) == 0 {
		return nil
	}
	for _, p := range alternatives(statement.Body) {
		r, ok := Find(p.Text)
		if ok && (begins(r.Body, asked) || strings.EqualFold(strings.Join(asked, "_"), r.Name)) {
			list = append(list, r)
		}
	}
	return list
}

// Statements returns the rules of the statements.
func Statements() (list []*Rule) {
	statement, _ := Find("statement")
	for _, p := range alternatives(statement.Body) {
		if r, ok := Find(p.Text); ok {
			list = append(list, r)
		}
	}
	return list
}

func alternatives(p *Part) []*Part {
	if p.Op == Choice {
		return p.Parts
	}
	return []*Part{p}
}

// begins reports whether a sentence of a part can begin with the words, the optional
// parts between them left out.
func begins(p *Part, words []string) bool {
	for _, rest := range after(p, words, 0) {
		if len(rest) == 0 {
			return true
		}
	}
	return false
}

// after returns what may be left of the words behind a part. An empty rest says that
// all of them stand in it.
func after(p *Part, words []string, depth int) [][]string {
	if len(words) == 0 || depth > 40 {
		return [][]string{words}
	}
	switch p.Op {
	case Word:
		if strings.HasPrefix(p.Text, words[0]) && (p.Text == words[0] || len(words) == 1) {
			return [][]string{words[1:]}
		}
		return nil
	case Name:
		if r, ok := Find(p.Text); ok {
			return after(r.Body, words, depth+1)
		}
		return nil
	case Sequence:
		rests := [][]string{words}
		for _, part := range p.Parts {
			var next [][]string
			for _, rest := range rests {
				if len(rest) == 0 {
					return [][]string{rest}
				}
				next = append(next, after(part, rest, depth+1)...)
			}
			rests = next
		}
		return rests
	case Choice:
		var rests [][]string
		for _, part := range p.Parts {
			rests = append(rests, after(part, words, depth+1)...)
		}
		return rests
	case Optional, Many:
		return append(after(p.Parts[0], words, depth+1), words)
	case Some, List, Trailing:
		return after(p.Parts[0], words, depth+1)
	}
	return nil
}

// Form returns the text of a rule with those of its parts that are short, so that a
// person sees the whole statement.
func Form(r *Rule) string {
	var b strings.Builder
	b.WriteString(r.Text)
	seen := map[string]bool{r.Name: true}
	var more func(p *Part, depth int)
	more = func(p *Part, depth int) {
		if p.Op == Name && !seen[p.Text] && depth > 0 {
			seen[p.Text] = true
			if s, ok := Find(p.Text); ok && p.Text != "expr" {
				b.WriteString("\n" + s.Text)
				more(s.Body, depth-1)
			}
			return
		}
		for _, part := range p.Parts {
			more(part, depth)
		}
	}
	more(r.Body, 1)
	return b.String()
}

// Words returns every keyword of the grammar, in order.
func Words() []string {
	var words []string
	var walk func(p *Part)
	walk = func(p *Part) {
		if p.Op == Word {
			words = append(words, p.Text)
		}
		for _, part := range p.Parts {
			walk(part)
		}
	}
	for _, r := range rules {
		walk(r.Body)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// reader reads the text of rules.
type reader struct {
	tokens []string
	at     int
}

func read(text string) (list []*Rule, err error) {
	for _, block := range blocks(text) {
		name, body, ok := strings.Cut(block, "::=")
		if !ok {
			return nil, fmt.Errorf("grammar: no rule in %q", block)
		}
		r := &reader{tokens: tokens(body)}
		p := r.choice()
		if r.at < len(r.tokens) {
			return nil, fmt.Errorf("grammar: %s: %q cannot stand here", strings.TrimSpace(name), r.tokens[r.at])
		}
		list = append(list, &Rule{strings.TrimSpace(name), p, strings.TrimRight(block, "\n")})
	}
	return list, nil
}

// blocks returns the rules, each with its further lines.
func blocks(text string) (list []string) {
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "//"), strings.TrimSpace(line) == "":
		case line[0] == ' ':
			list[len(list)-1] += line
		default:
			list = append(list, line)
		}
	}
	return list
}

func tokens(body string) (list []string) {
	for i := 0; i < len(body); {
		switch c := body[i]; {
		case unicode.IsSpace(rune(c)):
			i++
		case c == '\'':
			end := i + 1 + strings.IndexByte(body[i+1:], '\'')
			list = append(list, body[i:end+1])
			i = end + 1
		case strings.IndexByte("()|?*+", c) >= 0:
			list = append(list, string(c))
			i++
		default:
			end := i
			for end < len(body) && (body[end] == '_' || body[end] >= '0' && body[end] <= '9' || unicode.IsLetter(rune(body[end]))) {
				end++
			}
			if end < len(body) && body[end] == ',' { // list,(
				end++
			}
			if end == i {
				end++
			}
			list = append(list, body[i:end])
			i = end
		}
	}
	return list
}

func (r *reader) peek() string {
	if r.at < len(r.tokens) {
		return r.tokens[r.at]
	}
	return ""
}

func (r *reader) choice() *Part {
	p := &Part{Op: Choice, Parts: []*Part{r.sequence()}}
	for r.peek() == "|" {
		r.at++
		p.Parts = append(p.Parts, r.sequence())
	}
	if len(p.Parts) == 1 {
		return p.Parts[0]
	}
	return p
}

func (r *reader) sequence() *Part {
	p := &Part{Op: Sequence}
	for t := r.peek(); t != "" && t != "|" && t != ")"; t = r.peek() {
		p.Parts = append(p.Parts, r.repeated())
	}
	if len(p.Parts) == 1 {
		return p.Parts[0]
	}
	return p
}

func (r *reader) repeated() *Part {
	p := r.one()
	for {
		switch r.peek() {
		case "?":
			p = &Part{Op: Optional, Parts: []*Part{p}}
		case "*":
			p = &Part{Op: Many, Parts: []*Part{p}}
		case "+":
			p = &Part{Op: Some, Parts: []*Part{p}}
		default:
			return p
		}
		r.at++
	}
}

func (r *reader) one() *Part {
	t := r.peek()
	r.at++
	switch {
	case t == "(":
		p := r.choice()
		r.at++ // )
		return p
	case (t == "list" || t == "list,") && r.peek() == "(":
		op := List
		if t == "list," {
			op = Trailing
		}
		return &Part{Op: op, Parts: []*Part{r.one()}}
	case t[0] == '\'':
		return &Part{Op: Mark, Text: strings.Trim(t, "'")}
	case strings.ToUpper(t) == t:
		return &Part{Op: Word, Text: t}
	}
	return &Part{Op: Name, Text: t}
}
