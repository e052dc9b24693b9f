package parse

import (
	"slices"
	"strings"
)

// clause is a phrase of keywords that was tried in a statement: it was there, or
// it was optional and the text went on without it.
type clause struct {
	phrase string
	at     int // the token it would begin at
	there  bool
}

// noted keeps the last try of each phrase, for hints about the order of clauses.
func (p *parser) noted(phrase string, at int, there bool) {
	if p.quiet || p.detailed {
		return
	}
	for i := range p.clauses {
		if p.clauses[i].phrase == phrase {
			p.clauses[i] = clause{phrase, at, there}
			return
		}
	}
	p.clauses = append(p.clauses, clause{phrase, at, there})
}

// chosen forgets the other phrases of a choice.
func (p *parser) chosen(phrases []string, i int) {
	if p.quiet || p.detailed {
		return
	}
	for j, phrase := range phrases {
		if j != i {
			p.clauses = deletePhrase(p.clauses, phrase)
		}
	}
}

func deletePhrase(list []clause, phrase string) []clause {
	for i := range list {
		if list[i].phrase == phrase {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// orderHint says where a clause belongs that stands in the wrong place, or that it
// stands there for the second time.
func (p *parser) orderHint() string {
	var found clause
	for _, c := range p.clauses {
		if len(c.phrase) > len(found.phrase) && c.at < p.furthest && p.stands(c.phrase) {
			found = c
		}
	}
	if found.phrase == "" || p.nested() || p.expects("name") || p.expects("string") || p.expects("expression") {
		return ""
	}
	if found.there {
		return found.phrase + " was given already"
	}
	for _, c := range p.clauses {
		if c.there && c.at == found.at {
			return found.phrase + " stands before " + c.phrase
		}
	}
	return ""
}

// nested reports whether the furthest token stands inside of parentheses or of a form
// with an end of its own, where a word is no clause of the statement.
func (p *parser) nested() bool {
	return slices.ContainsFunc(closings, p.expects) && !p.here("OPTIONAL", "SENSITIVE", "WHEN", "THEN", "ELSE", "END")
}

// closings are what goes on or ends such a form.
var closings = []string{")", "]", "THEN", "ELSE", "END", "AND", "AS"}

// stands reports whether the words of a phrase stand at the furthest token.
func (p *parser) stands(phrase string) bool {
	at := p.furthest
	for word := range strings.SplitSeq(phrase, " ") {
		if !p.is(at, word) {
			return false
		}
		at++
	}
	return true
}
