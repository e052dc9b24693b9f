package decide

import (
	"iter"
	"slices"

	"plexus/engine/catalog"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// Names answers what completion asks of a domain: see nspl/complete.
type Names struct {
	state     *catalog.State
	candidate *Candidate
	session   []string
}

// NewNames returns the names of a candidate, and those of the cluster it belongs
// to. Without a selected domain the candidate is nil.
func NewNames(state *catalog.State, c *Candidate) *Names { return &Names{state: state, candidate: c} }

// Selected reports whether there is a domain.
func (n *Names) Selected() bool { return n.candidate != nil }

// Names lists the entities of a kind by name.
func (n *Names) Names(kind vocab.EntityKind) []string {
	switch kind {
	case vocab.EntityDomain:
		return namesOf(n.state.Domains(), func(d *catalog.Domain) string { return d.Name })
	case vocab.EntityUser:
		return namesOf(n.state.Users(), func(u *catalog.User) string { return u.Name })
	}
	if n.candidate == nil {
		return nil
	}
	if kind == vocab.EntityResource {
		return namesOf(n.state.Resources(n.candidate.domain), func(r *catalog.Resource) string { return r.Name })
	}
	first, _ := n.candidate.find(catalog.Key{Kind: kind})
	var names []string
	for _, e := range n.candidate.entries[first:] {
		if e.key.Kind != kind {
			break
		}
		names = append(names, e.key.Name)
	}
	return names
}

// Entity returns the definition of an entity of the domain.
func (n *Names) Entity(kind vocab.EntityKind, name string) (model.Entity, bool) {
	if n.candidate == nil {
		return nil, false
	}
	return n.candidate.get(kind, name)
}

// Nodes lists the nodes of the cluster by name.
func (n *Names) Nodes() []string {
	names := namesOf(n.state.Nodes(), func(x *catalog.Node) string { return x.ID })
	slices.Sort(names)
	return names
}

// Versions lists the completed versions of a resource of the domain.
func (n *Names) Versions(resource string) (numbers []uint64) {
	if n.candidate == nil {
		return nil
	}
	r, ok := n.state.Resource(n.candidate.domain, resource)
	if !ok {
		return nil
	}
	for _, v := range r.Versions {
		if v.State == catalog.VersionCompleted {
			numbers = append(numbers, v.Number)
		}
	}
	return numbers
}

// OfSession adds the subscriptions of a session, by name.
func (n *Names) OfSession(subscriptions []string) *Names {
	n.session = subscriptions
	return n
}

// Subscriptions lists those of the session.
func (n *Names) Subscriptions() []string { return n.session }

func namesOf[T any](list iter.Seq[T], name func(T) string) (names []string) {
	for x := range list {
		names = append(names, name(x))
	}
	return names
}
