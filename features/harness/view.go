package harness

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plexus/primitives"
)

// View is the cluster as one node sees it.
type View struct {
	Leader  string // "" when none is known
	Applied uint64
	Members []Member
	Work    []Work
}

// Member is a node of the cluster.
type Member struct {
	Name, Role, Availability string
	Cordoned                 bool
}

// Work is an operator and who executes it, "" for nobody.
type Work struct{ Domain, Kind, Name, Owner string }

// everyVoter is the owner of what every live voter executes.
const everyVoter = "*"

// viewWithin bounds the question to one node: it may be cut off.
const viewWithin = 2 * time.Second

// view asks one node.
func (s *Scene) view(ctx context.Context, n Node) (*View, error) {
	w := s.stage.World()
	ctx, cancel := primitives.WithDeadline(ctx, w, w.Clock().Now().Add(viewWithin))
	defer cancel()
	session, err := s.stage.Client(ctx, s.stage.Credentials(), []Node{n}, "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Name(), err)
	}
	defer session.Drop()
	reply, err := session.Execute(ctx, "SHOW CLUSTER STATUS")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Name(), err)
	}
	if !reply.Completed() {
		return nil, fmt.Errorf("%s: %s", n.Name(), reply.Refusal)
	}
	return readView(reply.Document), nil
}

func readView(document any) *View {
	v := &View{Leader: named(document, "raft.current_leader")}
	fmt.Sscan(named(document, "raft.applied"), &v.Applied)
	for _, m := range list(document, "members") {
		v.Members = append(v.Members, Member{
			Name: named(m, "name"), Role: named(m, "role"), Availability: named(m, "availability"),
			Cordoned: named(m, "cordoned") == "true",
		})
	}
	for _, a := range list(document, "schedule") {
		v.Work = append(v.Work, Work{Domain: named(a, "domain"), Kind: named(a, "kind"), Name: named(a, "name"), Owner: named(a, "owner")})
	}
	return v
}

// named returns a text of the document, "" for none.
func named(document any, path string) string {
	value, found := lookup(document, path)
	if text := plain(value); found && text != absent {
		return text
	}
	return ""
}

func list(document any, path string) []any {
	value, _ := lookup(document, path)
	items, _ := value.([]any)
	return items
}

// member returns what the view says of a node, nil when it is none of the cluster.
func (v *View) member(name string) *Member {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return &v.Members[i]
		}
	}
	return nil
}

// owner returns who executes an operator; known is false for one that does not
// exist.
func (v *View) owner(domain, kind, name string) (owner string, known bool) {
	for _, w := range v.Work {
		if w.Domain == domain && w.Kind == kind && w.Name == name {
			return w.Owner, true
		}
	}
	return "", false
}

// alive returns the nodes that run and reach others.
func (s *Scene) alive() []Node {
	var nodes []Node
	for _, n := range s.stage.Nodes() {
		if n.Running() && !n.Frozen() && n != s.lonely {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// latest asks every node that can answer and returns the view that is furthest
// ahead.
func (s *Scene) latest(ctx context.Context) (*View, error) {
	var latest *View
	var problems []string
	for _, n := range s.alive() {
		v, err := s.view(ctx, n)
		switch {
		case err != nil:
			problems = append(problems, err.Error())
		case latest == nil, v.Applied > latest.Applied, v.Applied == latest.Applied && latest.Leader == "":
			latest = v
		}
	}
	if latest == nil {
		return nil, fmt.Errorf("no node tells the status of the cluster: %s", strings.Join(problems, "; "))
	}
	return latest, nil
}
