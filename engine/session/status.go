package session

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"plexus/engine/catalog"
	"plexus/engine/decide"
	"plexus/engine/session/document"
	"plexus/engine/session/sessionpb"
	"plexus/primitives"
)

// everyVoter stands for the owner of what every live voter executes.
const everyVoter = "*"

// placedOn names the node that executes an operator, "" for none. A domain that was
// never scheduled is executed by whoever holds its plan.
func (q *request) placedOn(domain string, key catalog.Key) string {
	s, scheduled := q.state().Schedule(domain)
	if !scheduled {
		return q.node()
	}
	a, ok := s.Assignment(key)
	switch {
	case !ok:
		return ""
	case a.Everywhere:
		return everyVoter
	}
	return a.Primary
}

// standbys names the replicas of an operator.
func (q *request) standbys(domain string, key catalog.Key) document.Value {
	s, _ := q.state().Schedule(domain)
	if a, ok := s.Assignment(key); ok {
		return replicas(a.Replicas)
	}
	return document.None()
}

// remote asks the node that executes an operator for its description; nil where
// this node does, or nobody answers.
func (q *request) remote(ctx context.Context, domain string, key catalog.Key) document.Value {
	node := q.placedOn(domain, key)
	if q.service.deps.Cluster == nil || node == "" || node == everyVoter || node == q.node() || !decide.Executes(key.Kind) {
		return nil
	}
	call, cancel := primitives.WithDeadline(ctx, q.service.world, q.service.world.Clock().Now().Add(describeTimeout))
	defer cancel()
	encoded, err := q.service.deps.Cluster.Describe(call, node, domain, key)
	v := new(sessionpb.Document)
	if err == nil {
		err = proto.Unmarshal(encoded, v)
	}
	if err != nil {
		q.service.world.Log().Debug("the node that executes an operator did not describe it", "node", node, "error", err)
		return nil
	}
	return v
}

// DescribeLocal describes an operator as this node executes it, for a node that was
// asked and does not.
func (s *Service) DescribeLocal(domain string, key catalog.Key) ([]byte, error) {
	q := &request{service: s, domain: domain}
	d, ok := q.state().Domain(domain)
	if !ok {
		return nil, fmt.Errorf("domain '%s' does not exist", domain)
	}
	m, ok := q.state().Model(domain, key)
	if !ok {
		return nil, fmt.Errorf("%s does not exist", key)
	}
	v, ok := q.describeModel(context.Background(), d, m)
	if !ok {
		return nil, fmt.Errorf("%s cannot be described", key)
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(v)
}

func (q *request) node() string { return q.service.deps.Group.Identity().NodeID }

// clusterStatus is SHOW CLUSTER STATUS.
func (q *request) clusterStatus() document.Value {
	group := q.service.deps.Group
	id, raft, state := group.Identity(), group.Status(), q.state()
	cluster := new(document.Map).Set("id", document.Text(id.ClusterID)).Set("uuid", document.Text(id.Cluster.String())).
		Set("self", document.Text(id.NodeID))
	leader := document.None()
	if l := q.service.leader(); l.Known {
		leader = document.TextOrNone(l.Node)
	}
	var cordoned []string
	for n := range state.Nodes() {
		if n.Cordoned {
			cordoned = append(cordoned, n.ID)
		}
	}
	if len(cordoned) == 0 {
		cordoned = []string{none}
	}
	consensus := new(document.Map).Set("current_leader", leader).Set("term", document.Uint(raft.Term)).
		Set("state", document.Text(raft.Role)).Set("last_index", document.Uint(raft.LastIndex)).
		Set("applied", document.Uint(state.Applied)).Set("commit", document.Uint(raft.Commit)).
		Set("cordoned_nodes", document.Text(strings.Join(cordoned, ",")))
	schedule, warnings := q.assignments()
	if raft.Failed != nil {
		warnings = append(warnings, document.Text(raft.Failed.Error()))
	}
	return new(document.Map).Set("cluster", cluster.Value()).Set("members", document.List(q.members()...)).
		Set("raft", consensus.Value()).Set("domains", document.List(q.domains()...)).
		Set("schedule", document.List(schedule...)).Set("warnings", document.List(warnings...)).Value()
}

// members lists the nodes of the cluster.
func (q *request) members() (list []document.Value) {
	var members []NodeStatus
	if c := q.service.deps.Cluster; c != nil {
		members = c.Status()
	} else {
		id := q.service.deps.Group.Identity()
		members = []NodeStatus{{
			Node: id.NodeID, Role: "voter", Availability: "live", Incarnation: id.Counter, Endpoints: []string{q.service.deps.ClientURL},
			Terminating: q.service.stopping.IsSet(), Applied: q.state().Applied,
		}}
	}
	for _, n := range members {
		list = append(list, new(document.Map).Set(document.Name, document.Text(n.Node)).Set("role", document.Text(n.Role)).
			Set("incarnation", document.Uint(n.Incarnation)).Set("availability", document.Text(n.Availability)).
			Set("terminating", document.Bool(n.Terminating)).Set("cordoned", document.Bool(n.Cordoned)).
			Set("endpoints", document.TextOrNone(strings.Join(n.Endpoints, ","))).
			Set("applied", document.Uint(n.Applied)).Set("ready", document.Uint(n.Ready)).Value())
	}
	return list
}

func (q *request) domains() (list []document.Value) {
	for d := range q.state().Domains() {
		word := strings.ToUpper(status(d.Running)[:1]) + strings.ToLower(status(d.Running)[1:])
		m := new(document.Map).Set(document.Name, document.Text(d.Name)).
			Set("status", document.Text(word)).Set("pace", document.Text(pace(d)))
		if d.Pace != nil {
			m.Set("period", document.Text(d.Pace.Period.Text)).Set("skew", document.Text(d.Pace.Skew.Text))
		}
		if d.Lease != nil {
			m.Set("changed_by", document.Text(strings.ReplaceAll(d.Lease.Owner, " ", ":")))
		}
		list = append(list, m.Value())
	}
	return list
}

// assignments lists who executes what, and warns of what nobody does.
func (q *request) assignments() (list, warnings []document.Value) {
	for d := range q.state().Domains() {
		for m := range q.state().Models(d.Name) {
			if !decide.Executes(m.Kind) {
				continue
			}
			owner := q.placedOn(d.Name, m.Key)
			list = append(list, new(document.Map).Set("domain", document.Text(d.Name)).Set("kind", document.Text(m.Kind.Snake())).
				Set("name", document.Text(m.Name)).Set("owner", document.TextOrNone(owner)).Set("replicas", q.standbys(d.Name, m.Key)).Value())
			if owner == "" {
				warnings = append(warnings, document.Text(fmt.Sprintf("no node executes %s of domain '%s'", m.Key, d.Name)))
			}
		}
		if err := q.service.deps.Runtime.ActivationFailure(d.Name); err != nil {
			warnings = append(warnings, document.Text(fmt.Sprintf("domain '%s' is not activated on node '%s': %s", d.Name, q.node(), cause(err))))
		}
	}
	return list, warnings
}
