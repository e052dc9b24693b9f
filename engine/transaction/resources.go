package transaction

import (
	"strings"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/engine/transaction/transactionpb"
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// createResource is a step of its own (X2), or none for a resource that exists.
func (b *builder) createResource(i int, x *ast.CreateResource, subject string) *Fault {
	if fault := b.close(); fault != nil {
		return fault
	}
	key := catalog.Key{Kind: vocab.EntityResource, Name: x.Name.Text}
	if _, ok := b.state.Resource(b.domain, x.Name.Text); ok {
		if !x.IfNotExists {
			d := ast.Errorf(decide.CodeExists, x.Name.Span, "%s already exists", key)
			return faultOf(ast.Diagnostics{d}.About(ast.Entity{Kind: key.Kind, Name: key.Name}), i)
		}
		o := outcome(x, subject, subject+" already exists", true)
		b.plan.Outcomes = append(b.plan.Outcomes, o)
		b.report.operation(i, o, transactionpb.Reason_NOTHING, key)
		return nil
	}
	step := &catalogpb.Step{Body: &catalogpb.Step_CreateResource{CreateResource: &catalogpb.CreateResource{Domain: b.domain, Name: x.Name.Text}}}
	return b.single(i, x, step, subject, "created "+subject, transactionpb.Reason_CREATES, key)
}

// rebind takes a REBIND into the open run.
func (b *builder) rebind(i int, x *ast.RebindResource, o *transactionpb.Outcome) ast.Diagnostics {
	lines, keys, found := b.open.Rebind(x, i)
	o.Text = strings.Join(lines, "\n")
	b.report.operation(i, o, transactionpb.Reason_REBINDS, catalog.Key{})
	for _, key := range keys {
		b.changed(key, i)
	}
	b.report.operations[len(b.report.operations)-1].Effects.Rebound = keyRecords(keys)
	return found
}
