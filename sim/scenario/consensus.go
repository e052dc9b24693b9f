package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/control"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/brokers"
	"plexus/sim/campaign"
	"plexus/sim/fault"
	"plexus/sim/oracle"
)

// consensus is the control plane of several nodes by itself.
func consensus() campaign.Scenario {
	return campaign.Scenario{
		Name: "consensus",
		About: "Members of a consensus group take commands and reads while links, clocks, disks and processes suffer, " +
			"and members lose their disks and join again: what raft promises holds, and confirmed commands survive.",
		Horizon: time.Minute, Quiet: 20 * time.Second, Nodes: 3, Steps: 60_000,
		Setup: func(r *campaign.Run) {
			c := newConsensus(r)
			if !c.form() {
				return
			}
			for _, n := range c.nodes {
				r.Target(n.host)
				r.Supervise(n.host)
			}
			for _, k := range append(fault.Standard(), fault.Clustered()...) {
				if !strings.HasPrefix(string(k.Class), "name-") {
					r.Allow(k)
				}
			}
			r.Inject(fault.Broker("members", c.verbs()))
			r.Hold(c.history.Linearizable())
			r.Hold(oracle.Oracle{Name: "accepts-commands", Quiet: c.accepting})
			r.Hold(oracle.Oracle{Name: "elects-a-leader", Continuous: c.led})
			r.Hold(oracle.Oracle{Name: "agrees-on-members", Quiet: c.agreed})
		},
	}
}

const (
	// clientsPerNode ask the member of their own node; only the leader's can write.
	clientsPerNode  = 2
	clientThink     = 170 * time.Millisecond
	clientBound     = 3 * time.Second
	consensusKeys   = 4
	electedWithin   = 10 * time.Second
	operatorReads   = 100 * time.Millisecond
	formationBound  = time.Minute
	restPerRequest  = 10 // after the run is over clients ask that much less
	consensusCommit = 10 * time.Second
	dismissedWait   = 10 * time.Millisecond
)

// consensusRun is the ledger outside the nodes.
type consensusRun struct {
	run     *campaign.Run
	sim     *sim.Simulation
	nodes   []*consensusNode
	raft    *oracle.Consensus
	history *oracle.History

	asked     int
	confirmed []string
	refused   []string      // domains that no command may have left
	repeated  []command     // whose outcome is not known
	last      time.Duration // of the latest confirmed command
	healed    time.Duration // when the run was first seen to be over, 0 before
	damaged   brokers.Some  // sections that arrive damaged
	draw      *sim.Stream
	knobs     consensusKnobs
	story     *succession
}

// consensusKnobs are settings that differ between runs, so that bounds are met that
// the defaults meet once a day.
type consensusKnobs struct {
	entries, retain     uint64
	retainBytes, logCap uint64
	heartbeat, election time.Duration
	section             int
}

func drawConsensusKnobs(r *sim.Stream) consensusKnobs {
	k := consensusKnobs{
		entries: uint64(r.LogBetween(30, 1000)), retain: uint64(r.LogBetween(1, 200)),
		retainBytes: 64 << 20, logCap: 1 << 30,
		heartbeat: 250 * time.Millisecond, election: 1500 * time.Millisecond,
		section: int(r.LogBetween(256, 64<<10)),
	}
	if r.Below(4) == 0 {
		k.retainBytes = uint64(r.LogBetween(1, 8<<10))
		k.logCap = k.retainBytes + uint64(r.LogBetween(8<<10, 64<<10))
	}
	if r.Below(4) == 0 {
		k.heartbeat = time.Duration(r.Between(1, 5)) * 50 * time.Millisecond
		k.election = time.Duration(r.Between(3, 8)) * k.heartbeat
	}
	return k
}

// consensusNode is a machine with its member.
type consensusNode struct {
	c     *consensusRun
	index int
	host  *sim.Host
	group *control.Group    // of the running process
	tasks *primitives.Group // of the running process
	// founder says that the node may found the cluster, which it may once.
	founder  bool
	stopping bool
	open     [clientsPerNode]bool // the client waits for an answer
}

