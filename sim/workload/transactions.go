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

// UserOpener opens sessions of several users.
type UserOpener interface {
	OpenAs(ctx context.Context, w primitives.World, user, password string, o client.Options) (*client.Session, error)
}

// Transactions is the workload of several users who change definitions in
// transactions: in one request or many, with lost sessions, takeovers, repeated
// references and commits of what they reviewed.
type Transactions struct {
	World   primitives.World
	On      UserOpener
	Batches *oracle.Batches
	Sim     *sim.Simulation
	// Now is the time of the cluster: what its leaders stamped last.
	Now func() time.Time
	// Wrong is called for an answer that no state of the cluster explains.
	Wrong func(what string)
}

const (
	transactionDomains = 2
	transactionUsers   = 3
	// transactionBound is how long a user waits for an answer.
	transactionBound = 20 * time.Second
	// answersKept is a little less than how long an outcome is retained.
	answersKept = 14 * time.Minute
	thinkMost   = 2 * time.Second
)

func transactionUser(n int) (name, password string) {
	return fmt.Sprintf("user%d", n), fmt.Sprintf("password of user%d", n)
}

// Script creates the users and the domains.
func (t *Transactions) Script() string {
	var b strings.Builder
	for n := range transactionUsers {
		name, password := transactionUser(n)
		fmt.Fprintf(&b, "CREATE USER %s WITH PASSWORD '%s';\n", name, password)
	}
	for d := range transactionDomains {
		fmt.Fprintf(&b, "CREATE DOMAIN tx%d;\n", d)
	}
	return b.String()
}

// Settle runs transactions until one is committed.
func (t *Transactions) Settle(number int, r *sim.Stream) {
	for before := t.Batches.Count(oracle.Committed); t.Batches.Count(oracle.Committed) == before; {
		t.Step(number, r)
		t.Sim.Sleep(settleEvery, "next attempt")
	}
}

// Step is one transaction of a user.
func (t *Transactions) Step(number int, r *sim.Stream) {
	domain := fmt.Sprintf("tx%d", r.Below(transactionDomains))
	x := &attempt{Transactions: t, user: number % transactionUsers, domain: domain, draw: r}
	if x.session = x.open(); x.session == nil {
		return
	}
	defer func() { x.session.Drop() }()
	x.number = t.Batches.Begin(domain)
	if r.Below(3) == 0 {
		x.atOnce()
	} else {
		x.stepwise()
	}
}

// attempt is one transaction on its way.
type attempt struct {
	*Transactions
	user    int
	domain  string
	draw    *sim.Stream
	session *client.Session
	number  int
	preview *sessionpb.PreviewId // of what was appended last; nil for none
}

func (x *attempt) open() *client.Session {
	ctx, cancel := x.bound()
	defer cancel()
	name, password := transactionUser(x.user)
	s, err := x.On.OpenAs(ctx, x.World, name, password, client.Options{
		Client: "transactions", Domain: x.domain, CallTimeout: transactionBound,
	})
	if err != nil {
		return nil
	}
	return s
}

func (x *attempt) bound() (context.Context, context.CancelFunc) {
	return primitives.WithDeadline(context.Background(), x.World, x.World.Clock().Now().Add(transactionBound))
}

func (x *attempt) creations() [2]string {
	a, b := x.Batches.Names(x.number)
	return [2]string{fmt.Sprintf("CREATE SCHEMA %s (x U8)", a), fmt.Sprintf("CREATE SCHEMA %s (x U8)", b)}
}

// atOnce sends the whole transaction as one request, and repeats it.
func (x *attempt) atOnce() {
	c := x.creations()
	text := fmt.Sprintf("BEGIN; %s; %s; COMMIT", c[0], c[1])
	reference := x.session.NewReference()
	if !x.commit(reference, text) || x.draw.Below(2) == 0 {
		return
	}
	committed := x.World.Clock().Wall()
	reply, err := x.execute(reference, text)
	if x.Now().Sub(committed) > answersKept {
		return // the clock of a leader leapt, and time never goes back
	}
	if err == nil && (reply.GetDisposition() != sessionpb.Disposition_COMPLETED || reply.GetOrigin() != sessionpb.Origin_RECOVERED) {
		x.Wrong(fmt.Sprintf("a reference that was executed is answered %s, %s: %s", reply.GetDisposition(), reply.GetOrigin(), reply.GetText()))
	}
}

