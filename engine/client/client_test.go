package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/engine/client"
	"plexus/engine/session/sessionpb"
	"plexus/primitives"
	"plexus/sim"
)

// servers is a cluster that answers by a script.
type servers struct {
	w       primitives.World
	leader  string          // server, "" for none
	down    map[string]bool // servers that cannot be reached
	opened  []string        // where sessions were opened, in order
	asked   []string        // where commands were sent, with their text
	bound   map[string]bool // sessions that hold the transaction
	applied map[string]string
	lose    int // replies to lose
	silent  string
	ends    map[string]*primitives.Event // by session
	count   int
}

func newServers(w primitives.World, leader string) *servers {
	return &servers{
		w: w, leader: leader, down: map[string]bool{}, bound: map[string]bool{}, applied: map[string]string{},
		ends: map[string]*primitives.Event{},
	}
}

func (s *servers) dial(server string) (client.Transport, error) {
	if _, _, err := client.SplitServer(server); err != nil {
		return nil, err
	}
	return &node{s, server}, nil
}

func (s *servers) open(ctx context.Context, list ...string) (*client.Session, error) {
	return client.Open(ctx, s.w, client.Options{Servers: list, Dial: s.dial, CallTimeout: time.Minute})
}

// node is one server.
type node struct {
	*servers
	name string
}

func (n *node) reach() error {
	if n.down[n.name] {
		return fmt.Errorf("%w to %s", client.ErrNotConnected, n.name)
	}
	return nil
}

// stream delivers what it holds and then waits for its end.
type stream[T any] struct {
	ctx    context.Context
	first  []T
	ended  *primitives.Event
	err    error
	closed bool
}

func (s *stream[T]) Recv() (m T, err error) {
	if len(s.first) > 0 {
		m, s.first = s.first[0], s.first[1:]
		return m, nil
	}
	if err := s.ended.Wait(s.ctx); err != nil {
		return m, err
	}
	return m, s.err
}

func (s *stream[T]) Close() error {
	s.closed = true
	return nil
}

func (n *node) Open(ctx context.Context, _ *sessionpb.OpenRequest) (client.Stream[*sessionpb.Event], error) {
	if err := n.reach(); err != nil {
		return nil, err
	}
	n.opened = append(n.opened, n.name)
	n.count++
	id := fmt.Sprintf("%s#%d", n.name, n.count)
	n.ends[id] = primitives.NewEvent(n.w)
	welcome := &sessionpb.Event{Body: &sessionpb.Event_Welcome{Welcome: &sessionpb.Welcome{SessionId: id, Node: n.name}}}
	leader := &sessionpb.Event{Body: &sessionpb.Event_Leadership{Leadership: &sessionpb.Leadership{ClientUrl: n.leader}}}
	return &stream[*sessionpb.Event]{ctx: ctx, first: []*sessionpb.Event{welcome, leader}, ended: n.ends[id], err: io.ErrUnexpectedEOF}, nil
}

func (n *node) Execute(ctx context.Context, r *sessionpb.ExecuteRequest) (*sessionpb.ExecuteReply, error) {
	if err := n.reach(); err != nil {
		return nil, err
	}
	n.asked = append(n.asked, n.name+" "+r.GetStatements())
	if n.silent == n.name {
		return nil, primitives.Sleep(ctx, n.w, time.Hour)
	}
	if n.name != n.leader {
		return &sessionpb.ExecuteReply{Disposition: sessionpb.Disposition_REDIRECT, Redirect: &sessionpb.Redirect{ClientUrl: n.leader}}, nil
	}
	if known, ok := n.applied[r.GetExecutionReference()]; ok {
		return n.completed(r, known, sessionpb.Origin_RECOVERED), nil
	}
	if r.ExpectedPosition != nil && !n.bound[r.GetSessionId()] {
		return &sessionpb.ExecuteReply{Disposition: sessionpb.Disposition_DETACHED}, nil
	}
	if r.GetStatements() == "BEGIN" {
		n.bound[r.GetSessionId()] = true
	}
	n.applied[r.GetExecutionReference()] = r.GetStatements()
	if n.lose > 0 {
		n.lose--
		return nil, io.ErrUnexpectedEOF
	}
	return n.completed(r, r.GetStatements(), sessionpb.Origin_EXECUTED), nil
}

func (n *node) completed(r *sessionpb.ExecuteRequest, text string, origin sessionpb.Origin) *sessionpb.ExecuteReply {
	reply := &sessionpb.ExecuteReply{Disposition: sessionpb.Disposition_COMPLETED, Origin: origin, Text: text}
	if n.bound[r.GetSessionId()] {
		reply.Transaction = &sessionpb.TransactionStatus{State: sessionpb.TransactionStatus_OPEN, Id: "t", Pending: 1}
	}
	return reply
}

