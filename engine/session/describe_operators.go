package session

import (
	"fmt"
	"strings"

	"plexus/engine/catalog"
	"plexus/engine/session/document"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/render"
	"plexus/nspl/vocab"
)

// operator describes what every processor has.
func (p *describer) operator() {
	p.head()
	p.text("attachment", "%s", attachment(p.shape.Attached))
	p.inputs()
	p.states()
	p.routes()
	p.out.Set("persistent state", document.None())
}

func (p *describer) inputs() {
	var names []string
	for _, n := range p.shape.Inputs() {
		p.text("input", "%s", n.Text)
		names = append(names, n.Text)
	}
	p.text("from", "%s", strings.Join(names, ","))
}

// states lists what the operator depends on, with what it does without a record.
func (p *describer) states() {
	for _, d := range p.shape.States {
		p.text("state", "%s %s", d.Relay.Text, [...]string{
			ast.StateWait: "REQUIRED WAIT", ast.StateSkip: "REQUIRED SKIP", ast.StateDefault: "DEFAULT"}[d.Policy])
	}
}

func (p *describer) routes() {
	for i, r := range p.shape.Routes {
		construction := "none"
		if r.Construction.Inherit != nil || len(r.Construction.Set) > 0 || r.Construction.Where != nil {
			construction = "present"
		}
		branch := p.branch(p.shape)
		if r.Branch != nil {
			branch = branchWord(r.Branch.BranchUse)
		}
		p.text(fmt.Sprintf("output %d", i), "into=%s construction=%s branch=%s %s", r.To.Text, construction, branch, flushText(r.Flush))
	}
}

func branchWord(b ast.BranchUse) string {
	if b.By == nil {
		return "unbranched"
	}
	return b.By.Text
}

// branch names the branch that an operator declares. Where its routes or inputs say
// it, theirs is named if they agree.
func (p *describer) branch(s *model.Shape) string {
	if s.Branch != nil {
		return branchWord(*s.Branch)
	}
	var words []string
	for _, n := range s.Inputs() {
		if m, ok := p.q.state().Model(p.domain.Name, catalog.Key{Kind: vocab.EntityRelay, Name: n.Text}); ok {
			words = append(words, branchWord(m.Definition.(*model.Relay).Branch))
		}
	}
	if len(words) == 0 {
		for _, r := range s.Routes {
			if r.Branch != nil {
				words = append(words, branchWord(r.Branch.BranchUse))
			}
		}
	}
	for _, w := range words {
		if w != words[0] {
			return "several"
		}
	}
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// keyFields names the fields of a branch key.
func (p *describer) keyFields(branch string) (fields []string) {
	b, ok := p.q.state().Model(p.domain.Name, catalog.Key{Kind: vocab.EntityBranch, Name: branch})
	if !ok {
		return nil
	}
	if schema := p.schema(b.Definition.(*model.Branch).Schema.Text); schema != nil {
		for _, f := range schema.Fields {
			fields = append(fields, f.Name)
		}
	}
	return fields
}

// processor describes the operators that no node executes yet, by what they
// declare, and reports whether the entity is one.
func (p *describer) processor(e model.Entity) bool {
	if p.shape == nil {
		return false
	}
	p.operator()
	switch x := e.(type) {
	case *model.Deduplicator:
		p.keys(x.Keys, x.MaxTime)
		p.out.Set("storage", document.None())
	case *model.Reorderer:
		p.keys(x.Keys, x.MaxTime)
	case *model.Generator:
		p.text("state", "%s", x.State.Text)
		p.text("each", "%s", x.Each.Text)
	case *model.Correlator:
		p.text("match", "%s", map[bool]string{true: "LATEST", false: "EARLIEST"}[x.Latest])
		p.text("max time", "%s", x.MaxTime.Text)
	case *model.Window:
		p.text("width", "%s", boundText(x.Width))
		p.text("step", "%s", boundText(x.Step))
		size := ""
		if x.MaxState != nil {
			size = x.MaxState.Text
		}
		p.text("max state size", "%s", size)
	case *model.Inferencer:
		p.resource(&x.Model, x.File)
	case *model.WASM:
		p.resource(&x.Module, x.File)
		p.out.Set("max fuel", document.Uint(x.MaxFuel))
		p.text("max memory", "%d bytes", x.MaxMemory.Bytes)
		p.out.Set("state reset", document.None())
	}
	p.text("status", "stopped")
	p.edges(nil)
	return true
}

func (p *describer) keys(keys []ast.Expr, maxTime ast.Duration) {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = render.Expr(k)
	}
	p.text("key expressions", "%s", strings.Join(texts, ", "))
	p.text("max time", "%s", maxTime.Text)
}

func (p *describer) resource(b *ast.Binding, file ast.Text) {
	p.text("resource", "%s", b.Resource.Text)
	p.out.Set("resource version", document.Uint(b.Version.Number.Value))
	p.text("file", "%s", file.Text)
}

func boundText(b ast.Bound) string {
	var parts []string
	if b.Messages != nil {
		parts = append(parts, fmt.Sprintf("%d MESSAGES", b.Messages.Value))
	}
	if b.Duration != nil {
		parts = append(parts, b.Duration.Text+" DURATION")
	}
	return strings.Join(parts, " ")
}
