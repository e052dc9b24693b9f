package session

import (
	"strings"
	"testing"

	"plexus/engine/catalog"
	"plexus/engine/decide"
	"plexus/engine/placement"
	"plexus/engine/session/document"
	"plexus/nspl/vocab"
)

func relayKey(name string) catalog.Key { return catalog.Key{Kind: vocab.EntityRelay, Name: name} }
func junctionKey(name string) catalog.Key {
	return catalog.Key{Kind: vocab.EntityJunction, Name: name}
}

// reads compares the text of a reply line by line.
func reads(t *testing.T, v document.Value, want string) {
	t.Helper()
	want = strings.TrimSpace(strings.ReplaceAll(want, "\t", ""))
	if got := document.Render(v); got != want {
		t.Errorf("reads\n%s\nnot\n%s", got, want)
	}
}

func TestRulesRead(t *testing.T) {
	reads(t, rules([]decide.Rule{
		{Name: "free", Policy: vocab.PlacementNeutral, Rank: 1, Coverage: placement.CoverageEffective},
		{Name: "local", Policy: vocab.PlacementRequireColocation, Coverage: placement.CoveragePartial},
	}), `
		free policy=NEUTRAL rank=1 coverage=effective
		local policy=REQUIRE COLOCATION rank=- coverage=partial
	`)
}

func TestPlacementReads(t *testing.T) {
	a, j, b := relayKey("a"), junctionKey("j"), relayKey("b")
	r := &decide.PlacementReport{
		Rule: decide.Rule{Name: "local", Policy: vocab.PlacementRequireColocation, Rank: 2, Coverage: placement.CoveragePartial},
		Pairs: []decide.PairReport{
			{
				Pair: decide.Pair{From: a, To: b, Connected: true, Captured: []catalog.Key{a, b, j}}, Witnesses: [][]catalog.Key{{a, j, b}},
				Policy: vocab.PlacementRequireColocation, Rule: "local", OverriddenBy: []string{"free"},
			},
			{Pair: decide.Pair{From: b, To: a}},
		},
		Claims: []decide.Claim{
			{A: a, B: b, Policy: vocab.PlacementRequireColocation, Rule: "local", Group: []catalog.Key{a, b}, Host: "node-1"},
			{A: a, B: j, Policy: vocab.PlacementNeutral, Rule: "free"},
		},
		MoreClaims: 7,
	}
	reads(t, placementReport(r), `
		placement: local
		policy: REQUIRE COLOCATION
		rank: 2
		coverage: partial
		pair: a -> b
		connected: true
		covered: j
		witness: a -> j -> b
		effective policy: REQUIRE COLOCATION
		winning rule: local
		overridden by: free
		pair: b -> a
		connected: false
		covered: (none)
		effective policy: NEUTRAL
		winning rule: -
		overridden by: -
		claims:
		  - a=relay:a b=relay:b policy=REQUIRE COLOCATION rule=local group=a,b host=node-1
		  - a=relay:a b=junction:j policy=NEUTRAL rule=free
		more claims: 7
	`)
}

func TestDomainPlacementReads(t *testing.T) {
	a, j := relayKey("a"), junctionKey("j")
	d := &decide.DomainPlacement{
		Default: vocab.PlacementPreferColocation, Rules: 1, Planned: 2, Unassigned: []catalog.Key{j},
		Groups: []decide.GroupReport{{Members: []catalog.Key{a, j}, Host: "node-1", Pairs: [][2]catalog.Key{{a, j}}}},
	}
	reads(t, domainPlacement(d), `
		default policy: PREFER COLOCATION
		rule count: 1
		group 1:
		  members: relay:a, junction:j
		  host: node-1
		  pairs:
		    - relay:a junction:j
		planned relocations: 2
		unassigned: j
	`)
}

func TestRelocationReads(t *testing.T) {
	a, j := relayKey("a"), junctionKey("j")
	r := &decide.Relocation{
		Onto: "node-2", Pairs: []decide.Pair{{From: a, To: j, Connected: true, Captured: []catalog.Key{a, j}}},
		Members: []decide.Member{
			{Key: a, Group: 1, Reason: decide.Selected, Owner: "node-1", Moves: true, Replicas: []string{"node-1", "node-3"}, Promoted: true},
			{Key: j, Group: 1, Strategy: 1, Reason: decide.Required, Owner: "node-2"},
		},
		Unsatisfied: []decide.Unsatisfied{{A: a, B: j, Policy: vocab.PlacementSuggestSeparation, Rule: "far"}, {A: a, B: j, Policy: vocab.PlacementPreferColocation}},
	}
	reads(t, relocationReport(r, true), `
		relocated 1 of 2 runtime node(s) onto node 'node-2'
		quiesce level: DYNAMIC
		gated relays: (none)
		pair: a -> j
		connected: true
		covered: (none)
		members:
		  - kind=relay name=a group=1 strategy=follow reason=selected owner=node-1 moves=yes replicas=node-1,node-3 promoted_replica=yes
		  - kind=junction name=j group=1 strategy=ignore reason=required owner=node-2 moves=no replicas=- promoted_replica=no
		unsatisfied: relay:a junction:j SUGGEST SEPARATION by far
		unsatisfied: relay:a junction:j PREFER COLOCATION
	`)
}
