package harness

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cucumber/godog"
)

// nodePattern is a node by its name or by what it is: its role now, or what a
// step did to it.
const nodePattern = `(node-\d+|the leader|a follower|another follower|the owner of \w+ \w+|a node without \w+ \w+` +
	`|the (?:killed|frozen|stopped|joining|lonely|noted|certified) node)`

var (
	// severalPattern is what steps speak of that a cluster of one has not.
	severalPattern = regexp.MustCompile(`\b(a follower|another follower|a node without|the links?)\b`)
	// growthPattern are the steps by which a cluster grows.
	growthPattern = regexp.MustCompile(`^node-\d+ (joins|tries to join)\b`)
)

// node finds a node by its name or role. One node plays every role of a cluster
// of one.
func (s *Scene) node(ctx context.Context, name string) (Node, error) {
	nodes := s.stage.Nodes()
	if len(nodes) == 0 {
		return nil, errNoCluster
	}
	if n := find(nodes, name); n != nil {
		return n, nil
	}
	if n, remembered := s.roles[name]; remembered {
		return n, nil
	}
	if strings.HasPrefix(name, "node-") {
		return nil, fmt.Errorf("no %s in this cluster", name)
	}
	if strings.HasSuffix(name, " node") {
		return nil, fmt.Errorf("no step made a node %q", name)
	}
	if len(nodes) == 1 {
		if kind, one, ok := ownerRole(name); ok {
			s.owners[kind+" "+one] = nodes[0].Name()
		}
		return nodes[0], nil
	}
	var found Node
	err := s.eventually(ctx, 0, func(ctx context.Context) (observation, error) {
		var err error
		found, err = s.role(ctx, name)
		return observation{name + " is not there", found != nil}, err
	})
	if err != nil {
		return nil, fmt.Errorf("looking for %s: %w", name, err)
	}
	return found, nil
}

func find(nodes []Node, name string) Node {
	if i := slices.IndexFunc(nodes, func(n Node) bool { return n.Name() == name }); i >= 0 {
		return nodes[i]
	}
	return nil
}

// role finds who plays a role now, nil for nobody.
func (s *Scene) role(ctx context.Context, name string) (Node, error) {
	v, err := s.latest(ctx)
	if err != nil {
		return nil, err
	}
	alive := s.alive()
	leader := find(alive, v.Leader)
	switch {
	case name == "the leader":
		return leader, nil
	case name == "a follower", name == "another follower":
		if leader == nil {
			return nil, nil
		}
		for _, n := range alive {
			if n != leader && (name == "a follower" || n != s.roles[lastFollower]) {
				if name == "a follower" {
					s.roles[lastFollower] = n
				}
				return n, nil
			}
		}
		return nil, nil
	}
	kind, one, owns := ownerRole(name)
	owner, known := v.owner(s.domain(), kind, one)
	if !known {
		return nil, fmt.Errorf("the schedule holds no %s %s in domain %q", kind, one, s.domain())
	}
	if owns {
		s.owners[kind+" "+one] = owner
		return find(alive, owner), nil
	}
	for _, n := range alive {
		if owner != "" && n.Name() != owner {
			return n, nil
		}
	}
	return nil, nil
}

// ownerRole reads a role that names an operator; owns is false for nodes that do
// not execute it.
func ownerRole(role string) (kind, name string, owns bool) {
	words := strings.Fields(role)
	if len(words) < 2 {
		return "", "", false
	}
	return words[len(words)-2], words[len(words)-1], strings.HasPrefix(role, "the owner of ")
}

// lastFollower is the key of the follower a step spoke about last.
const lastFollower = "the last follower"

// remember lets later steps speak of a node by what was done to it.
func (s *Scene) remember(what string, n Node) { s.roles["the "+what+" node"] = n }

// domain is what the operator selected.
func (s *Scene) domain() string {
	for _, n := range s.sessions {
		if n.name == operator && n.session != nil {
			return n.session.Domain()
		}
	}
	for _, n := range s.sessions {
		if n.name == operator {
			return n.domain
		}
	}
	return ""
}

