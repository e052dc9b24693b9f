package node_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/client"
	"plexus/engine/node"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// server is where clients reach a node.
func (c *crowd) server(i int) string {
	return "http://" + netip.AddrPortFrom(c.hosts[i].Addr(), clientPort).String()
}

// open opens a session that begins with one node and knows the others.
func (c *crowd) open(ctx context.Context, first int) *client.Session {
	c.t.Helper()
	w := c.sim.Driver().World()
	servers := []string{c.server(first)}
	for i := range c.hosts {
		if i != first {
			servers = append(servers, c.server(i))
		}
	}
	s, err := client.Open(ctx, w, client.Options{Servers: servers, Dial: client.Frames(w, "default", "correct horse"), Client: "test", Domain: "default"})
	if err != nil {
		c.t.Fatalf("open: %v", err)
	}
	return s
}

// act runs f as a client.
func (c *crowd) act(f func(ctx context.Context)) {
	c.t.Helper()
	if err := c.sim.Do("client", func() { f(context.Background()) }, 5*time.Minute); err != nil {
		for _, l := range c.sim.Live() {
			c.t.Log(l)
		}
		c.t.Fatal(err)
	}
}

// says runs a statement and returns its text; it has to end as wanted: with
// success where want is empty, else with that code or disposition.
func (c *crowd) says(ctx context.Context, s *client.Session, want, text string) *sessionpb.ExecuteReply {
	c.t.Helper()
	reply, err := s.Execute(ctx, text)
	if err != nil {
		c.t.Fatalf("%s: %v", text, err)
	}
	c.judge(reply, want, text)
	return reply
}

func (c *crowd) judge(reply *sessionpb.ExecuteReply, want, text string) {
	c.t.Helper()
	got := ""
	switch d := reply.GetDisposition(); {
	case d == sessionpb.Disposition_COMPLETED:
	case d == sessionpb.Disposition_FAILED && len(reply.GetDiagnostics()) > 0:
		got = reply.GetDiagnostics()[0].GetCode()
	default:
		got = d.String()
	}
	if got != want {
		c.t.Fatalf("%s: got %q, want %q: %s", text, got, want, reply.GetText())
	}
}

// crashLeader ends the leader and waits for the next one.
func (c *crowd) crashLeader() (crashed int) {
	c.t.Helper()
	crashed = c.leader()
	c.hosts[crashed].Crash()
	c.nodes[crashed] = nil
	c.until(func() bool { at := c.leader(); return at >= 0 && at != crashed })
	return crashed
}

func (c *crowd) follower() int {
	for i := range c.nodes {
		if i != c.leader() {
			return i
		}
	}
	return -1
}

func TestFollowersRedirect(t *testing.T) {
	c := newCrowd(t, 1, 3)
	c.act(func(ctx context.Context) {
		s := c.open(ctx, c.follower())
		first := s.Node()
		c.says(ctx, s, "", "LIST DOMAINS")
		if s.Node() != first {
			t.Error("a read went to another node")
		}
		c.says(ctx, s, "", "CREATE SCHEMA a (x U8)")
		if s.Node() != c.hosts[c.leader()].Name() {
			t.Errorf("the session is on %s", s.Node())
		}
		_ = s.Close(ctx)
	})
}

// A transaction is where its operations are, whoever leads.
func TestTransactionOutlivesLeaders(t *testing.T) {
	c := newCrowd(t, 2, 3)
	var s *client.Session
	commit := ""
	c.act(func(ctx context.Context) {
		s = c.open(ctx, 0)
		c.says(ctx, s, "", "BEGIN")
		c.says(ctx, s, "", "CREATE SCHEMA reading (site STRING)")
	})
	first := c.crashLeader()
	c.act(func(ctx context.Context) {
		// A statement that does not parse takes nothing away.
		c.says(ctx, s, "parse", "CREATE SCHEMA")
		reply := c.says(ctx, s, "", "CREATE RELAY readings SCHEMA reading UNBRANCHED")
		if reply.GetStatements()[0].GetPosition() != 2 {
			t.Errorf("got %v", reply)
		}
		c.says(ctx, s, "tx.not_queueable", "LIST DOMAINS")
		if text := c.says(ctx, s, "", "SHOW TRANSACTIONS").GetText(); !strings.Contains(text, "state=OPEN statements=2") {
			t.Errorf("got %s", text)
		}
		commit = s.NewReference()
		reply, err := s.ExecuteAs(ctx, commit, "COMMIT")
		if err != nil {
			t.Fatal(err)
		}
		c.judge(reply, "", "COMMIT")
		c.says(ctx, s, "", "SHOW CREATE RELAY readings")
	})
	c.hosts[first].Restart()
	c.until(func() bool { return c.ready(first) })
	c.crashLeader()
	c.act(func(ctx context.Context) {
		again, err := s.ExecuteAs(ctx, commit, "COMMIT")
		if err != nil || again.GetOrigin() != sessionpb.Origin_RECOVERED || !strings.Contains(again.GetText(), "created relay 'readings'") {
			t.Errorf("got %v %v", again, err)
		}
	})
}

