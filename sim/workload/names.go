package workload

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plexus/engine/client"
	"plexus/engine/session/sessionpb"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/oracle"
)

// Names is the workload of clients that create, drop and exchange definitions in a
// few domains, each answer of which tells what was there.
type Names struct {
	World   primitives.World
	On      Opener
	History *oracle.Commands
	Sim     *sim.Simulation
	// Completed is called for each name that was created, when the answer is there;
	// nil if nobody cares.
	Completed func(domain, schema string)

	sessions map[int]*client.Session
}

const (
	nameDomains = 3
	nameCount   = 5
	// nameBound is how long a client waits for an answer.
	nameBound = 20 * time.Second
)

// Script creates the domains.
func (n *Names) Script() string {
	var b strings.Builder
	for d := range nameDomains {
		fmt.Fprintf(&b, "CREATE DOMAIN names%d;\n", d)
	}
	return b.String()
}

// Settle sends commands until one is answered.
func (n *Names) Settle(number int, r *sim.Stream) {
	for before := n.History.Answered(); n.History.Answered() == before; {
		n.Step(number, r)
		n.Sim.Sleep(settleEvery, "next attempt")
	}
}

// Step is one command of a client.
func (n *Names) Step(number int, r *sim.Stream) {
	c := oracle.Command{Domain: fmt.Sprintf("names%d", r.Below(nameDomains)), Drop: -1, Create: -1}
	text := ""
	a, b := int(r.Below(nameCount)), int(r.Below(nameCount))
	switch r.Below(3) {
	case 0:
		c.Create = a
		text = fmt.Sprintf("CREATE SCHEMA n%d (x U8)", a)
	case 1:
		c.Drop = a
		text = fmt.Sprintf("DROP SCHEMA n%d", a)
	default:
		c.Drop, c.Create = a, b
		text = fmt.Sprintf("BEGIN; DROP SCHEMA n%d; CREATE SCHEMA n%d (x U8); COMMIT", a, b)
	}
	ctx, cancel := primitives.WithDeadline(context.Background(), n.World, n.World.Clock().Now().Add(nameBound))
	defer cancel()
	s := n.session(ctx, number, c.Domain)
	if s == nil {
		return
	}
	n.History.Begin(number, c, n.Sim.Elapsed())
	reply, err := s.Execute(ctx, text)
	answer, known := answerOf(reply)
	switch {
	case err != nil:
		n.History.Unknown(number)
		n.drop(number)
	case known:
		n.History.End(number, answer, n.Sim.Elapsed())
		if answer == oracle.Done && c.Create >= 0 && n.Completed != nil {
			n.Completed(c.Domain, fmt.Sprintf("n%d", c.Create))
		}
	case reply.GetDisposition() == sessionpb.Disposition_FAILED:
		n.History.Rejected(number)
	default:
		n.History.Unknown(number)
	}
	if err == nil && reply.GetTransaction().GetState() == sessionpb.TransactionStatus_OPEN {
		// The request ended before its COMMIT and left a transaction, in which later
		// statements would only be queued.
		n.drop(number)
	}
}

// answerOf reads what a reply says of the names; known is false when it says
// nothing of them.
func answerOf(reply *sessionpb.ExecuteReply) (a oracle.Answer, known bool) {
	switch reply.GetDisposition() {
	case sessionpb.Disposition_COMPLETED:
		return oracle.Done, true
	case sessionpb.Disposition_FAILED:
		for _, d := range reply.GetDiagnostics() {
			switch d.GetCode() {
			case "exists":
				return oracle.Exists, true
			case "ref.missing":
				return oracle.Missing, true
			}
		}
	}
	return 0, false
}

// session returns the client's session in a domain, opening one where it has none;
// nil when no node answers.
func (n *Names) session(ctx context.Context, number int, domain string) *client.Session {
	if n.sessions == nil {
		n.sessions = map[int]*client.Session{}
	}
	s := n.sessions[number]
	if s != nil && (s.Ended() != nil || s.Domain() != domain) {
		n.drop(number)
		s = nil
	}
	if s == nil {
		opened, err := n.On.Open(ctx, n.World, client.Options{Client: "names", Domain: domain, CallTimeout: nameBound})
		if err != nil {
			return nil
		}
		s = opened
		n.sessions[number] = s
	}
	return s
}

// drop forgets a session that is of no use any more.
func (n *Names) drop(number int) {
	if s := n.sessions[number]; s != nil {
		s.Drop()
		delete(n.sessions, number)
	}
}