func newConsensus(r *campaign.Run) *consensusRun {
	c := &consensusRun{
		run: r, sim: r.Sim, raft: oracle.NewConsensus(r.Sim.Fail), history: oracle.NewHistory(searchTime), draw: r.Sim.Stream("workload/consensus"),
	}
	c.story = &succession{c: c, longest: map[*consensusNode]uint64{}}
	c.knobs = drawConsensusKnobs(r.Sim.Stream("workload/knobs"))
	for i := range r.Nodes {
		c.nodes = append(c.nodes, &consensusNode{c: c, index: i, host: r.Sim.Host(fmt.Sprintf("node-%d", i+1)), founder: i == 0})
	}
	return c
}

// form lets the first node found the cluster and the others join it, while nothing
// goes wrong. It reports whether the run may go on.
func (c *consensusRun) form() bool {
	for _, n := range c.nodes {
		n.host.Start("node", n.main)
	}
	formed := func() bool {
		for _, n := range c.nodes {
			if n.group == nil || c.agreedOn(n.group.State()) != nil {
				return false
			}
		}
		return true
	}
	if err := c.sim.RunUntil(formed, formationBound); err != nil {
		c.sim.Fail("forms", fmt.Sprintf("the cluster did not form: %v", err))
		return false
	}
	c.nodes[0].founder = false
	return true
}

// main is the program of a node.
func (n *consensusNode) main(ctx context.Context, w primitives.World) {
	n.forget()
	watched := n.c.raft.Process(n.host.Name())
	peers := &consensusPeers{node: n, w: w, proc: watched, known: map[uint64]netip.AddrPort{}, heard: map[uint64]netip.AddrPort{}}
	s := control.Defaults()
	s.Dir, s.NodeID = "/data", n.host.Name()
	s.SnapshotEntries, s.RetainEntries, s.RetainBytes, s.LogCap = n.c.knobs.entries, n.c.knobs.retain, n.c.knobs.retainBytes, n.c.knobs.logCap
	s.Heartbeat, s.Election, s.SectionBytes = n.c.knobs.heartbeat, n.c.knobs.election, n.c.knobs.section
	s.Peers, s.Applied = peers, watched.Applied
	s.Endpoints.Interconnect = netip.AddrPortFrom(n.host.Addr(), consensusPort).String()
	s.Found = func(context.Context) ([]*catalogpb.Step, error) { return n.c.founding(), nil }
	if !n.founder {
		s.Bootstrap, s.Join = control.BootstrapNever, []string{"members"}
	}
	g, err := control.Open(ctx, w, s)
	if err != nil {
		var damage *control.DamageError
		if errors.As(err, &damage) {
			n.c.sim.Fail("recovers", err.Error())
		}
		w.Log().Error("the member did not open", "error", err)
		return
	}
	watched.Recovered(g.State())
	peers.group = g
	if err := peers.listen(); err != nil {
		w.Log().Error("the member cannot listen", "error", err)
	} else if err := g.Start(context.Background()); err != nil {
		w.Log().Error("the member did not start", "error", err)
	}
	n.group = g
	n.work(ctx, w, peers)
	n.group = nil
	// The context is not that of the program: a stopped program still closes its log.
	if err := g.Stop(context.Background()); err != nil {
		w.Log().Error("the member did not stop well", "error", err)
	}
	peers.close()
}

// forget ends what the clients of an earlier process waited for.
func (n *consensusNode) forget() {
	n.group, n.stopping = nil, false
	for i, waits := range n.open {
		if waits {
			n.c.history.Unknown(n.client(i))
			n.open[i] = false
		}
	}
}

func (n *consensusNode) client(i int) int { return n.index*clientsPerNode + i }