func TestTransactionTakeover(t *testing.T) {
	c := newCrowd(t, 3, 3)
	c.act(func(ctx context.Context) {
		a, b := c.open(ctx, 0), c.open(ctx, 1)
		c.says(ctx, a, "", "BEGIN")
		c.says(ctx, a, "", "CREATE SCHEMA x (x U8)")
		id := a.Transaction()
		if reply, err := b.Attach(ctx, id); err != nil || reply.GetDisposition() != sessionpb.Disposition_COMPLETED || b.Transaction() != id {
			t.Fatalf("attach: %v %v", reply, err)
		}
		c.says(ctx, a, "TAKEN_OVER", "CREATE SCHEMA y (x U8)")
		c.says(ctx, a, "tx.state", "COMMIT")
		c.says(ctx, b, "", "CREATE SCHEMA y (x U8)")
		c.says(ctx, b, "", "COMMIT")
		c.says(ctx, a, "", "SHOW CREATE SCHEMA y")
		if reply, err := a.Attach(ctx, id); err != nil || reply.GetDisposition() != sessionpb.Disposition_FAILED ||
			reply.GetTransaction().GetState() != sessionpb.TransactionStatus_COMMITTED {
			t.Errorf("attach to what is committed: %v %v", reply, err)
		}

		c.says(ctx, a, "", "CREATE USER other WITH PASSWORD 'other horse'")
		c.says(ctx, a, "", "BEGIN")
		w := c.sim.Driver().World()
		stranger, err := client.Open(ctx, w, client.Options{Servers: []string{c.server(0)}, Dial: client.Frames(w, "other", "other horse")})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := stranger.Attach(ctx, a.Transaction())
		if err != nil || reply.GetDiagnostics()[0].GetCode() != "unauthorized" {
			t.Errorf("a stranger attached: %v %v", reply, err)
		}
		c.says(ctx, stranger, "unauthorized", "DESCRIBE TRANSACTION '"+a.Transaction()+"'")

		// A session that closes takes its open transaction with it; one that vanishes
		// leaves it to whoever attaches.
		id = a.Transaction()
		if err := a.Close(ctx); err != nil {
			t.Error(err)
		}
		c.says(ctx, b, "", "BEGIN")
		c.says(ctx, b, "", "CREATE SCHEMA z (x U8)")
		kept := b.Transaction()
		b.Drop()
		d := c.open(ctx, 0)
		if text := c.says(ctx, d, "", "SHOW TRANSACTIONS").GetText(); !strings.Contains(text, id+" domain=default owner=default state=REVERTED") {
			t.Errorf("got %s", text)
		}
		if reply, err := d.Attach(ctx, kept); err != nil || reply.GetDisposition() != sessionpb.Disposition_COMPLETED || reply.GetTransaction().GetPending() != 1 {
			t.Errorf("attach to what was left: %v %v", reply, err)
		}
		c.says(ctx, d, "", "COMMIT")
		c.says(ctx, d, "", "SHOW CREATE SCHEMA z")
	})
}

