package decide

import (
	"plexus/engine/catalog"
	"plexus/nspl/ast"
	"plexus/nspl/model"
)

// Alter applies an ALTER to the candidate. An alteration that changes nothing
// leaves no change.
func (c *Candidate) Alter(x ast.Alteration, statement int) ast.Diagnostics {
	name := x.Altered().Name
	key := catalog.Key{Kind: x.Alters(), Name: name.Text}
	old, ok := c.get(key.Kind, key.Name)
	if !ok {
		return ast.Diagnostics{about(key, ast.Errorf(ast.CodeRefMissing, name.Span, "%s does not exist", key).WithHint("%s", c.meant(key)))}
	}
	next, found := model.Alter(old, x)
	if len(found) == 0 {
		next = c.settled(next)
	}
	if len(found) > 0 || model.Equal(old, next) {
		return found
	}
	renamed := catalog.Key{Kind: key.Kind, Name: next.EntityName()}
	if renamed != key && c.Exists(renamed) {
		return ast.Diagnostics{about(renamed, ast.Errorf(CodeExists, x.Place(), "%s already exists", renamed))}
	}
	_ = c.Drop(key, name.Span)               // it exists
	_ = c.Create(next, name.Span, statement) // and its name is free
	return nil
}
