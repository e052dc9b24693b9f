package node

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plexus/engine/catalog"
	"plexus/engine/decide"
	"plexus/engine/handoff"
	"plexus/engine/interconnect"
	"plexus/engine/leader"
	"plexus/engine/node/nodepb"
	"plexus/engine/quiesce"
	"plexus/engine/session"
	"plexus/engine/session/document"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// cluster is what sessions see of the other nodes, and ask of them.
type cluster struct {
	node *Node

	lock    *primitives.Mutex
	notices map[*primitives.Notice]context.CancelFunc
}

func newCluster(n *Node) *cluster {
	c := &cluster{node: n, lock: primitives.NewMutex(n.world), notices: map[*primitives.Notice]context.CancelFunc{}}
	n.mesh.Handle(interconnect.RuntimeDescribe, c.described)
	return c
}

// Leader implements session.Cluster.
func (c *cluster) Leader() session.Leadership {
	raftID, known := c.node.group.Leader()
	if !known {
		return session.Leadership{}
	}
	_, leads := c.node.group.Tenure()
	l := session.Leadership{Known: true, Here: leads}
	if n, ok := c.node.group.State().NodeByRaft(raftID); ok {
		l.Node, l.ClientURL, l.ConsoleURL = n.ID, n.Client, n.Console
	}
	return l
}

// Planning implements session.Cluster.
func (c *cluster) Planning() decide.Cluster { return c.node.members.cluster() }

// Status implements session.Cluster.
func (c *cluster) Status() []session.NodeStatus {
	peers := c.node.members.peers()
	var list []session.NodeStatus
	for n := range c.node.group.State().Nodes() {
		s := session.NodeStatus{Node: n.ID, Role: roleName(n.Role), Incarnation: n.Counter, Cordoned: n.Cordoned, Availability: "unknown"}
		announced := interconnect.Announcement{Interconnect: n.Interconnect, Client: n.Client, Console: n.Console}
		if n.ID == c.node.members.self() {
			announced = c.node.mesh.Announced()
			s.Availability = "live"
		} else if p, ok := peers[n.ID]; ok {
			s.Availability = availabilityName(p.Availability)
			if p.Announced {
				announced = p.Announcement
			}
		}
		s.Terminating, s.Applied, s.Ready = announced.Terminating, announced.Applied, announced.Ready
		for _, endpoint := range []string{announced.Client, announced.Interconnect, announced.Console} {
			if endpoint != "" {
				s.Endpoints = append(s.Endpoints, endpoint)
			}
		}
		list = append(list, s)
	}
	return list
}

func roleName(r catalog.Role) string {
	if r == catalog.Voter {
		return "voter"
	}
	return "learner"
}

// availabilityName is the word of SHOW CLUSTER STATUS.
func availabilityName(a interconnect.Availability) string {
	if a == interconnect.Available {
		return "live"
	}
	return a.String()
}

// Describe implements session.Cluster.
func (c *cluster) Describe(ctx context.Context, node, domain string, key catalog.Key) ([]byte, error) {
	request, err := interconnect.Encode(&nodepb.DescribeRequest{Domain: domain, Kind: key.Kind.String(), Name: key.Name})
	if err != nil {
		return nil, err
	}
	return c.node.mesh.Call(ctx, node, interconnect.RuntimeDescribe, request)
}

// described answers Describe of another node.
func (c *cluster) described(_ context.Context, _ interconnect.Process, request []byte) ([]byte, error) {
	m := new(nodepb.DescribeRequest)
	if err := interconnect.Decode(request, m); err != nil {
		return nil, err
	}
	for kind := vocab.EntitySchema; kind <= vocab.EntityEmitter; kind++ {
		if kind.String() == m.GetKind() {
			return c.node.service.DescribeLocal(m.GetDomain(), catalog.Key{Kind: kind, Name: m.GetName()})
		}
	}
	return nil, &interconnect.Refusal{Class: interconnect.Unavailable, Subject: "kind", Detail: m.GetKind()}
}

// effect is a session's half of a move as handoffs want it.
type effect struct{ session.Effect }

// Commit implements handoff.Effect.
func (e effect) Commit(ctx context.Context) error {
	err := e.Effect.Commit(ctx)
	if errors.Is(err, session.ErrNotCommitted) {
		return errors.Join(handoff.ErrNotCommitted, err)
	}
	return err
}

// Ready implements handoff.Effect.
func (e effect) Ready(ctx context.Context) error { return e.Effect.Ready(ctx) }

// Move implements session.Cluster.
func (c *cluster) Move(ctx context.Context, m session.Move, e session.Effect) error {
	return moveError(c.node.leader.Move(ctx, leader.Move(m), effect{e}))
}