// work serves and asks until the member ends or is told to stop.
func (n *consensusNode) work(ctx context.Context, w primitives.World, peers *consensusPeers) {
	g := n.group
	tasks := primitives.NewGroup(context.Background(), w)
	n.tasks = tasks
	peers.serve(tasks)
	tasks.Go("clients", func(ctx context.Context) error {
		known := len(n.c.confirmed)
		if err := g.Admit(ctx); err != nil {
			return nil
		}
		n.c.compare(g.State(), known)
		for i := range clientsPerNode {
			think := w.Entropy().Stream(fmt.Sprintf("client %d", i))
			tasks.Go("client", func(ctx context.Context) error { return n.ask(ctx, w, i, think) })
		}
		return nil
	})
	_, err := primitives.Select(ctx, w, g.OnEnd())
	if n.stopping = err != nil; n.stopping {
		// A leader that is told to stop leaves an heir.
		bound, cancel := primitives.WithDeadline(context.Background(), w, w.Clock().Now().Add(clientBound))
		if err := g.TransferLeadership(bound); err != nil {
			w.Log().Info("nobody took over the leadership", "error", err)
		}
		cancel()
	} else if err := g.Err(); err != nil {
		w.Log().Error("the member ended", "error", err)
		var refused *control.ClaimError
		if errors.As(err, &refused) {
			n.c.dismissed(n, g.Identity().RaftID, refused)
		}
	}
	tasks.Cancel(context.Canceled)
	_ = tasks.Wait(context.Background()) // what they do ends with the member
}

// ask is a client: it reads and writes registers, and makes domains that stay.
func (n *consensusNode) ask(ctx context.Context, w primitives.World, i int, think primitives.Entropy) error {
	c := n.c
	for {
		pause := time.Duration(think.Uint64() % uint64(2*clientThink))
		if c.run.Over() {
			pause *= restPerRequest
		}
		if err := primitives.Sleep(ctx, w, pause); err != nil {
			return nil
		}
		key := fmt.Sprintf("r%d", think.Uint64()%consensusKeys)
		bound, cancel := primitives.WithDeadline(ctx, w, w.Clock().Now().Add(clientBound))
		switch what := think.Uint64() % 8; {
		case n.group == nil:
		case n.group.Leads() && what == 0:
			n.create(bound)
		case n.group.Leads() && what == 1:
			n.repeat(bound, think)
		case n.group.Leads() && what == 2:
			n.half(bound)
		case n.group.Leads() && what < 6:
			n.write(bound, i, key)
		default:
			n.read(bound, i, key)
		}
		cancel()
		if ctx.Err() != nil {
			return nil
		}
	}
}

func (n *consensusNode) create(ctx context.Context) {
	c := n.c
	c.asked++
	name := fmt.Sprintf("d%d", c.asked)
	result, err := n.group.Propose(ctx, &catalogpb.Command{Steps: []*catalogpb.Step{createDomain(name)}})
	switch {
	case err != nil:
	case result.Refused != nil:
		c.sim.Fail("answers-its-own", fmt.Sprintf("a new domain is refused: %v", result.Refused))
	default:
		c.confirmed = append(c.confirmed, name)
		c.last = c.sim.Elapsed()
	}
}

func (n *consensusNode) write(ctx context.Context, i int, key string) {
	c := n.c
	c.asked++
	value := uint64(c.asked)
	c.history.Begin(n.client(i), key, true, value, c.sim.Elapsed())
	n.open[i] = true
	step := &catalogpb.Step{Body: &catalogpb.Step_AlterUser{AlterUser: &catalogpb.AlterUser{Name: key, PasswordHash: fmt.Sprint(value)}}}
	result, err := n.group.Propose(ctx, &catalogpb.Command{Steps: []*catalogpb.Step{step}})
	n.open[i] = false
	switch {
	case err != nil:
		c.history.Unknown(n.client(i))
	case result.Refused != nil:
		c.sim.Fail("answers-its-own", fmt.Sprintf("a write is refused: %v", result.Refused))
	default:
		c.history.End(n.client(i), value, c.sim.Elapsed())
		c.last = c.sim.Elapsed()
	}
}

