package scenario

import (
	"context"
	"fmt"

	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
)

// command is one that its client repeats under its reference until it knows the
// outcome.
type command struct {
	reference primitives.UUID
	name      string
}

// repeat asks for a command under a reference: one whose outcome is not known, or a
// new one. A reference applies once, whoever leads (CP-7).
func (n *consensusNode) repeat(ctx context.Context, draw primitives.Entropy) {
	c := n.c
	var x command
	if last := len(c.repeated) - 1; last >= 0 {
		x, c.repeated = c.repeated[last], c.repeated[:last]
	} else {
		c.asked++
		x = command{primitives.NewUUIDv7(draw, n.host.World().Clock().Wall()), fmt.Sprintf("x%d", c.asked)}
	}
	result, err := n.group.Propose(ctx, &catalogpb.Command{
		Steps: []*catalogpb.Step{createDomain(x.name)},
		Execution: &catalogpb.Execution{
			Reference: x.reference[:], Owner: "client", Domain: "default", From: catalogpb.Phase_ABSENT, To: catalogpb.Phase_FINISHED,
		},
	})
	switch {
	case err != nil:
		c.repeated = append(c.repeated, x)
	case result.Refused != nil:
		c.sim.Fail("applies-once", fmt.Sprintf("the command that makes domain %s is refused: %v", x.name, result.Refused))
	default:
		c.confirmed = append(c.confirmed, x.name)
		c.last = c.sim.Elapsed()
		if c.draw.Below(2) == 0 {
			c.repeated = append(c.repeated, x) // its answer was lost on the way to the client
		}
	}
}

// half asks for a command whose second step is refused: nothing of it may be left
// (CP-2).
func (n *consensusNode) half(ctx context.Context) {
	c := n.c
	c.asked++
	name := fmt.Sprintf("h%d", c.asked)
	c.refused = append(c.refused, name)
	again := &catalogpb.Step{Body: &catalogpb.Step_CreateUser{CreateUser: &catalogpb.CreateUser{Name: "r0", PasswordHash: "0"}}}
	result, err := n.group.Propose(ctx, &catalogpb.Command{Steps: []*catalogpb.Step{createDomain(name), again}})
	switch {
	case err != nil:
	case result.Refused == nil:
		c.sim.Fail("answers-its-own", "a user is created twice")
	default:
		c.last = c.sim.Elapsed()
	}
}
