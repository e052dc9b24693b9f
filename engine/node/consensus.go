package node

import (
	"context"
	"errors"
	"fmt"
	"slices"

	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/engine/control"
	"plexus/engine/interconnect"
	"plexus/primitives"
)

// consensus carries what members of the group say to each other over the
// interconnect. Appends and their answers travel in order on a stream of their
// own, everything else as small messages that bulk cannot delay.
type consensus struct {
	world primitives.World
	mesh  *interconnect.Mesh
	seeds []string
	// Set by start.
	group *control.Group
	tasks *primitives.Group

	lock    *primitives.Mutex // guards what follows; nothing waits under it
	streams map[string]*appendStream
	// introduced are the members that admitted this process, until it has a state
	// that names them.
	introduced []control.Member
}

// appendsQueued bounds the appends that wait for one peer. Raft itself bounds
// those in flight; what finds no room is sent again.
const appendsQueued = 64

func newConsensus(w primitives.World, m *interconnect.Mesh, seeds []string) *consensus {
	c := &consensus{world: w, mesh: m, seeds: seeds, lock: primitives.NewMutex(w), streams: map[string]*appendStream{}}
	m.Handle(interconnect.HelloJoin, c.admit)
	m.Handle(interconnect.RaftMessage, c.message)
	m.HandleStream(interconnect.RaftAppend, c.appends)
	m.HandleTransfer(interconnect.RaftSnapshotSection, c.section)
	return c
}

// start lets the group be reached. Before that the mesh serves nothing.
func (c *consensus) start(g *control.Group, tasks *primitives.Group) { c.group, c.tasks = g, tasks }

// Send implements control.Peers.
func (c *consensus) Send(messages []*pb.Message) {
	for _, m := range messages {
		if !c.send(m) {
			c.group.Unreachable(m.GetTo())
		}
	}
}

func (c *consensus) send(m *pb.Message) bool {
	node, ok := c.nodeOf(m.GetTo())
	if !ok {
		return false
	}
	encoded, err := control.EncodeMessage(m)
	if err != nil {
		c.world.Log().Error("a consensus message was not encoded", "error", err)
		return false
	}
	switch m.GetType() {
	case pb.MsgApp, pb.MsgAppResp, pb.MsgSnap:
		return c.stream(node).queue.TrySend(encoded)
	}
	return c.mesh.Send(node, interconnect.RaftMessage, encoded)
}

// nodeOf names the node of a raft id.
func (c *consensus) nodeOf(raftID uint64) (string, bool) {
	if n, ok := c.group.State().NodeByRaft(raftID); ok {
		return n.ID, true
	}
	_ = c.lock.Lock(context.Background())
	defer c.lock.Unlock()
	at := slices.IndexFunc(c.introduced, func(m control.Member) bool { return m.RaftID == raftID })
	if at < 0 {
		return "", false
	}
	return c.introduced[at].Node, true
}

// appendStream carries the appends, or their answers, for one peer.
type appendStream struct {
	node  string
	queue *primitives.Queue[[]byte]
}

func (c *consensus) stream(node string) *appendStream {
	_ = c.lock.Lock(context.Background())
	defer c.lock.Unlock()
	s := c.streams[node]
	if s == nil {
		s = &appendStream{node: node, queue: primitives.NewQueue[[]byte](c.world, appendsQueued)}
		c.streams[node] = s
		c.tasks.Go("raft send", func(ctx context.Context) error { return c.run(ctx, s) })
	}
	return s
}

// run sends what is queued for one peer over one stream after another.
func (c *consensus) run(ctx context.Context, s *appendStream) error {
	for {
		first, err := s.queue.Recv(ctx)
		if err != nil {
			return err
		}
		switch err := c.pump(ctx, s, first); {
		case ctx.Err() != nil:
			return err
		case err == nil:
			continue // the next one takes another connection
		}
		// What was queued meanwhile refers to a stream that is lost.
		for _, more := s.queue.TryRecv(); more; _, more = s.queue.TryRecv() {
		}
		if n, ok := c.group.State().Node(s.node); ok {
			c.group.Unreachable(n.RaftID)
		}
	}
}

// pump sends until the stream breaks or its connection retires, which is no error.
func (c *consensus) pump(ctx context.Context, s *appendStream, next []byte) error {
	stream, err := c.mesh.Open(ctx, s.node, interconnect.RaftAppend)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		if err := stream.Send(next); err != nil {
			return err
		}
		fired, err := primitives.Select(ctx, c.world, s.queue.OnRecv(&next), stream.OnRetiring())
		switch {
		case err != nil:
			return err
		case fired == 1:
			return nil
		}
	}
}

// appends takes the stream of a peer.
func (c *consensus) appends(ctx context.Context, from interconnect.Process, s *interconnect.Stream) error {
	for {
		b, err := s.Recv()
		if err != nil {
			return err
		}
		if err := c.receive(ctx, from, b); err != nil {
			return err
		}
	}
}

func (c *consensus) message(ctx context.Context, from interconnect.Process, request []byte) ([]byte, error) {
	return nil, c.receive(ctx, from, request)
}

func (c *consensus) receive(ctx context.Context, from interconnect.Process, b []byte) error {
	m, err := control.DecodeMessage(b)
	if err != nil {
		return errors.Join(interconnect.ErrMalformed, err)
	}
	return c.group.Receive(ctx, from.RaftID, m)
}

// section serves one section of a snapshot.
func (c *consensus) section(ctx context.Context, from interconnect.Process, request []byte) (*interconnect.Source, error) {
	id, section, err := control.DecodeSectionRequest(request)
	if err != nil {
		return nil, errors.Join(interconnect.ErrMalformed, err)
	}
	content, err := c.group.ReadSection(ctx, from.RaftID, id, section)
	if err != nil {
		return nil, err
	}
	return interconnect.SourceOf(content), nil
}