func (n *node) Attach(_ context.Context, r *sessionpb.AttachRequest) (*sessionpb.AttachReply, error) {
	if err := n.reach(); err != nil {
		return nil, err
	}
	if n.name != n.leader {
		return &sessionpb.AttachReply{Disposition: sessionpb.Disposition_REDIRECT, Redirect: &sessionpb.Redirect{ClientUrl: n.leader}}, nil
	}
	n.asked = append(n.asked, n.name+" attach "+r.GetTransaction())
	n.bound[r.GetSessionId()] = true
	return &sessionpb.AttachReply{Disposition: sessionpb.Disposition_COMPLETED, Transaction: &sessionpb.TransactionStatus{
		State: sessionpb.TransactionStatus_OPEN, Id: r.GetTransaction(), Pending: 1}}, nil
}

func (n *node) Inspect(ctx context.Context, _ *sessionpb.InspectRequest) (*sessionpb.InspectReply, error) {
	if n.silent == n.name {
		return nil, primitives.Sleep(ctx, n.w, time.Hour)
	}
	return &sessionpb.InspectReply{}, n.reach()
}

func (n *node) Close(context.Context, *sessionpb.CloseRequest) (*sessionpb.CloseReply, error) {
	return &sessionpb.CloseReply{}, n.reach()
}

func (n *node) Subscribe(ctx context.Context, r *sessionpb.SubscribeRequest) (client.Stream[*sessionpb.SubscriptionFrame], error) {
	if err := n.reach(); err != nil {
		return nil, err
	}
	n.count++
	frames := []*sessionpb.SubscriptionFrame{
		{Body: &sessionpb.SubscriptionFrame_Opened{Opened: &sessionpb.Opened{Name: n.name, Generation: uint64(n.count)}}},
		{Body: &sessionpb.SubscriptionFrame_Rows{Rows: &sessionpb.Rows{Count: 1}}},
	}
	return &stream[*sessionpb.SubscriptionFrame]{ctx: ctx, first: frames, ended: n.ends[r.GetSessionId()], err: io.ErrUnexpectedEOF}, nil
}

func (n *node) Suggest(context.Context, *sessionpb.SuggestRequest) (*sessionpb.SuggestReply, error) {
	return &sessionpb.SuggestReply{}, n.reach()
}

func (n *node) Choices(context.Context, *sessionpb.ChoicesRequest) (*sessionpb.ChoicesReply, error) {
	return &sessionpb.ChoicesReply{}, n.reach()
}

func (n *node) Unsubscribe(context.Context, *sessionpb.UnsubscribeRequest) (*sessionpb.UnsubscribeReply, error) {
	return &sessionpb.UnsubscribeReply{}, n.reach()
}

const a, b, c = "http://a:1", "http://b:1", "http://c:1"

