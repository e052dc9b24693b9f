package session

import (
	"fmt"
	"strconv"
	"strings"

	"plexus/engine/catalog"
	"plexus/engine/decide"
	"plexus/engine/session/document"
	"plexus/nspl/vocab"
)

// none is how a list without an item is shown where it stands alone.
const none = "(none)"

func rank(n uint64) document.Value {
	if n == 0 {
		return document.None()
	}
	return document.Uint(n)
}

// rules is SHOW PLACEMENTS.
func rules(list []decide.Rule) document.Value {
	var items []document.Value
	for _, r := range list {
		items = append(items, new(document.Map).Set(document.Name, document.Text(r.Name)).Set("policy", document.Text(r.Policy.String())).
			Set("rank", rank(r.Rank)).Set("coverage", document.Text(r.Coverage.String())).Value())
	}
	return document.List(items...)
}

// placementReport is DESCRIBE PLACEMENT.
func placementReport(r *decide.PlacementReport) document.Value {
	m := new(document.Map).Set("placement", document.Text(r.Name)).Set("policy", document.Text(r.Policy.String())).
		Set("rank", rank(r.Rank)).Set("coverage", document.Text(r.Coverage.String()))
	for i := range r.Pairs {
		p := &r.Pairs[i]
		pair(m, &p.Pair)
		for _, way := range p.Witnesses {
			m.Set("witness", document.Text(names(way, " -> ")))
		}
		m.Set("effective policy", document.Text(p.Policy.String())).Set("winning rule", document.TextOrNone(p.Rule))
		m.Set("overridden by", document.TextOrNone(strings.Join(p.OverriddenBy, ", ")))
	}
	more(m, "more pairs", r.MorePairs)
	var claims []document.Value
	for i := range r.Claims {
		c := &r.Claims[i]
		claim := new(document.Map).Set("a", document.Text(operator(c.A))).Set("b", document.Text(operator(c.B))).
			Set("policy", document.Text(c.Policy.String())).Set("rule", document.TextOrNone(c.Rule))
		if c.Group != nil {
			claim.Set("group", document.Text(names(c.Group, ","))).Set("host", document.TextOrNone(c.Host))
		}
		claims = append(claims, claim.Value())
	}
	m.Set("claims", document.List(claims...))
	more(m, "more claims", r.MoreClaims)
	return m.Value()
}

// pair writes one pair of FROM and TO with what lies between.
func pair(m *document.Map, p *decide.Pair) {
	m.Set("pair", document.Text(p.From.Name+" -> "+p.To.Name)).Set("connected", document.Bool(p.Connected))
	var between []catalog.Key
	for _, k := range p.Captured {
		if k != p.From && k != p.To {
			between = append(between, k)
		}
	}
	covered := none
	if len(between) > 0 {
		covered = names(between, ", ")
	}
	m.Set("covered", document.Text(covered))
}

func more(m *document.Map, key string, n int) {
	if n > 0 {
		m.Set(key, document.Int(n))
	}
}

// stated is a policy with the rule that states it.
func stated(policy vocab.PlacementPolicy, rule string) string {
	if rule == "" {
		return policy.String()
	}
	return fmt.Sprintf("%s by %s", policy, rule)
}

// operator is the kind and name of an operator.
func operator(k catalog.Key) string { return k.Kind.Snake() + ":" + k.Name }

func names(list []catalog.Key, separator string) string {
	words := make([]string, len(list))
	for i, k := range list {
		words[i] = k.Name
	}
	return strings.Join(words, separator)
}

// domainPlacement is the placement part of DESCRIBE DOMAIN.
func domainPlacement(d *decide.DomainPlacement) document.Value {
	m := new(document.Map).Set("default policy", document.Text(d.Default.String())).Set("rule count", document.Int(d.Rules))
	for i := range d.Groups {
		g := &d.Groups[i]
		members := make([]string, len(g.Members))
		for j, k := range g.Members {
			members[j] = operator(k)
		}
		group := new(document.Map).Set("members", document.Text(strings.Join(members, ", "))).Set("host", document.TextOrNone(g.Host))
		var pairs []document.Value
		for _, p := range g.Pairs {
			pairs = append(pairs, document.Text(operator(p[0])+" "+operator(p[1])))
		}
		group.Set("pairs", document.List(pairs...))
		more(group, "more pairs", g.MorePairs)
		m.Set("group "+strconv.Itoa(i+1), group.Value())
	}
	unassigned := none
	if len(d.Unassigned) > 0 {
		unassigned = names(d.Unassigned, ", ")
	}
	return m.Set("planned relocations", document.Int(d.Planned)).Set("unassigned", document.Text(unassigned)).Value()
}

// relocationReport is the reply of RELOCATE and of DESCRIBE RELOCATION. The first
// line says what happened, or would.
func relocationReport(r *decide.Relocation, done bool) document.Value {
	first := "relocated %d of %d runtime node(s) onto node '%s'"
	if !done {
		first = "would relocate %d of %d runtime node(s) onto node '%s'"
	}
	m := new(document.Map).Set(document.Bare, document.Text(fmt.Sprintf(first, r.Moved(), len(r.Members), r.Onto))).
		Set("quiesce level", document.Text(r.Level().String()))
	gates := none
	if list := r.Boundary().Gates; len(list) > 0 {
		gates = strings.Join(list, ", ")
	}
	m.Set("gated relays", document.Text(gates))
	for i := range r.Pairs {
		pair(m, &r.Pairs[i])
	}
	var members []document.Value
	for i := range r.Members {
		x := &r.Members[i]
		group := document.None()
		if x.Group > 0 {
			group = document.Int(x.Group)
		}
		members = append(members, new(document.Map).Set("kind", document.Text(x.Kind.Snake())).Set("name", document.Text(x.Name)).
			Set("group", group).Set("strategy", document.Text(strings.ToLower(x.Strategy.String()))).
			Set("reason", document.Text(x.Reason.String())).Set("owner", document.Text(x.Owner)).Set("moves", yes(x.Moves)).
			Set("replicas", replicas(x.Replicas)).Set("promoted_replica", yes(x.Moves && x.Promoted)).Value())
	}
	m.Set("members", document.List(members...))
	for _, u := range r.Unsatisfied {
		m.Set("unsatisfied", document.Text(fmt.Sprintf("%s %s %s", operator(u.A), operator(u.B), stated(u.Policy, u.Rule))))
	}
	return m.Value()
}

func replicas(list []string) document.Value { return document.TextOrNone(strings.Join(list, ",")) }

func yes(is bool) document.Value {
	if is {
		return document.Text("yes")
	}
	return document.Text("no")
}
