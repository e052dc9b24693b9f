package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// alter takes the name of what an ALTER changes.
func (p *parser) alter(kind vocab.EntityKind) ast.Alter { return ast.Alter{Name: p.ref(toAny(kind))} }

// operations reads the operations of an ALTER with commas between them.
func operations[T any](p *parser, operation func() T) []T {
	p.altering, p.operation = true, func() { operation() }
	all := list(p, operation)
	p.altering, p.operation = false, nil
	return all
}

// operationWords begin an operation of ALTER. Behind a comma they end the list
// before it: a name that is spelled like one stands in backticks there.
var operationWords = [...]string{"ADD", "DROP", "ALTER", "SET", "REPLACE", "RENAME", "MODE"}

// operations ::= operation, ...
func (p *parser) operations(operation func()) {
	p.altering = true
	for more := true; more; more = p.acceptMark(',') {
		operation()
	}
	p.altering = false
}

// beforeOperation reports whether a comma stands here and the next operation
// behind it. A word with a bracket behind it is a function, such as replace.
func (p *parser) beforeOperation() bool {
	if p.kind() != ',' {
		return false
	}
	for _, word := range operationWords {
		if p.is(p.at+1, word) {
			return p.peek(2) != '('
		}
	}
	if p.detailed && p.peek(1) == tokenEnd && p.operation != nil {
		// A text that ends behind the comma can go on either way.
		operation := p.operation
		p.operation = nil
		p.at++
		p.attempt(operation)
		p.at--
		p.operation = operation
	}
	return false
}
