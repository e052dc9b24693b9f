package transaction

import (
	"plexus/engine/transaction/transactionpb"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
)

// Statement is one statement with the text that its spans point into.
type Statement struct {
	Parsed ast.Statement
	Text   string
	entity model.Entity // of a declaration
}

// NewStatement takes a parsed statement.
func NewStatement(parsed ast.Statement, text string) (Statement, ast.Diagnostics) {
	s := Statement{Parsed: parsed, Text: text}
	d, ok := parsed.(ast.Declaration)
	if !ok {
		return s, nil
	}
	var found ast.Diagnostics
	s.entity, found = model.Lower(d)
	return s, found
}

// Read takes the text of a statement that was accepted before.
func Read(text string) (Statement, error) {
	parsed, err := parse.Statement(text)
	if err != nil {
		return Statement{}, err
	}
	s, found := NewStatement(parsed, text)
	if len(found) > 0 {
		return Statement{}, found
	}
	return s, nil
}

// Own is the text of the statement alone.
func (s *Statement) Own() string {
	place := s.Parsed.Place()
	return s.Text[place.Start:place.End]
}

// Subject names what a statement is about, such as: relay 'r'.
func Subject(s *Statement, domain string) string {
	switch x := s.Parsed.(type) {
	case *ast.Start:
		return "start of domain '" + domain + "'"
	case *ast.Stop:
		return "stop of domain '" + domain + "'"
	case *ast.ResetWASM:
		return "state of wasm processor '" + x.Name.Text + "'"
	case *ast.AlterDomain:
		return "domain '" + domain + "'"
	}
	key, _ := target(s)
	return key.Kind.Words() + " '" + key.Name + "'"
}

// Fault is why a list of statements cannot be planned.
type Fault struct {
	Found     ast.Diagnostics
	Operation int // from 0; -1 for none of the list
	// Cause is the statement that is to blame: Operation, or the one that changed last
	// what a fault of an older definition follows from; -1 for none.
	Cause int
}

// outcome is what a statement comes to.
func outcome(s ast.Statement, subject, text string, existed bool) *transactionpb.Outcome {
	return &transactionpb.Outcome{Statement: ast.Words(s), Subject: subject, Text: text, Existed: existed}
}
