package transaction

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/proto"

	"plexus/engine/catalog"
	"plexus/engine/transaction/transactionpb"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// topology returns the number of the domain's topology in the report; equal ones
// are kept once.
func (r *reporter) topology(s *catalog.State, domain string) uint32 {
	t := Topology(s, domain)
	for i, kept := range r.topologies {
		if proto.Equal(kept, t) {
			return uint32(i)
		}
	}
	r.topologies = append(r.topologies, t)
	return uint32(len(r.topologies) - 1)
}

// Topology returns how the entities of a domain depend on each other, in order.
func Topology(s *catalog.State, domain string) *transactionpb.Topology {
	t := &topology{}
	for m := range s.Models(domain) {
		t.entity(m)
	}
	slices.SortFunc(t.edges, func(a, b edge) int {
		return cmp.Or(a.from.Compare(b.from), a.to.Compare(b.to), cmp.Compare(a.kind, b.kind))
	})
	out := &transactionpb.Topology{}
	for _, e := range slices.Compact(t.edges) {
		out.Edges = append(out.Edges, &transactionpb.Edge{Kind: e.kind, From: keyRecord(e.from), To: keyRecord(e.to)})
	}
	return out
}

type edge struct {
	kind     transactionpb.Edge_Kind
	from, to catalog.Key
}

type topology struct{ edges []edge }

func (t *topology) add(kind transactionpb.Edge_Kind, from, to catalog.Key) {
	t.edges = append(t.edges, edge{kind, from, to})
}

// entity adds what one definition names: relays that it reads and writes by what
// flows, everything else by configuration.
func (t *topology) entity(m *catalog.Model) {
	if m.Kind == vocab.EntityPlacement {
		return // it relates members, and none of them depends on it
	}
	if s := model.ShapeOf(m.Definition); s != nil {
		t.shape(m.Key, s)
	}
	for _, ref := range m.Definition.Refs() {
		if ref.Kind != vocab.EntityRelay {
			t.add(transactionpb.Edge_CONFIGURATION, catalog.Key{Kind: ref.Kind, Name: ref.Name}, m.Key)
		}
	}
}

func (t *topology) shape(key catalog.Key, s *model.Shape) {
	for _, n := range s.Inputs() {
		t.add(transactionpb.Edge_DATAFLOW, relay(n), key)
	}
	for _, n := range s.StateNames() {
		t.add(transactionpb.Edge_MATERIALIZED_STATE, relay(n), key)
	}
	for i := range s.Routes {
		t.add(transactionpb.Edge_DATAFLOW, key, relay(s.Routes[i].To))
	}
	for _, e := range s.Errors() {
		if e.Action == ast.ErrorSendTo {
			t.add(transactionpb.Edge_MESSAGE_ERROR, key, relay(e.To))
		}
	}
	for _, timeout := range s.Timeouts {
		if timeout.To != nil {
			t.add(transactionpb.Edge_CORRELATION_TIMEOUT, key, relay(*timeout.To))
		}
	}
}

func relay(n ast.Name) catalog.Key { return catalog.Key{Kind: vocab.EntityRelay, Name: n.Text} }
