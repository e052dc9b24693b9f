package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plexus/engine/catalog/catalogpb"
	"plexus/engine/control"
	"plexus/primitives"
	"plexus/primitives/invariant"
	"plexus/sim"
	"plexus/sim/campaign"
	"plexus/sim/fault"
	"plexus/sim/oracle"
)

// commands is the control plane of one node by itself: proposals under every
// fault of disk, clock and process.
func commands() campaign.Scenario {
	return campaign.Scenario{
		Name:    "commands",
		About:   "A consensus group of one takes commands while its disk, clock and process suffer; confirmed commands survive.",
		Horizon: time.Minute, Quiet: 30 * time.Second, Steps: 60_000,
		Setup: func(r *campaign.Run) {
			h := r.Sim.Host("node-1")
			c := &commandHistory{sim: r.Sim, digests: map[uint64][32]byte{}}
			h.Start("node", c.run)
			r.Target(h)
			r.Supervise(h)
			for _, k := range fault.Standard() {
				if k.OnNode() {
					r.Allow(k)
				}
			}
			r.Hold(oracle.Oracle{Name: "accepts-commands", Quiet: c.accepting})
		},
	}
}

// commandHistory is the ledger outside the node.
type commandHistory struct {
	sim       *sim.Simulation
	asked     int
	confirmed []string
	last      time.Duration       // of the latest confirmation
	digests   map[uint64][32]byte // of the state at an applied index
}

const (
	proposers       = 3
	proposalThink   = 300 * time.Millisecond
	acceptingWithin = 10 * time.Second
	// observeEvery bounds the cost of encoding the whole state.
	observeEvery = 20
)

// run is the node's program.
func (c *commandHistory) run(ctx context.Context, w primitives.World) {
	s := control.Defaults()
	s.Dir = "/data"
	s.SnapshotEntries, s.RetainEntries = 40, 10
	s.Found = func(context.Context) ([]*catalogpb.Step, error) {
		return []*catalogpb.Step{createDomain("default")}, nil
	}
	g, err := control.Open(ctx, w, s)
	if err != nil {
		var damage *control.DamageError
		if errors.As(err, &damage) {
			c.sim.Fail("recovers", err.Error())
		}
		w.Log().Error("the control plane did not open", "error", err)
		return
	}
	if err := g.Start(ctx); err != nil {
		w.Log().Error("the control plane did not start", "error", err)
	}
	if g.Admit(ctx) == nil {
		c.compare(g)
		tasks := primitives.NewGroup(ctx, w)
		for range proposers {
			tasks.Go("proposer", func(ctx context.Context) error { return c.propose(ctx, w, g) })
		}
		_, err = primitives.Select(ctx, w, g.OnEnd(), tasks.OnDone())
		tasks.Cancel(context.Canceled)
		_ = tasks.Wait(context.Background()) // proposers end with the group
	}
	// The context is not that of the program: a stopped program still closes its log.
	if err := g.Stop(context.Background()); err != nil {
		w.Log().Error("the control plane did not stop well", "error", err)
	}
}

func createDomain(name string) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: name}}}
}

// propose asks for new domains until the group ends.
func (c *commandHistory) propose(ctx context.Context, w primitives.World, g *control.Group) error {
	think := w.Entropy().Stream("proposer")
	for {
		pause := time.Duration(think.Uint64() % uint64(2*proposalThink))
		if err := primitives.Sleep(ctx, w, pause); err != nil {
			return err
		}
		c.asked++
		name := fmt.Sprintf("d%d", c.asked)
		result, err := g.Propose(ctx, &catalogpb.Command{Steps: []*catalogpb.Step{createDomain(name)}})
		switch {
		case errors.Is(err, control.ErrStopped), errors.Is(err, control.ErrStorageFailed):
			return err
		case err != nil:
			continue
		}
		invariant.Thatf(result.Refused == nil, "a new domain is refused: %v", result.Refused)
		c.confirmed = append(c.confirmed, name)
		c.last = c.sim.Elapsed()
		if len(c.confirmed)%observeEvery == 0 {
			c.observe(g)
		}
	}
}

// observe checks that an applied index always stands for the same state.
func (c *commandHistory) observe(g *control.Group) {
	state := g.State()
	digest, err := state.Digest()
	if err != nil {
		c.sim.Fail("same-index-same-state", err.Error())
		return
	}
	if before, seen := c.digests[state.Applied]; seen && before != digest {
		c.sim.Fail("same-index-same-state", fmt.Sprintf("index %d had another state", state.Applied))
	}
	c.digests[state.Applied] = digest
}

// compare holds a recovered and admitted state against what was confirmed.
func (c *commandHistory) compare(g *control.Group) {
	state := g.State()
	for _, name := range c.confirmed {
		if _, ok := state.Domain(name); !ok {
			c.sim.Fail("confirmed-survives", fmt.Sprintf("domain %s was confirmed and is gone", name))
			return
		}
	}
	c.observe(g)
}

// accepting is the liveness after everything healed.
func (c *commandHistory) accepting() error {
	if idle := c.sim.Elapsed() - c.last; idle > acceptingWithin {
		return fmt.Errorf("no command was confirmed for %v", idle)
	}
	return nil
}
