package decide

import (
	"fmt"
	"strings"
	"testing"

	"plexus/engine/catalog"
)

func TestShowPlacements(t *testing.T) {
	s := newCluster(t, "n1", pipeline,
		"CREATE PLACEMENT whole FROM a TO f REQUIRE COLOCATION", "CREATE PLACEMENT cut FROM c TO m NEUTRAL RANK 2",
		"CREATE PLACEMENT back FROM f TO a PREFER COLOCATION", "CREATE PLACEMENT lost FROM c TO m PREFER COLOCATION RANK 3")
	var lines []string
	for _, r := range ShowPlacements(s.state, "d") {
		lines = append(lines, fmt.Sprintf("%s %s %d %s", r.Name, r.Policy, r.Rank, r.Coverage))
	}
	s.expect("rules", strings.Join(lines, "\n"), "back PREFER COLOCATION 0 empty\ncut NEUTRAL 2 effective\nlost PREFER COLOCATION 3 overridden\nwhole REQUIRE COLOCATION 0 partial")
	if ShowPlacements(s.state, "nowhere") != nil {
		t.Error("a domain that does not exist has rules")
	}
}

func TestDescribePlacement(t *testing.T) {
	s := newCluster(t, "n1", pipeline,
		"CREATE PLACEMENT whole FROM j TO x, a REQUIRE COLOCATION", "CREATE PLACEMENT cut FROM c TO m NEUTRAL RANK 2")
	s.schedule()
	r := DescribePlacement(s.state, "d", "whole")
	p := &r.Pairs[0]
	var ways []string
	for _, w := range p.Witnesses {
		ways = append(ways, keysText(w))
	}
	s.expect("covered", keysText(p.Captured), "c x j m")
	s.expect("witnesses", strings.Join(ways, ", "), "j c m x, j c m x")
	s.expect("overridden", strings.Join(p.OverriddenBy, ","), "cut")
	s.expect("effective", strings.TrimSpace(fmt.Sprintln(p.Policy, p.Rule, p.Connected, r.Pairs[1].Connected, len(r.Pairs[1].Captured))), "REQUIRE COLOCATION whole true false 0")
	var claims []string
	for _, c := range r.Claims {
		claims = append(claims, fmt.Sprintf("%s %s %s %s %s", c.A.Name, c.B.Name, c.Rule, keysText(c.Group), c.Host))
	}
	s.expect("claims", strings.Join(claims, "\n"),
		"c x whole c x j m n1\nc j whole c x j m n1\nc m cut  \nx j whole c x j m n1\nx m whole c x j m n1\nj m whole c x j m n1")
	if DescribePlacement(s.state, "d", "nothing").Name != "" || DescribePlacement(s.state, "nowhere", "whole").Name != "" {
		t.Error("what does not exist is described")
	}
}

// TestReportsAreBounded: a corridor of 100 operators has 4,950 claims and pairs.
func TestReportsAreBounded(t *testing.T) {
	var words []string
	for i := range 50 {
		words = append(words, fmt.Sprintf("r%d>j%d>r%d", i, i, i+1))
	}
	s := newCluster(t, "n1", strings.Join(words, " "), "CREATE PLACEMENT p FROM r0 TO j49 REQUIRE COLOCATION")
	r := DescribePlacement(s.state, "d", "p")
	if len(r.Claims) != listMax || r.MoreClaims != 4950-listMax || len(r.Pairs[0].Witnesses) != 98 {
		t.Errorf("%d claims, %d more, %d witnesses", len(r.Claims), r.MoreClaims, len(r.Pairs[0].Witnesses))
	}
	d := DescribeDomain(s.state, "d", s.cluster)
	if g := d.Groups; len(g) != 1 || len(g[0].Pairs) != listMax || g[0].MorePairs != 4950-listMax {
		t.Errorf("%d groups", len(g))
	}
}

func TestDescribeDomain(t *testing.T) {
	s := newCluster(t, "n1 n2", pipeline, "CREATE PLACEMENT p FROM c TO m REQUIRE COLOCATION")
	s.on("n1")
	s.run("d", "ALTER DOMAIN SET PLACEMENT PREFER COLOCATION")
	d := DescribeDomain(s.state, "d", s.cluster)
	s.expect("domain", strings.TrimSpace(fmt.Sprintln(d.Default, d.Rules, len(d.Groups), d.Groups[0].Host, keysText(d.Groups[0].Members), d.Planned, len(d.Unassigned))),
		"PREFER COLOCATION 1 1 n1 c m 0 0")
	s.node("n1").Live = false
	s.run("d", junction("later", "a", "b"))
	d = DescribeDomain(s.state, "d", s.cluster)
	s.expect("after a loss", strings.TrimSpace(fmt.Sprintln(d.Planned, keysText(d.Unassigned))), "11 later")
	if d := DescribeDomain(s.state, "nowhere", s.cluster); d.Rules != 0 {
		t.Error("a domain that does not exist has rules")
	}
	if d := DescribeDomain(catalogWithout(s), "d", s.cluster); len(d.Unassigned) != 0 {
		t.Error("a domain without a schedule has unassigned operators")
	}
}

// catalogWithout is the state of a cluster whose domain was never scheduled.
func catalogWithout(s *clustered) *catalog.State { return newCluster(s.T, "n1", pipeline).state }