func (n *consensusNode) read(ctx context.Context, i int, key string) {
	c, g := n.c, n.group
	c.history.Begin(n.client(i), key, false, 0, c.sim.Elapsed())
	n.open[i] = true
	index, err := g.ReadIndex(ctx)
	if err == nil {
		err = g.WaitApplied(ctx, index)
	}
	n.open[i] = false
	if err != nil {
		c.history.Unknown(n.client(i))
		return
	}
	c.history.End(n.client(i), register0(g.State(), key), c.sim.Elapsed())
}

// register0 reads a register, which is kept where a user's password would be.
func register0(s *catalog.State, key string) (value uint64) {
	if u, ok := s.User(key); ok {
		_, _ = fmt.Sscan(u.PasswordHash, &value)
	}
	return value
}

func (c *consensusRun) founding() []*catalogpb.Step {
	steps := []*catalogpb.Step{createDomain("default")}
	for i := range consensusKeys {
		steps = append(steps, &catalogpb.Step{Body: &catalogpb.Step_CreateUser{CreateUser: &catalogpb.CreateUser{Name: fmt.Sprintf("r%d", i), PasswordHash: "0"}}})
	}
	return steps
}

// compare holds the state of an admitted process against what was confirmed before
// it asked.
func (c *consensusRun) compare(s *catalog.State, known int) {
	for _, name := range c.confirmed[:known] {
		if _, ok := s.Domain(name); !ok {
			c.sim.Fail("confirmed-survives", fmt.Sprintf("domain %s was confirmed and is gone at index %d", name, s.Applied))
			return
		}
	}
	for _, name := range c.refused {
		if _, ok := s.Domain(name); ok {
			c.sim.Fail("refused-changes-nothing", fmt.Sprintf("domain %s of a refused command is there at index %d", name, s.Applied))
			return
		}
	}
}

// leader returns the node whose member leads, nil when there is none.
func (c *consensusRun) leader() *consensusNode {
	var best *consensusNode
	var newest uint64
	for _, n := range c.nodes {
		if n.group == nil || !n.host.Running() {
			continue
		}
		if term, leads := n.group.Tenure(); leads && term > newest {
			best, newest = n, term
		}
	}
	return best
}

// led is the liveness of elections: a leader within ten seconds of healing.
func (c *consensusRun) led() error {
	if !c.run.Over() {
		return nil
	}
	if c.healed == 0 {
		c.healed = c.sim.Elapsed()
	}
	running := 0
	for _, n := range c.nodes {
		if n.group != nil && !n.stopping {
			running++
		}
	}
	if c.sim.Elapsed()-c.healed > electedWithin && running > len(c.nodes)/2 && c.leader() == nil {
		return fmt.Errorf("nobody leads %v after everything healed", electedWithin)
	}
	return nil
}

// accepting is the liveness of commands.
func (c *consensusRun) accepting() error {
	if idle := c.sim.Elapsed() - c.last; idle > consensusCommit {
		return fmt.Errorf("no command was confirmed for %v", idle)
	}
	return nil
}

// agreed says that after everything settled the members know one membership, and
// every machine is in it.
func (c *consensusRun) agreed() error {
	for _, n := range c.nodes {
		if n.group == nil {
			return fmt.Errorf("%s does not run", n.host.Name())
		}
		if err := c.agreedOn(n.group.State()); err != nil {
			return fmt.Errorf("%s: %w", n.host.Name(), err)
		}
	}
	if leader := c.leader(); leader != nil {
		c.compare(leader.group.State(), len(c.confirmed))
	}
	return nil
}