// moveError tells failures before the effect from those after it.
func moveError(err error) error {
	var hold *quiesce.HoldError
	var prepare *handoff.PrepareError
	var drain *quiesce.DrainError
	var lost *leader.LostError
	switch {
	case errors.Is(err, leader.ErrTenure):
		return session.ErrNotCommitted
	case errors.As(err, &lost):
		return &session.MoveError{Code: string(catalog.Conflict), Err: lost}
	case errors.As(err, &drain):
		return &session.MoveError{Code: "drain", Err: drain}
	case errors.As(err, &hold):
		return &session.MoveError{Code: "node", Uncertain: hold.Engagement == quiesce.Uncertain, Err: err}
	case errors.As(err, &prepare):
		return &session.MoveError{Code: "node", Err: err}
	}
	return err
}

// Drain implements session.Cluster.
func (c *cluster) Drain(ctx context.Context, t session.Task, node string) (*session.TaskOutcome, error) {
	d, err := c.node.leader.Drain(ctx, t.Owner, node)
	if err != nil {
		return nil, err
	}
	var lines []document.Value
	for i := range d.Moves {
		m := &d.Moves[i]
		replicas := "-"
		if len(m.Replicas) > 0 {
			replicas = strings.Join(m.Replicas, ",")
		}
		promoted := "no"
		if m.Promoted {
			promoted = "yes"
		}
		lines = append(lines, new(document.Map).Set("kind", document.Text(m.Kind.Snake())).Set("name", document.Text(m.Name)).
			Set("from", document.Text(m.From)).Set("to", document.Text(m.To)).
			Set("replicas", document.Text(replicas)).Set("promoted_replica", document.Text(promoted)).Value())
	}
	level := decide.Dynamic
	if len(d.Moves) > 0 {
		level = decide.EntityPause
	}
	report := new(document.Map).
		Set(document.Bare, document.Text(fmt.Sprintf("drained node '%s': moved %d of %d graph nodes", node, d.Moved, d.Units))).
		Set("quiesce level", document.Text(level.String()))
	if len(lines) > 0 {
		report.Set("moves", document.List(lines...))
	}
	outcome := &session.TaskOutcome{}
	var failures []string
	for _, f := range d.Failed {
		text := fmt.Sprintf("kind=%s name=%s: %s", f.Kind.Snake(), f.Name, f.Why)
		report.Set("failed", document.Text(text))
		failures = append(failures, text)
	}
	outcome.Document = report.Value()
	if len(failures) > 0 {
		outcome.Failed = &catalog.Refusal{Code: "node", Message: fmt.Sprintf("node '%s' is not empty: %d of %d graph nodes moved; %s",
			node, d.Moved, d.Units, strings.Join(failures, "; "))}
	}
	return outcome, nil
}

// Drop implements session.Cluster.
func (c *cluster) Drop(ctx context.Context, _ session.Task, node string) (*session.TaskOutcome, error) {
	err := c.node.leader.Drop(ctx, node)
	var refused *catalog.Refusal
	var prepare *handoff.PrepareError
	switch {
	case errors.As(err, &refused):
		return &session.TaskOutcome{Failed: refused}, nil
	case errors.As(err, &prepare):
		return &session.TaskOutcome{Failed: &catalog.Refusal{Code: "node", Message: prepare.Error()}}, nil
	case err != nil:
		return nil, err
	}
	line := new(document.Map).Set(document.Bare, document.Text(fmt.Sprintf("dropped node '%s'", node)))
	return &session.TaskOutcome{Document: line.Value()}, nil
}

// Follow implements session.Cluster.
func (c *cluster) Follow() *primitives.Notice {
	n := primitives.NewNotice(c.node.world)
	ctx, cancel := primitives.WithCancel(c.node.tasks.Context(), c.node.world)
	_ = c.lock.Lock(context.Background())
	c.notices[n] = cancel
	c.lock.Unlock()
	c.node.tasks.Go("cluster followers", func(context.Context) error {
		_ = c.watch(ctx, n) // it ends with its follower
		return nil
	})
	return n
}

func (c *cluster) watch(ctx context.Context, n *primitives.Notice) error {
	peers, state := c.node.mesh.Follow(interconnect.Reach|interconnect.News), c.node.group.Follow()
	defer c.node.mesh.Unfollow(peers)
	defer c.node.group.Unfollow(state)
	for {
		if _, err := primitives.Select(ctx, c.node.world, peers.OnChange(), state.OnChange()); err != nil {
			return err
		}
		n.Raise()
	}
}

// Unfollow implements session.Cluster.
func (c *cluster) Unfollow(n *primitives.Notice) {
	_ = c.lock.Lock(context.Background())
	cancel := c.notices[n]
	delete(c.notices, n)
	c.lock.Unlock()
	if cancel != nil {
		cancel()
	}
}

var _ session.Cluster = (*cluster)(nil)