// Section implements control.Peers.
func (c *consensus) Section(ctx context.Context, from uint64, id control.SnapshotID, section int) ([]byte, error) {
	node, ok := c.nodeOf(from)
	if !ok {
		return nil, interconnect.ErrUnknownNode
	}
	request, err := control.EncodeSectionRequest(id, section)
	if err != nil {
		return nil, err
	}
	return c.mesh.FetchAll(ctx, node, interconnect.RaftSnapshotSection, request, interconnect.SectionMax)
}

// admit answers a claim, or says who can.
func (c *consensus) admit(ctx context.Context, _ interconnect.Process, request []byte) ([]byte, error) {
	claim, err := control.DecodeClaim(request)
	if err != nil {
		return nil, errors.Join(interconnect.ErrMalformed, err)
	}
	admission, err := c.group.AdmitMember(ctx, claim)
	return control.EncodeAnswer(admission, err)
}

// Join implements control.Peers: it asks the seeds and the members it knows, and
// goes where they point to.
func (c *consensus) Join(ctx context.Context, claim control.Claim) (control.Admission, error) {
	request, err := claim.Encode()
	if err != nil {
		return control.Admission{}, err
	}
	candidates := slices.Clone(c.seeds)
	for n := range c.group.State().Nodes() {
		if n.ID != claim.Node && n.Interconnect != "" && !slices.Contains(candidates, n.Interconnect) {
			candidates = append(candidates, n.Interconnect)
		}
	}
	failure := &nobodyError{}
	var foreign *control.ClaimError
	found := false
	for i := 0; i < len(candidates) && i < joinCandidatesMax; i++ {
		answer, err := c.mesh.CallTo(ctx, candidates[i], interconnect.HelloJoin, request)
		if err != nil {
			refused := refusedAtSetup(err)
			switch {
			case refused == nil:
			case refused.Case == control.ClaimOtherCluster || refused.Case == control.ClaimOtherFormat:
				foreign = refused
			default:
				return control.Admission{}, refused
			}
			failure.add(candidates[i], err)
			continue
		}
		found = true
		admission, err := control.DecodeAnswer(answer)
		var elsewhere *control.NotLeaderError
		switch {
		case err == nil:
			c.introduce(claim, admission)
			return admission, nil
		case errors.As(err, &elsewhere):
			if at := elsewhere.Interconnect; at != "" && !slices.Contains(candidates[:i+1], at) {
				candidates = slices.Insert(candidates, i+1, at)
			}
			failure.add(candidates[i], err)
		default:
			return control.Admission{}, err
		}
	}
	// Where a member was, somebody else may listen by now: a stranger's word counts
	// only while no member of this cluster answers.
	if foreign != nil && !found {
		return control.Admission{}, foreign
	}
	return control.Admission{}, failure
}

// nobodyError says of each member that was asked why it did not admit this node.
type nobodyError struct{ errs []error }

func (e *nobodyError) add(endpoint string, err error) {
	if errors.Is(err, interconnect.ErrHTTP) {
		err = fmt.Errorf("--join %s: %w", endpoint, interconnect.ErrHTTP)
	}
	e.errs = append(e.errs, err)
}

func (e *nobodyError) Error() string {
	text := "no member admitted this node"
	for _, err := range e.errs {
		text += "; " + err.Error()
	}
	return text
}

func (e *nobodyError) Unwrap() []error { return e.errs }

// Hopeless implements control.Hopeless: what answers is no member's interconnect, or
// the certificates do not fit.
func (e *nobodyError) Hopeless() bool {
	return slices.ContainsFunc(e.errs, func(err error) bool {
		return errors.Is(err, interconnect.ErrHTTP) || interconnect.InPhase(err, interconnect.PhaseAuthentication)
	})
}

// refusedAtSetup is what a refusal of the connection means for a claim, nil when it
// may be accepted another time. What replicated state or a newer process proves, any
// member knows for certain.
func refusedAtSetup(err error) *control.ClaimError {
	var refused *interconnect.SetupError
	if !errors.As(err, &refused) {
		return nil
	}
	switch refused.Code {
	case interconnect.SetupFormat:
		return control.RefuseClaim(control.ClaimOtherFormat, refused.Detail)
	case interconnect.SetupCluster:
		return control.RefuseClaim(control.ClaimOtherCluster, refused.Detail)
	case interconnect.SetupRemoved:
		return control.RefuseClaim(control.ClaimDropped, refused.Detail)
	case interconnect.SetupStale, interconnect.SetupDuplicate:
		return control.RefuseClaim(control.ClaimStale, refused.Detail)
	}
	return nil
}

// joinCandidatesMax bounds one round: members may point at each other in turn.
const joinCandidatesMax = 2 * nodesMax

// introduce lets this process answer the members before its own state names them.
// It becomes a member first: peers take nothing from strangers.
func (c *consensus) introduce(claim control.Claim, a control.Admission) {
	if claim.RaftID == 0 {
		p := c.mesh.Process()
		p.RaftID = a.RaftID
		c.mesh.Identify(p, a.Cluster)
	}
	_ = c.lock.Lock(context.Background())
	c.introduced = a.Members
	c.lock.Unlock()
	for range c.group.State().Nodes() {
		return // whom to be connected with is known from the state
	}
	var peers []interconnect.Peer
	for _, m := range a.Members {
		peers = append(peers, interconnect.Peer{Node: m.Node, RaftID: m.RaftID, Endpoint: m.Interconnect})
	}
	c.mesh.SetPeers(peers)
}

var _ control.Peers = (*consensus)(nil)
