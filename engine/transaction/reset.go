package transaction

import (
	"plexus/engine/catalog"
	"plexus/engine/decide"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// reset checks a RESET of guest state against what stands before it. No guest runs
// yet, so none has state.
func (b *builder) reset(i int, x *ast.ResetWASM) *Fault {
	if fault := b.close(); fault != nil {
		return fault
	}
	key := catalog.Key{Kind: vocab.EntityWASM, Name: x.Name.Text}
	found := b.checkReset(x, key)
	if len(found) == 0 {
		found = ast.Diagnostics{ast.Errorf(ast.CodeUnavailable, x.Place(), "not available yet: guest state of WASM processors")}
	}
	return faultOf(found.About(ast.Entity{Kind: key.Kind, Name: key.Name}), i)
}

// checkReset demands the selected domain, a processor that is there, and a scope
// that fits how it is branched.
func (b *builder) checkReset(x *ast.ResetWASM, key catalog.Key) ast.Diagnostics {
	m, ok := b.state.Model(b.domain, key)
	switch {
	case x.Domain.Text != b.domain:
		return ast.Diagnostics{ast.Errorf(ast.CodeInvalid, x.Domain.Span, "IN DOMAIN '%s' must name the selected domain '%s'", x.Domain.Text, b.domain)}
	case !ok:
		return ast.Diagnostics{ast.Errorf(ast.CodeRefMissing, x.Name.Span, "%s does not exist", key).WithHint("%s", decide.Meant(b.state, b.domain, key))}
	}
	by := m.Definition.(*model.WASM).Branch.By
	switch {
	case by == nil && x.Scope != ast.ResetUnbranched:
		return ast.Diagnostics{ast.Errorf(ast.CodeInvalid, x.Place(), "%s is unbranched", key).WithHint("FOR UNBRANCHED")}
	case by != nil && x.Scope == ast.ResetUnbranched:
		return ast.Diagnostics{ast.Errorf(ast.CodeInvalid, x.Place(), "%s is branched by '%s'", key, by.Text).
			WithHint("FOR ALL BRANCHES, or FOR BRANCH VALUES { … }")}
	case x.Scope != ast.ResetBranch:
		return nil
	}
	branch, _ := b.state.Model(b.domain, catalog.Key{Kind: vocab.EntityBranch, Name: by.Text})
	schema, _ := b.state.Model(b.domain, catalog.Key{Kind: vocab.EntitySchema, Name: branch.Definition.(*model.Branch).Schema.Text})
	return decide.CheckKey(&schema.Definition.(*model.Schema).Schema, x.Values, x.Place())
}