func TestTransactionExpires(t *testing.T) {
	c := newCrowd(t, 4, 3, func(s *node.Settings) {
		s.Limits.TransactionIdle, s.TransactionRetention = 60*time.Second, 90*time.Second
		s.Limits.TransactionStatements, s.Limits.TransactionOpen, s.Limits.TransactionSource = 2, 2, 60
	})
	var s *client.Session
	pause := func(ctx context.Context, d time.Duration) {
		if err := primitives.Sleep(ctx, c.sim.Driver().World(), d); err != nil {
			t.Fatal(err)
		}
	}
	id := ""
	c.act(func(ctx context.Context) {
		s = c.open(ctx, 0)
		pause(ctx, 2*time.Second) // until the leader put its limits in force
		c.says(ctx, s, "", "BEGIN")
		c.says(ctx, s, "", "CREATE SCHEMA a (x U8)")
		c.says(ctx, s, "tx.limit", "CREATE SCHEMA b (much_too_long_a_name_for_the_source_limit U8)")
		c.says(ctx, s, "", "CREATE SCHEMA b (x U8)")
		c.says(ctx, s, "tx.limit", "CREATE SCHEMA c (x U8)")
		id = s.Transaction()
		other, third := c.open(ctx, 1), c.open(ctx, 1)
		c.says(ctx, other, "", "BEGIN")
		c.says(ctx, third, "tx.limit", "BEGIN")
		c.says(ctx, third, "domain.state", "DROP DOMAIN default")
		pause(ctx, 50*time.Second)
		c.says(ctx, other, "", "CREATE SCHEMA d (x U8)")
	})
	c.crashLeader()
	c.act(func(ctx context.Context) {
		pause(ctx, 10*time.Second)
		c.says(ctx, s, "tx.state", "COMMIT")
		c.says(ctx, s, "ref.missing", "SHOW CREATE SCHEMA a")
		text := c.says(ctx, s, "", "SHOW TRANSACTIONS").GetText()
		if !strings.Contains(text, id+" domain=default owner=default state=EXPIRED") || !strings.Contains(text, "state=OPEN") {
			t.Errorf("got %s", text)
		}
		pause(ctx, 3*time.Minute)
		if text := c.says(ctx, s, "", "SHOW TRANSACTIONS").GetText(); strings.Contains(text, "state=") {
			t.Errorf("what ended is not forgotten: %s", text)
		}
	})
}

// COMMIT names what was shown; anything else that would happen by now is refused,
// and the transaction stays open.
func TestCommitByPreview(t *testing.T) {
	c := newCrowd(t, 5, 3)
	c.act(func(ctx context.Context) {
		s, other := c.open(ctx, 0), c.open(ctx, 1)
		c.says(ctx, s, "", "BEGIN")
		preview := c.says(ctx, s, "", "CREATE SCHEMA a (x U8)").GetTransaction().GetPreview()
		c.says(ctx, other, "", "CREATE SCHEMA b (x U8)")
		reply, err := s.Do(ctx, client.Request{Reference: s.NewReference(), Statements: "COMMIT", Preview: preview})
		if err != nil || reply.GetDisposition() != sessionpb.Disposition_PREVIEW_STALE || s.Transaction() == "" {
			t.Fatalf("got %v %v", reply, err)
		}
		current := reply.GetStalePreview().GetCurrent()
		text := c.says(ctx, s, "", "DESCRIBE TRANSACTION").GetText()
		if want := fmt.Sprintf("preview basis: %x", current.GetBasis()); !strings.Contains(text, want) || !strings.Contains(text, "completeness: COMPLETE") {
			t.Errorf("want %s in\n%s", want, text)
		}
		reply, err = s.Do(ctx, client.Request{Reference: s.NewReference(), Statements: "COMMIT", Preview: current})
		if err != nil {
			t.Fatal(err)
		}
		c.judge(reply, "", "COMMIT by preview")
	})
}