// stepwise sends one statement at a time.
func (x *attempt) stepwise() {
	if !x.taken("BEGIN") {
		return
	}
	for _, statement := range x.creations() {
		x.disturb()
		if !x.taken(statement) {
			return
		}
	}
	x.disturb()
	if x.draw.Below(5) == 0 {
		if x.taken("REVERT") {
			x.Batches.End(x.number, oracle.Refused)
		}
		return
	}
	if x.preview != nil && x.draw.Below(2) == 0 && !x.commitReviewed() {
		return
	}
	x.commit(x.session.NewReference(), "COMMIT")
}

// commitReviewed commits what was reviewed, and reports whether the transaction is
// open still because it would do something else by now.
func (x *attempt) commitReviewed() (stale bool) {
	ctx, cancel := x.bound()
	defer cancel()
	reply, err := x.session.Do(ctx, client.Request{Reference: x.session.NewReference(), Statements: "COMMIT", Preview: x.preview})
	if err == nil && reply.GetDisposition() == sessionpb.Disposition_PREVIEW_STALE {
		return true
	}
	x.ended("COMMIT", reply, err)
	return false
}

// disturb thinks, or loses the session, or goes on in another one.
func (x *attempt) disturb() {
	switch x.draw.Below(6) {
	case 0:
		x.Sim.Sleep(time.Duration(x.draw.Below(uint64(thinkMost))), "user to think")
	case 1:
		x.takeOver(true)
	case 2:
		x.takeOver(false)
	}
}

// takeOver goes on in another session of the user, with the first one lost or
// still there. One that is still there is told so.
func (x *attempt) takeOver(lost bool) {
	id := x.session.Transaction()
	if id == "" {
		return
	}
	if lost {
		x.session.Drop()
	}
	next := x.open()
	if next == nil {
		return
	}
	ctx, cancel := x.bound()
	defer cancel()
	reply, err := next.Attach(ctx, id)
	if err != nil || reply.GetDisposition() != sessionpb.Disposition_COMPLETED {
		next.Drop()
		return
	}
	before := x.session
	x.session = next
	if lost {
		return
	}
	// The first session is told so, or takes the transaction back, where the leader
	// changed meanwhile: the attempt comes to its end in either case.
	_, _ = before.Execute(ctx, fmt.Sprintf("CREATE SCHEMA s%d (x U8)", x.number))
	before.Drop()
}

// taken executes a statement of the transaction and reports whether the
// transaction goes on. One whose outcome nobody knows ends the attempt.
func (x *attempt) taken(text string) bool {
	reply, err := x.execute(x.session.NewReference(), text)
	if err != nil {
		return false
	}
	x.preview = reply.GetTransaction().GetPreview()
	return reply.GetDisposition() == sessionpb.Disposition_COMPLETED
}

// commit executes what commits and notes the outcome.
func (x *attempt) commit(reference, text string) bool {
	reply, err := x.execute(reference, text)
	return x.ended(text, reply, err)
}

// ended notes what a commit came to.
func (x *attempt) ended(text string, reply *sessionpb.ExecuteReply, err error) bool {
	if err != nil {
		return false
	}
	switch reply.GetDisposition() {
	case sessionpb.Disposition_COMPLETED:
		x.Batches.End(x.number, oracle.Committed)
		return true
	case sessionpb.Disposition_FAILED:
		for _, d := range reply.GetDiagnostics() {
			if d.GetCode() == "exists" {
				x.Wrong("a name that nobody else uses exists: " + reply.GetText())
			}
		}
		if text != "COMMIT" {
			// Whatever it was, the request ended before its COMMIT took effect. A COMMIT
			// of its own may be tried again by nobody here, but stays open.
			x.Batches.End(x.number, oracle.Refused)
		}
	}
	return false
}

func (x *attempt) execute(reference, text string) (*sessionpb.ExecuteReply, error) {
	ctx, cancel := x.bound()
	defer cancel()
	return x.session.ExecuteAs(ctx, reference, text)
}