// agreedOn says what is wrong with the members of a state.
func (c *consensusRun) agreedOn(s *catalog.State) error {
	seen := map[uint64]bool{}
	count := 0
	for m := range s.Nodes() {
		count++
		n := c.nodes[slices.IndexFunc(c.nodes, func(n *consensusNode) bool { return n.host.Name() == m.ID })]
		switch {
		case m.Role != catalog.Voter:
			return fmt.Errorf("%s is still a %v", m.ID, m.Role)
		case seen[m.RaftID], s.Removed(m.RaftID):
			return fmt.Errorf("raft id %d of %s was given twice, or dropped", m.RaftID, m.ID)
		case n.group == nil:
			return fmt.Errorf("%s does not run", m.ID)
		}
		me := n.group.Identity()
		if me.RaftID != m.RaftID || me.Counter != m.Counter {
			return fmt.Errorf("%s is raft id %d at start %d, the members say %d at start %d", m.ID, me.RaftID, me.Counter, m.RaftID, m.Counter)
		}
		seen[m.RaftID] = true
	}
	if count != len(c.nodes) {
		return fmt.Errorf("%d members, not %d", count, len(c.nodes))
	}
	return nil
}

func (c *consensusRun) drop(name string) {
	leader := c.leader()
	if leader == nil {
		return
	}
	leader.during("drop", func(ctx context.Context) error { return leader.group.DropMember(ctx, name) })
}

// dismissed is a member that was refused. It came back without its state: then the
// operator, who reads what it says, drops it. Or it was dropped before it heard of
// its admission, because it looked as if it were gone; then its directory is emptied,
// as the refusal says. It is started again either way.
func (c *consensusRun) dismissed(n *consensusNode, raftID uint64, refused *control.ClaimError) {
	if refused.Case == control.ClaimStateMissing {
		c.sim.After(operatorReads, func() { c.drop(n.host.Name()) })
		return
	}
	leader := c.leader()
	if refused.Case != control.ClaimDropped || leader == nil || !leader.group.State().Removed(raftID) {
		c.sim.Fail("stays-a-member", refused.Text)
		return
	}
	c.sim.After(dismissedWait, func() {
		if !n.host.Running() {
			n.host.Disk().Wipe()
		}
	})
}

// during runs f in the running process of a node, which does not wait for it.
func (n *consensusNode) during(what string, f func(context.Context) error) {
	w := n.host.World()
	n.tasks.Go(what, func(ctx context.Context) error {
		bound, cancel := primitives.WithDeadline(ctx, w, w.Clock().Now().Add(clientBound))
		defer cancel()
		if err := f(bound); err != nil {
			w.Log().Info("an operation of the members failed", "what", what, "error", err)
		}
		return nil
	})
}

// verbs are what goes wrong with membership itself.
func (c *consensusRun) verbs() []brokers.Verb {
	return []brokers.Verb{
		{Class: "member/disk-lost", Counts: true, Apply: func(_ time.Duration, amount int) { c.lose(c.nodes[amount%len(c.nodes)]) }},
		{Class: "member/transfer", Apply: func(time.Duration, int) { c.transfer() }},
		{Class: "member/succession", Apply: func(time.Duration, int) { c.story.begin() }, Heal: c.story.end},
		{Class: "member/section-damaged", Counts: true, Apply: func(_ time.Duration, amount int) { c.damaged += brokers.Some(amount % 4) }, Heal: c.damaged.Stop},
	}
}

// lose empties the disk of a node. A group can bear that once it has made good for
// the last loss: every machine is a member, runs, and has what was confirmed.
func (c *consensusRun) lose(n *consensusNode) {
	for _, other := range c.nodes {
		if other.group == nil || !other.host.Running() || c.agreedOn(other.group.State()) != nil || other.group.Status().Commit < c.raft.Longest() {
			return
		}
	}
	n.host.Crash()
	n.host.Disk().Wipe()
	n.host.Restart()
}

func (c *consensusRun) transfer() {
	leader := c.leader()
	if leader == nil {
		return
	}
	leader.during("transfer", leader.group.TransferLeadership)
}

// damage is what the network makes of a section when it is told to.
func (c *consensusRun) damage(section []byte) []byte {
	if len(section) == 0 || !c.damaged.Take() {
		return section
	}
	bit := c.draw.Below(uint64(len(section)) * 8)
	if c.draw.Below(3) == 0 {
		return section[:bit/8]
	}
	section[bit/8] ^= 1 << (bit % 8)
	return section
}