// A changed user is logged out everywhere.
func TestChangedUsersLoseTheirSessions(t *testing.T) {
	c := newCrowd(t, 6, 3)
	c.act(func(ctx context.Context) {
		admin := c.open(ctx, 0)
		c.says(ctx, admin, "", "CREATE USER ann WITH PASSWORD 'first horse'")
		w := c.sim.Driver().World()
		session := func(server int, password string) (*client.Session, error) {
			return client.Open(ctx, w, client.Options{Servers: []string{c.server(server)}, Dial: client.Frames(w, "ann", password), CallTimeout: 5 * time.Second})
		}
		ann, err := session(c.follower(), "first horse")
		if err != nil {
			t.Fatal(err)
		}
		c.says(ctx, admin, "", "ALTER USER ann SET PASSWORD 'second horse'")
		if reply, err := ann.Execute(ctx, "LIST DOMAINS"); err == nil {
			t.Errorf("the old password still works: %v", reply)
		}
		if ann, err = session(c.follower(), "second horse"); err != nil {
			t.Fatal(err)
		}
		c.says(ctx, admin, "", "DROP USER ann")
		if reply, err := ann.Execute(ctx, "LIST DOMAINS"); err == nil {
			t.Errorf("a dropped user is served: %v", reply)
		}
		c.says(ctx, admin, "invalid", "DROP USER default")
	})
}

// A command whose leader dies under it is finished by the next one, one way or the
// other, and its lease is given back.
func TestCommandsAreResumed(t *testing.T) {
	for seed := range uint64(8) {
		c := newCrowd(t, 100+seed, 3)
		var s *client.Session
		c.act(func(ctx context.Context) {
			s = c.open(ctx, 0)
			c.says(ctx, s, "", pipeline)
		})
		done := false
		var reply *sessionpb.ExecuteReply
		c.sim.Go("client", func() {
			defer func() { done = true }()
			var err error
			if reply, err = s.Execute(context.Background(), "DROP JUNCTION pick"); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		})
		c.sim.Run(time.Duration(1+7*seed) * time.Millisecond)
		if !done {
			c.crashLeader()
		}
		c.until(func() bool { return done })
		if reply.GetDisposition() == sessionpb.Disposition_FAILED {
			// The node that died could not be held: nothing happened, and nothing is in
			// the way of the next attempt once it counts as unavailable.
			c.judge(reply, "drain", "DROP JUNCTION pick")
			c.sim.Run(15 * time.Second)
			c.act(func(ctx context.Context) { c.says(ctx, s, "", "DROP JUNCTION pick") })
		}
		c.until(func() bool {
			state := c.nodes[c.leader()].Group().State()
			d, _ := state.Domain("default")
			_, kept := state.Model("default", catalog.Key{Kind: vocab.EntityJunction, Name: "pick"})
			return d.Lease == nil && !kept
		})
		c.sim.Close()
	}
}

// A leader that stood still while another one was elected refuses nothing that is
// right by now, although its state says so.
func TestReplacedLeaderRefusesNothing(t *testing.T) {
	for _, text := range []string{"DROP SCHEMA a", "BEGIN; DROP SCHEMA a; CREATE SCHEMA a (x U16); COMMIT"} {
		t.Run(text, func(t *testing.T) {
			c := newCrowd(t, 10, 3)
			c.act(func(ctx context.Context) { c.replaced(ctx, text) })
		})
	}
}

func (c *crowd) replaced(ctx context.Context, text string) {
	w := c.sim.Driver().World()
	old := c.leader()
	before := c.open(ctx, old)
	c.says(ctx, before, "", "CREATE SCHEMA first (x U8)")
	c.hosts[old].Freeze()
	next := -1
	for next < 0 {
		_ = primitives.Sleep(ctx, w, 50*time.Millisecond)
		for i := range c.nodes {
			if i != old && c.nodes[i].Group().Leads() {
				next = i
			}
		}
	}
	after := c.open(ctx, next)
	c.says(ctx, after, "", "CREATE SCHEMA a (x U8)")
	g := primitives.NewGroup(ctx, w)
	g.Go("late", func(ctx context.Context) error {
		c.says(ctx, before, "", text)
		return nil
	})
	_ = primitives.Sleep(ctx, w, 100*time.Millisecond)
	c.hosts[old].Thaw()
	if err := g.Wait(ctx); err != nil {
		c.t.Error(err)
	}
}

// A request without a statement is answered wherever the session stands.
func TestNothingIsExecuted(t *testing.T) {
	c := newCrowd(t, 1, 1)
	c.act(func(ctx context.Context) {
		s := c.open(ctx, 0)
		c.says(ctx, s, "", "")
		c.says(ctx, s, "", "BEGIN")
		c.says(ctx, s, "", "")
		c.says(ctx, s, "", "REVERT")
	})
}
