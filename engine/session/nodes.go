package session

import (
	"context"
	"fmt"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/engine/session/document"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
)

// nodeControl plans CORDON, UNCORDON, DRAIN and DROP NODE.
func (q *request) nodeControl(x *ast.NodeControl) planner {
	node := x.Node.Text
	return func(s *catalog.State) (*planned, *sessionpb.ExecuteReply) {
		n, ok := s.Node(node)
		if !ok {
			return nil, q.failed(ast.Diagnostics{ast.Errorf(decide.CodeNode, x.Node.Span, "node '%s' is not a member", node).WithHint("%s", decide.MeantNode(s))})
		}
		switch x.Verb {
		case ast.NodeCordon:
			return cordon(x, n, true, "cordoned node '%s'"), nil
		case ast.NodeUncordon:
			return cordon(x, n, false, "uncordoned node '%s'"), nil
		case ast.NodeDrain:
			return &planned{task: q.drain(node)}, nil
		}
		if q.service.deps.Cluster == nil {
			return nil, q.failed(ast.Diagnostics{ast.Errorf(decide.CodeNode, x.Node.Span, "node '%s' is the last voter", node)})
		}
		return &planned{outcomes: outcome(x, false, "dropped node '%s'", node), task: func(ctx context.Context, t Task) (*TaskOutcome, error) {
			return q.service.deps.Cluster.Drop(ctx, t, node)
		}}, nil
	}
}

func cordon(x *ast.NodeControl, n *catalog.Node, cordoned bool, done string) *planned {
	p := &planned{outcomes: outcome(x, false, done, n.ID)}
	if n.Cordoned != cordoned {
		p.steps = []*catalogpb.Step{cordonStep(n.ID, cordoned)}
	}
	return p
}

func cordonStep(node string, cordoned bool) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_CordonNode{CordonNode: &catalogpb.CordonNode{Id: node, Cordoned: cordoned}}}
}

// drain cordons a node and moves its work away.
func (q *request) drain(node string) func(context.Context, Task) (*TaskOutcome, error) {
	return func(ctx context.Context, t Task) (*TaskOutcome, error) {
		group := q.service.deps.Group
		if n, ok := group.State().Node(node); ok && !n.Cordoned {
			result, err := group.Propose(ctx, &catalogpb.Command{Steps: []*catalogpb.Step{cordonStep(node, true)}})
			switch {
			case err != nil:
				return nil, err
			case result.Refused != nil:
				return &TaskOutcome{Failed: result.Refused}, nil
			}
		}
		if q.service.deps.Cluster == nil {
			return &TaskOutcome{Failed: &catalog.Refusal{Code: catalog.NodeRefused, Message: fmt.Sprintf("no other node can take what node '%s' owns", node)}}, nil
		}
		return q.service.deps.Cluster.Drain(ctx, t, node)
	}
}

// relocate plans RELOCATE: one unit, one hold, one effect.
func (q *request) relocate(x *ast.Relocate) planner {
	return func(s *catalog.State) (*planned, *sessionpb.ExecuteReply) {
		r, found := decide.Relocate(s, q.domain, &x.Relocation, q.service.planning())
		if len(found) > 0 {
			return nil, q.failed(found)
		}
		p := &planned{lease: q.domain, awaits: []string{q.domain}, document: relocationReport(r, true)}
		p.outcomes = outcome(x, false, "%s", document.Render(p.document))
		if r.Step == nil {
			return p, nil
		}
		p.steps = []*catalogpb.Step{r.Step}
		d, _ := s.Domain(q.domain)
		p.hold = &Move{Domain: q.domain, Running: d.Running, Moves: r.Moves, Boundary: r.Boundary(), Target: r.Schedule}
		p.hold.Base, _ = s.Schedule(q.domain)
		return p, nil
	}
}

// describeRelocation is what RELOCATE would do.
func (q *request) describeRelocation(x *ast.DescribeRelocation) (document.Value, ast.Diagnostics) {
	if _, found := q.selected(x); len(found) > 0 {
		return nil, found
	}
	r, found := decide.Relocate(q.state(), q.domain, &x.Relocation, q.service.planning())
	if len(found) > 0 {
		return nil, found
	}
	return relocationReport(r, false), nil
}
