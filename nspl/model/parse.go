package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/parse"
)

// Parse reads one declaration, as the replicated form of an entity is. The error
// is an *ast.Diagnostic or ast.Diagnostics.
func Parse(text string) (Entity, error) {
	s, err := parse.Statement(text)
	if err != nil {
		return nil, err
	}
	d, ok := s.(ast.Declaration)
	if !ok {
		return nil, ast.Errorf(ast.CodeInvalid, s.Place(), "the text declares no entity")
	}
	e, found := Lower(d)
	return e, found.Err()
}
