package decide

import (
	"fmt"

	"plexus/engine/catalog"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// resolve turns VERSION LATEST of a new definition into the number it stands for,
// and remembers it. Where there is none, validation says so.
func (c *Candidate) resolve(e model.Entity) model.Entity {
	b := model.Bound(e)
	if b == nil || !b.Version.Latest {
		return e
	}
	r, ok := c.state.Resource(c.domain, b.Resource.Text)
	if !ok || r.Latest() == 0 {
		return e
	}
	c.resolved = fmt.Sprintf("resolved VERSION LATEST of resource '%s' to version %d for %s '%s'",
		r.Name, r.Latest(), e.Kind().Words(), e.EntityName())
	return model.Rebound(e, r.Latest())
}

// Resolved says what VERSION LATEST of the last created definition stands for, ""
// where it has none.
func (c *Candidate) Resolved() string { return c.resolved }

// Offline takes every version of a resource for completed, because only a cluster
// knows them.
func (c *Candidate) Offline() { c.offline = true }

// checkBindings is the part of V10 that needs no content: every version that a
// definition binds is completed.
func (c *Candidate) checkBindings(s scope, limit int) (found []*Invalid) {
	if c.offline {
		return nil
	}
	for e := range c.in(s) {
		b := model.Bound(e.entity)
		if b == nil {
			continue
		}
		f := foundOf(e)
		if d := c.checkVersion(b); d != nil {
			f.take(ast.Diagnostics{d})
			if found = append(found, c.report(e, f.list)); len(found) == limit {
				break
			}
		}
	}
	return found
}

func (c *Candidate) checkVersion(b *ast.Binding) *ast.Diagnostic {
	r, ok := c.state.Resource(c.domain, b.Resource.Text)
	if !ok {
		return ast.Errorf(ast.CodeRefMissing, b.Resource.Span, "RESOURCE '%s' does not exist", b.Resource.Text)
	}
	return checkVersion(r, b.Version)
}

func checkVersion(r *catalog.Resource, version ast.ResourceVersion) *ast.Diagnostic {
	v, ok := r.Version(version.Number.Value)
	switch {
	case version.Latest && r.Latest() == 0:
		return ast.Errorf(CodeResourceVersion, version.Span, "resource '%s' has no completed version", r.Name)
	case version.Latest:
		return nil
	case !ok:
		return ast.Errorf(CodeResourceVersion, version.Span, "resource '%s' has no version %d", r.Name, version.Number.Value)
	case v.State != catalog.VersionCompleted:
		return ast.Errorf(CodeResourceVersion, version.Span, "version %d of resource '%s' is %s", v.Number, r.Name, v.State)
	}
	return nil
}

// Rebind lets definitions bind another version of a resource: those that are
// listed, or all that bind it. It returns what became of each.
func (c *Candidate) Rebind(x *ast.RebindResource, statement int) (lines []string, rebound []catalog.Key, found ast.Diagnostics) {
	target := catalog.Key{Kind: vocab.EntityResource, Name: x.Name.Text}
	r, ok := c.state.Resource(c.domain, x.Name.Text)
	if !ok {
		return nil, nil, ast.Diagnostics{about(target, ast.Errorf(ast.CodeRefMissing, x.Name.Span, "%s does not exist", target).WithHint("%s", c.meant(target)))}
	}
	if d := checkVersion(r, x.To); d != nil && !c.offline {
		return nil, nil, ast.Diagnostics{about(target, d)}
	}
	number := x.To.Number.Value
	if x.To.Latest {
		number = max(r.Latest(), 1) // offline there may be none, and any will do
	}
	usages, found := c.usages(x)
	if len(found) > 0 {
		return nil, nil, found
	}
	for _, key := range usages {
		e, _ := c.get(key.Kind, key.Name)
		words := key.Kind.Words() + " '" + key.Name + "'"
		old := model.Bound(e).Version.Number.Value
		if old == number {
			lines = append(lines, words+" unchanged")
			continue
		}
		_ = c.Drop(key, x.Name.Span)                                   // it exists
		_ = c.Create(model.Rebound(e, number), x.Name.Span, statement) // and its name is free
		lines = append(lines, fmt.Sprintf("%s from version %d to version %d", words, old, number))
		rebound = append(rebound, key)
	}
	head := fmt.Sprintf("rebound %d of %d usage(s) of resource '%s' to version %d", len(rebound), len(usages), r.Name, number)
	return append([]string{head}, lines...), rebound, nil
}

// usages returns what a REBIND is about, by kind and name where nothing is listed.
func (c *Candidate) usages(x *ast.RebindResource) (keys []catalog.Key, found ast.Diagnostics) {
	binds := func(e model.Entity) bool {
		b := model.Bound(e)
		return b != nil && b.Resource.Text == x.Name.Text
	}
	if len(x.For) == 0 {
		for i := range c.entries {
			if binds(c.entries[i].entity) {
				keys = append(keys, c.entries[i].key)
			}
		}
		return keys, nil
	}
	found = model.CheckUsages(x.For)
	for _, u := range x.For {
		key := catalog.Key{Kind: u.Kind, Name: u.Name.Text}
		e, ok := c.get(key.Kind, key.Name)
		switch {
		case !ok:
			found = append(found, about(key, ast.Errorf(ast.CodeRefMissing, u.Span, "%s does not exist", key).WithHint("%s", c.meant(key))))
		case !binds(e):
			found = append(found, about(key, ast.Errorf(ast.CodeRefKind, u.Span, "%s does not bind RESOURCE '%s'", key, x.Name.Text)))
		}
		keys = append(keys, key)
	}
	return keys, found
}
