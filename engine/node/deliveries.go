package node

import (
	"context"

	"plexus/engine/ack"
	"plexus/engine/exchange"
	"plexus/engine/flow"
	"plexus/engine/interconnect"
)

// deliveries takes the batches of other nodes to the domains that run here.
type deliveries struct{ runtime *runtime }

// Layout implements exchange.Receiver.
func (x deliveries) Layout(role exchange.Role, domain, relay string, note []byte) (*exchange.Layout, error) {
	d, err := x.domain(domain)
	if err != nil {
		return nil, err
	}
	return d.Layout(role, relay, note)
}

// Accept implements exchange.Receiver.
func (x deliveries) Accept(ctx context.Context, from exchange.Process, ch exchange.Channel, b *exchange.Batch, acks *ack.Set) error {
	d, err := x.domain(ch.Domain)
	if err != nil {
		return err
	}
	return d.Accept(ctx, from, ch, b, acks)
}

// domain finds a domain. One that is committed and not installed yet, or that this
// node may not know yet, is worth another try.
func (x deliveries) domain(name string) (*flow.Domain, error) {
	if d := x.runtime.Domain(name); d != nil {
		return d, nil
	}
	if _, committed := x.runtime.node.group.State().Domain(name); committed || !x.runtime.Admitted() {
		return nil, &interconnect.Refusal{Class: interconnect.NotReady, Subject: "domain", Detail: "it is not installed here yet"}
	}
	return nil, &interconnect.Refusal{Class: interconnect.Rejected, Subject: "domain", Detail: "it does not exist here"}
}

var _ exchange.Receiver = deliveries{}