// ownerSteps speak of who executes an operator.
func (s *Scene) ownerSteps(sc *godog.ScenarioContext) {
	const work = `the owner of (\w+) (\w+)`
	s.define(sc, `^`+work+` is noted$`, func(ctx context.Context, kind, name string) error {
		_, err := s.node(ctx, "the owner of "+kind+" "+name)
		return err
	})
	s.define(sc, `^`+work+` (is|is not) `+nodePattern+within+`$`, func(ctx context.Context, kind, name, verb, node, bound string) error {
		n, err := s.node(ctx, node)
		if err != nil {
			return err
		}
		return s.ownerIs(ctx, kind, name, bound, func(owner string) bool { return owner != "" && (owner == n.Name()) == (verb == "is") })
	})
	s.define(sc, `^`+work+` changes`+within+`$`, func(ctx context.Context, kind, name, bound string) error {
		before, noted := s.owners[kind+" "+name]
		if !noted {
			return fmt.Errorf("no step before spoke of the owner of %s %s", kind, name)
		}
		return s.ownerIs(ctx, kind, name, bound, func(owner string) bool { return owner != "" && owner != before })
	})
	s.define(sc, `^`+work+` stays for `+durationPattern+`$`, func(ctx context.Context, kind, name, text string) error {
		before, noted := s.owners[kind+" "+name]
		if !noted {
			return fmt.Errorf("no step before spoke of the owner of %s %s", kind, name)
		}
		during, err := optionalDuration(text)
		if err != nil {
			return err
		}
		return s.steadily(ctx, during, func(ctx context.Context) (observation, error) {
			v, err := s.latest(ctx)
			if err != nil {
				return observation{}, err
			}
			owner, _ := v.owner(s.domain(), kind, name)
			return observation{"the owner is " + owner, owner == before}, nil
		})
	})
	s.define(sc, `^`+nodePattern+` owns nothing`+within+`$`, func(ctx context.Context, node, bound string) error {
		n, err := s.node(ctx, node)
		if err != nil {
			return err
		}
		return s.seen(ctx, bound, func(v *View) (string, bool) {
			var owned []string
			for _, w := range v.Work {
				if w.Owner == n.Name() {
					owned = append(owned, w.Kind+" "+w.Name)
				}
			}
			return "it owns " + strings.Join(owned, ", "), len(owned) == 0
		})
	})
	s.define(sc, `^(\w+) (\w+) and (\w+) (\w+) have (one owner|different owners)`+within+`$`,
		func(ctx context.Context, kind, name, otherKind, otherName, what, bound string) error {
			return s.seen(ctx, bound, func(v *View) (string, bool) {
				a, _ := v.owner(s.domain(), kind, name)
				b, _ := v.owner(s.domain(), otherKind, otherName)
				return fmt.Sprintf("they are on %s and %s", a, b), a != "" && b != "" && (a == b) == (what == "one owner")
			})
		})
	s.define(sc, `^every operator has an owner`+within+`$`, func(ctx context.Context, bound string) error {
		return s.seen(ctx, bound, func(v *View) (string, bool) {
			var without []string
			for _, w := range v.Work {
				if n := find(s.alive(), w.Owner); n == nil && w.Owner != everyVoter {
					without = append(without, w.Kind+" "+w.Name)
				}
			}
			return "nobody who runs owns " + strings.Join(without, ", "), len(without) == 0
		})
	})
}

func (s *Scene) ownerIs(ctx context.Context, kind, name, bound string, holds func(owner string) bool) error {
	return s.seen(ctx, bound, func(v *View) (string, bool) {
		owner, known := v.owner(s.domain(), kind, name)
		if !known {
			return "it is not in the schedule", false
		}
		return "the owner is " + owner, holds(owner)
	})
}

// seen waits until the furthest view holds.
func (s *Scene) seen(ctx context.Context, bound string, look func(v *View) (string, bool)) error {
	d, err := optionalDuration(bound)
	if err != nil {
		return err
	}
	return s.eventually(ctx, d, func(ctx context.Context) (observation, error) {
		v, err := s.latest(ctx)
		if err != nil {
			return observation{}, err
		}
		seen, holds := look(v)
		return observation{seen, holds}, nil
	})
}
