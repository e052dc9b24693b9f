package decide

import (
	"plexus/engine/catalog"
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Codes that only the whole candidate can raise.
const (
	CodeExists        ast.Code = "exists"
	CodeInUse         ast.Code = "in_use"
	CodeGraphCycle    ast.Code = "graph.cycle"
	CodeContent       ast.Code = "content"
	CodeDomainMissing ast.Code = "domain.missing"
	CodePlacement     ast.Code = "placement.conflict"
	CodeNode          ast.Code = "node"

	CodeResourceVersion ast.Code = "resource.version"
)

// found collects the diagnostics of one entity.
type found struct {
	list ast.Diagnostics
	key  catalog.Key
	// used are the targets of DROP that were found to be in use, by whomever.
	used map[catalog.Key]bool
}

func foundOf(e *entry) found { return found{key: e.key} }

// inUse reports the DROP of something that the entity uses, once for all who do.
func (f *found) inUse(c *Candidate, target catalog.Key) {
	f.list = nil
	if f.used == nil || !f.used[target] {
		f.list = ast.Diagnostics{c.inUse(target)}
	}
	if f.used != nil {
		f.used[target] = true
	}
}

func (f *found) add(code ast.Code, span vocab.Span, format string, args ...any) *ast.Diagnostic {
	d := ast.Errorf(code, span, format, args...)
	d.Entity = ast.Entity{Kind: f.key.Kind, Name: f.key.Name}
	f.list = append(f.list, d)
	return d
}

func (f *found) take(list ast.Diagnostics) {
	f.list = append(f.list, list.About(ast.Entity{Kind: f.key.Kind, Name: f.key.Name})...)
}