// play runs a script of a client in virtual time.
func play(t *testing.T, leader string, f func(ctx context.Context, s *servers)) {
	t.Helper()
	simulation := sim.New(sim.Options{Seed: 1})
	defer simulation.Close()
	err := simulation.Do("client", func() { f(context.Background(), newServers(simulation.Driver().World(), leader)) }, 10*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, ctx context.Context, s *client.Session, text string) *sessionpb.ExecuteReply {
	t.Helper()
	reply, err := s.Execute(ctx, text)
	if err != nil || reply.GetDisposition() != sessionpb.Disposition_COMPLETED {
		t.Errorf("%s: %v %v", text, reply, err)
	}
	return reply
}

func TestRedirectsAreFollowed(t *testing.T) {
	play(t, b, func(ctx context.Context, s *servers) {
		x, err := s.open(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		must(t, ctx, x, "STOP")
		if x.Server() != b || !slices.Equal(s.asked, []string{a + " STOP", b + " STOP"}) {
			t.Errorf("on %s after %v", x.Server(), s.asked)
		}
		// The next leader is learned from the one before.
		s.leader = c
		must(t, ctx, x, "START")
		// A leader that is gone is looked for among the seeds, and what was learned.
		s.down[c], s.leader = true, a
		must(t, ctx, x, "STOP")
		if x.Server() != a {
			t.Errorf("on %s", x.Server())
		}
	})
}

func TestARedirectToNowhereWaits(t *testing.T) {
	play(t, "", func(ctx context.Context, s *servers) {
		x, err := s.open(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Execute(ctx, "STOP"); !errors.Is(err, client.ErrNoLeader) {
			t.Errorf("got %v", err)
		}
		if len(s.opened) != 1 || len(s.asked) < 50 || len(s.asked) > 100 {
			t.Errorf("%d sessions, asked %d times in a minute", len(s.opened), len(s.asked))
		}
	})
}

func TestSeedsAreTriedInOrder(t *testing.T) {
	play(t, b, func(ctx context.Context, s *servers) {
		s.down[a] = true
		x, err := s.open(ctx, a, b, c)
		if err != nil || x.Server() != b {
			t.Errorf("on %v: %v", x, err)
		}
		if _, err := s.open(ctx, a); !errors.Is(err, client.ErrNotConnected) {
			t.Errorf("got %v", err)
		}
		s.down[b], s.down[c] = true, true
		_, err = s.open(ctx, a, b, c)
		if !errors.Is(err, client.ErrNotConnected) || !strings.HasPrefix(err.Error(), "none of 3 servers can be used:\n  ") {
			t.Errorf("got %v", err)
		}
		for _, server := range []string{a, b, c} {
			if !strings.Contains(err.Error(), server) {
				t.Errorf("%s is missing: %v", server, err)
			}
		}
		if _, err := s.open(ctx, "https://a:1"); !errors.Is(err, client.ErrServer) {
			t.Errorf("got %v", err)
		}
		if _, err := s.open(ctx); err == nil {
			t.Error("opened on no server")
		}
	})
}

// A lost reply is asked for again under its reference, and executed once.
func TestLostRepliesAreAskedForAgain(t *testing.T) {
	play(t, a, func(ctx context.Context, s *servers) {
		x, err := s.open(ctx, a, b)
		if err != nil {
			t.Fatal(err)
		}
		s.lose = 1
		if reply := must(t, ctx, x, "STOP"); reply.GetOrigin() != sessionpb.Origin_RECOVERED {
			t.Errorf("got %v", reply)
		}
	})
}

// A transaction goes where its client goes.
func TestTransactionsAreAttachedAgain(t *testing.T) {
	play(t, a, func(ctx context.Context, s *servers) {
		x, err := s.open(ctx, a, b)
		if err != nil {
			t.Fatal(err)
		}
		must(t, ctx, x, "BEGIN")
		s.down[a], s.leader = true, b
		must(t, ctx, x, "STOP")
		if x.Transaction() != "t" || !slices.Contains(s.asked, b+" attach t") {
			t.Errorf("transaction %q after %v", x.Transaction(), s.asked)
		}
		if err := x.Close(ctx); err != nil {
			t.Error(err)
		}
		if last := s.asked[len(s.asked)-1]; last != b+" REVERT" {
			t.Errorf("closing ended with %s", last)
		}
	})
}

// A server that holds a command and answers nothing at all is given up.
func TestSilentServersAreGivenUp(t *testing.T) {
	play(t, a, func(ctx context.Context, s *servers) {
		x, err := s.open(ctx, a, b)
		if err != nil {
			t.Fatal(err)
		}
		s.silent, s.leader = a, b
		before := s.w.Clock().Now()
		must(t, ctx, x, "STOP")
		if took := s.w.Clock().Now().Sub(before); x.Server() != b || took > 30*time.Second {
			t.Errorf("on %s after %s", x.Server(), took)
		}
	})
}

// A subscription outlives its server, and says where rows are missing.
func TestSubscriptionsAreRestored(t *testing.T) {
	play(t, a, func(ctx context.Context, s *servers) {
		var told []string
		x, err := client.Open(ctx, s.w, client.Options{Servers: []string{a, b}, Dial: s.dial, Notify: func(e *sessionpb.Event) {
			if n := e.GetNotice(); n != nil {
				told = append(told, n.GetText())
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := x.Subscribe(ctx, "CREATE SUBSCRIPTION s TO r", sessionpb.RowFormat_JSON)
		if err != nil {
			t.Fatal(err)
		}
		next := func() *sessionpb.SubscriptionFrame {
			frame, err := rows.Recv()
			if err != nil {
				t.Fatal(err)
			}
			return frame
		}
		first := next().GetOpened()
		next()
		s.down[a] = true
		s.ends[x.ID()].Set()
		second := next().GetOpened()
		if first.GetName() != a || second.GetName() != b || second.GetGeneration() <= first.GetGeneration() {
			t.Errorf("opened %v, then %v", first, second)
		}
		if len(told) == 0 || !strings.Contains(told[0], "rows may be missing") {
			t.Errorf("told %q", told)
		}
		next()
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		if _, err := rows.Recv(); err == nil {
			t.Error("a closed subscription delivers")
		}
	})
}
