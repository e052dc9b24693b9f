package decide

import (
	"plexus/engine/catalog"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// Subscription is a checked CREATE SUBSCRIPTION.
type Subscription struct {
	*model.Subscription
	// Schema is that of the relay, Where the checked predicate; nil keeps every row.
	Schema *vocab.Schema
	Where  *typed.Expr
}

// Subscription checks a subscription to a relay of the candidate. It is no entity,
// so it changes nothing.
func (c *Candidate) Subscription(x *ast.CreateSubscription) (*Subscription, ast.Diagnostics) {
	m, found := model.LowerSubscription(x)
	s := &Subscription{Subscription: m}
	schema, ok := c.relaySchema(m.Relay.Text)
	if !ok {
		target := catalog.Key{Kind: vocab.EntityRelay, Name: m.Relay.Text}
		missing := ast.Errorf(ast.CodeRefMissing, m.Relay.Span, "SUBSCRIPTION '%s' requires missing %s", m.Name, target)
		missing.WithTarget(target.Kind, target.Name).Hint = c.meant(target)
		return s, append(found, missing)
	}
	s.Schema = schema
	where, faults := typed.CheckSubscription(m.Where, typed.Env{Place: "subscription WHERE", Input: schema, UDF: c.Function})
	s.Where = where
	return s, append(found, faults...)
}
