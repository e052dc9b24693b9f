package node_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"plexus/connectors/contract"
	"plexus/connectors/random"
	"plexus/engine/client"
	"plexus/engine/node"
	"plexus/engine/session"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/sim"
)

const clientPort = 47391

// machine is a simulated host that runs a node.
type machine struct {
	t    *testing.T
	sim  *sim.Simulation
	host *sim.Host
	node *node.Node
}

func newMachine(t *testing.T, seed uint64) *machine {
	s := sim.New(sim.Options{Seed: seed})
	t.Cleanup(func() { s.Close() })
	m := &machine{t: t, sim: s, host: s.Host("node-1")}
	return m
}

func connectors() contract.Connectors {
	c := contract.Connectors{Sources: map[vocab.SourceEntity]contract.SourceOpener{}, Sinks: map[vocab.SinkEntity]contract.SinkOpener{}}
	random.Register(c)
	return c
}

func (m *machine) boot() {
	m.start()
	if err := m.sim.RunUntil(func() bool { return m.node != nil && len(m.node.NotReady()) == 0 }, time.Minute); err != nil {
		m.t.Fatalf("the node does not become ready: %v", err)
	}
}

func (m *machine) start() {
	m.node = nil
	m.host.Start("plexusd", func(ctx context.Context, w primitives.World) {
		settings := node.Defaults()
		settings.InitialPassword = "correct horse"
		settings.PasswordCost = session.LeastCost
		addr := netip.AddrPortFrom(m.host.Addr(), clientPort)
		n := node.New(w, settings, connectors(), node.Listeners{
			Sessions: func(s *session.Service) node.Server { return session.NewFrameServer(w, addr, s) },
		}, node.Options{Version: "test"})
		if err := n.Start(ctx); err != nil {
			m.t.Errorf("start: %v", err)
			return
		}
		m.node = n
		_ = n.Wait(ctx)
		if _, err := n.Stop(context.Background()); err != nil {
			m.t.Errorf("stop: %v", err)
		}
	})
}

// client returns how a client reaches the node.
func (m *machine) client(w primitives.World, user, password string) client.Options {
	return client.Options{
		Servers: []string{"http://" + netip.AddrPortFrom(m.host.Addr(), clientPort).String()},
		Dial:    client.Frames(w, user, password), Client: "test", Domain: "default",
	}
}

// as runs f as a client with a session.
func (m *machine) as(f func(ctx context.Context, s *client.Session)) {
	err := m.sim.Do("client", func() {
		w := m.sim.Driver().World()
		ctx := context.Background()
		s, err := client.Open(ctx, w, m.client(w, "default", "correct horse"))
		if err != nil {
			m.t.Errorf("open: %v", err)
			return
		}
		f(ctx, s)
		if err := s.Close(ctx); err != nil {
			m.t.Errorf("close: %v", err)
		}
	}, time.Minute)
	if err != nil {
		for _, l := range m.sim.Logs() {
			m.t.Log(l)
		}
		for _, l := range m.sim.Live() {
			m.t.Log(l)
		}
		m.t.Fatal(err)
	}
}

func (m *machine) must(ctx context.Context, s *client.Session, text string) string {
	reply, err := s.Execute(ctx, text)
	if err != nil {
		m.t.Errorf("%s: %v", text, err)
		return ""
	}
	if reply.GetDisposition() != sessionpb.Disposition_COMPLETED {
		m.t.Errorf("%s: %s", text, reply.GetText())
	}
	return reply.GetText()
}

func (m *machine) refused(ctx context.Context, s *client.Session, text, code string) string {
	reply, err := s.Execute(ctx, text)
	if err != nil {
		m.t.Errorf("%s: %v", text, err)
		return ""
	}
	if reply.GetDisposition() != sessionpb.Disposition_FAILED || len(reply.GetDiagnostics()) == 0 || reply.GetDiagnostics()[0].GetCode() != code {
		m.t.Errorf("%s: want %s, got %v", text, code, reply)
	}
	return reply.GetText()
}

const pipeline = `BEGIN;
CREATE SCHEMA tick (sequence U64, value F64);
CREATE WIRE JSON SCHEMA tick_json MODE LOOSE (sequence integer, value number);
CREATE CODEC tick_codec FROM WIRE JSON SCHEMA tick_json TO SCHEMA tick;
CREATE RELAY raw SCHEMA tick UNBRANCHED;
CREATE RELAY even SCHEMA tick UNBRANCHED;
CREATE INGESTOR feed FROM RANDOM SEED 7 MAX ROWS 10 EVERY 100ms MODE ACK SEQUENTIAL ACK TIMEOUT 5s RETRY POLICY BACKOFF 1s MAX 2s ON QUIESCE SUSPEND
  DECODE USING tick_codec TO raw INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
CREATE JUNCTION pick FROM raw UNBRANCHED TO even INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
START;
COMMIT;`

func TestNodeServesAPipeline(t *testing.T) {
	m := newMachine(t, 1)
	m.boot()
	m.as(func(ctx context.Context, s *client.Session) {
		if text := m.must(ctx, s, pipeline); !strings.Contains(text, "created junction 'pick'") || !strings.Contains(text, "quiesce level: DYNAMIC") {
			t.Errorf("commit says\n%s", text)
		}
		stream, err := s.Subscribe(ctx, "CREATE SUBSCRIPTION watch TO even", sessionpb.RowFormat_JSON)
		if err != nil {
			t.Errorf("subscribe: %v", err)
			return
		}
		rows := 0
		for opened := false; rows < 25; {
			frame, err := stream.Recv()
			if err != nil {
				t.Errorf("frame: %v", err)
				return
			}
			if frame.GetOpened() != nil {
				opened = true
			} else if !opened {
				t.Error("rows before Opened")
			}
			rows += len(frame.GetRows().GetJson())
		}
		if err := stream.Close(); err != nil {
			t.Error(err)
		}
		for _, read := range []string{
			"SHOW CREATE JUNCTION pick", "SHOW INGESTORS", "SHOW CLUSTER STATUS", "SHOW USERS", "LIST DOMAINS", "DESCRIBE DOMAIN",
			"DESCRIBE INGESTOR feed", "DESCRIBE JUNCTION pick", "DESCRIBE RELAY even", "DESCRIBE CODEC tick_codec",
		} {
			t.Logf("%s\n%s", read, m.must(ctx, s, read))
		}
	})
	m.sim.Run(time.Second)
	m.host.Stop()
	if err := m.sim.RunUntil(func() bool { return !m.host.Running() }, time.Minute); err != nil {
		t.Fatalf("the node does not stop: %v", err)
	}
}

func TestNodeRefusals(t *testing.T) {
	m := newMachine(t, 2)
	m.boot()
	m.as(func(ctx context.Context, s *client.Session) {
		text := m.refused(ctx, s, "CREATE RELAY r SCHEMA nothing UNBRANCHED", "ref.missing")
		if !strings.Contains(text, "^^^^^^^") {
			t.Errorf("no caret in\n%s", text)
		}
		m.refused(ctx, s, "CREATE RELAY r SCHEMA s UNBRANCHED; CREATE RELAY q SCHEMA s UNBRANCHED", "tx.required")
		m.refused(ctx, s, "CREATE RELY r", "parse")
		m.refused(ctx, s, "STOP", "domain.state")
		m.refused(ctx, s, "COMMIT", "tx.state")
		m.refused(ctx, s, "DROP USER default", "invalid")
		m.refused(ctx, s, "USE nowhere", "domain.missing")
		m.refused(ctx, s, "DESCRIBE RELAY nowhere", "ref.missing")
		m.must(ctx, s, "CREATE SCHEMA s (x U8)")
		m.refused(ctx, s, "CREATE SCHEMA s (x U8)", "exists")
		if text := m.must(ctx, s, "CREATE IF NOT EXISTS SCHEMA s (x U16)"); !strings.Contains(text, "schema 's' already exists") {
			t.Errorf("got %s", text)
		}
		m.must(ctx, s, "CREATE RELAY r SCHEMA s UNBRANCHED")
		m.refused(ctx, s, "DROP SCHEMA s", "in_use")

		m.must(ctx, s, "BEGIN")
		m.refused(ctx, s, "SHOW USERS", "tx.not_queueable")
		m.must(ctx, s, "CREATE RELAY q SCHEMA later UNBRANCHED")
		m.refused(ctx, s, "CREATE RELAY q SCHEMA later UNBRANCHED", "exists")
		m.refused(ctx, s, "COMMIT", "ref.missing")
		m.must(ctx, s, "CREATE SCHEMA later (y U8)")
		m.must(ctx, s, "COMMIT")
		m.must(ctx, s, "BEGIN")
		m.must(ctx, s, "DROP RELAY q")
		if text := m.must(ctx, s, "REVERT"); text != "transaction reverted: dropped 1 command(s)" {
			t.Errorf("got %s", text)
		}
		m.must(ctx, s, "SHOW CREATE RELAY q")
		m.must(ctx, s, "CREATE USER ann WITH PASSWORD 'long enough'")
		m.must(ctx, s, "CREATE DOMAIN other")
		m.must(ctx, s, "USE other")
		m.must(ctx, s, "START")
		m.refused(ctx, s, "DROP DOMAIN other", "domain.state")
		m.must(ctx, s, "STOP")
		m.must(ctx, s, "DROP DOMAIN other")
		if _, err := s.Subscribe(ctx, "CREATE SUBSCRIPTION x TO nothing", sessionpb.RowFormat_JSON); err != nil {
			t.Errorf("subscribe: %v", err)
		}
	})
}

func TestReferencesApplyOnce(t *testing.T) {
	m := newMachine(t, 3)
	m.boot()
	reference := ""
	m.as(func(ctx context.Context, s *client.Session) {
		w := m.sim.Driver().World()
		reference = primitives.NewUUIDv7(w.Entropy(), w.Clock().Wall()).String()
		for i := range 3 {
			reply, err := s.ExecuteAs(ctx, reference, "CREATE SCHEMA once (x U8)")
			if err != nil || reply.GetDisposition() != sessionpb.Disposition_COMPLETED || (reply.GetOrigin() == sessionpb.Origin_RECOVERED) != (i > 0) {
				t.Errorf("try %d: %v %v", i, reply, err)
			}
		}
		reply, err := s.ExecuteAs(ctx, reference, "CREATE SCHEMA other (x U8)")
		if err != nil || reply.GetDisposition() != sessionpb.Disposition_REFERENCE_CONFLICT {
			t.Errorf("other content: %v %v", reply, err)
		}
	})
	m.host.Crash()
	m.boot()
	m.as(func(ctx context.Context, s *client.Session) {
		reply, err := s.ExecuteAs(ctx, reference, "create schema ONCE (x U8);")
		if err != nil || reply.GetOrigin() != sessionpb.Origin_RECOVERED {
			t.Errorf("after a crash: %v %v", reply, err)
		}
	})
}

// A reference is bound to one command: a request cannot hold a second one behind
// COMMIT, and a COMMIT is known again in a later session, as it was spelled.
func TestOneReferenceIsOneCommand(t *testing.T) {
	m := newMachine(t, 7)
	m.boot()
	reference := ""
	m.as(func(ctx context.Context, s *client.Session) {
		m.refused(ctx, s, "BEGIN; CREATE SCHEMA a (x U8); COMMIT; CREATE DOMAIN late", "tx.required")
		m.refused(ctx, s, "BEGIN; REVERT; CREATE DOMAIN late", "tx.required")
		m.refused(ctx, s, "SHOW CREATE SCHEMA a", "ref.missing")
		m.refused(ctx, s, "USE late", "domain.missing")

		w := m.sim.Driver().World()
		reference = primitives.NewUUIDv7(w.Entropy(), w.Clock().Wall()).String()
		m.must(ctx, s, "BEGIN")
		m.must(ctx, s, "CREATE SCHEMA a (x U8)")
		if reply, err := s.ExecuteAs(ctx, reference, "commit;"); err != nil || reply.GetDisposition() != sessionpb.Disposition_COMPLETED {
			t.Errorf("%v %v", reply, err)
		}
	})
	m.as(func(ctx context.Context, s *client.Session) {
		for _, again := range []struct {
			text string
			want sessionpb.Disposition
		}{{"commit;", sessionpb.Disposition_COMPLETED}, {"COMMIT", sessionpb.Disposition_REFERENCE_CONFLICT}} {
			if reply, err := s.ExecuteAs(ctx, reference, again.text); err != nil || reply.GetDisposition() != again.want {
				t.Errorf("%s: %v %v", again.text, reply, err)
			}
		}
	})
}

// Whoever repeats a reference while its command is under way is held to what it
// is bound to, too.
func TestReferencesConflictWhileTheyApply(t *testing.T) {
	for seed := range uint64(20) {
		m := newMachine(t, seed)
		m.boot()
		w := m.sim.Driver().World()
		var replies []*sessionpb.ExecuteReply
		reference := ""
		m.as(func(ctx context.Context, s *client.Session) {
			m.must(ctx, s, pipeline)
			reference = primitives.NewUUIDv7(w.Entropy(), w.Clock().Wall()).String()
		})
		tasks := 0
		for _, text := range []string{"DROP JUNCTION pick", "DROP INGESTOR feed"} {
			m.sim.Go("client", func() {
				defer func() { tasks++ }()
				s, err := client.Open(context.Background(), w, m.client(w, "default", "correct horse"))
				if err != nil {
					t.Error(err)
					return
				}
				reply, err := s.ExecuteAs(context.Background(), reference, text)
				if err != nil {
					t.Error(err)
				}
				replies = append(replies, reply)
				_ = s.Close(context.Background())
			})
		}
		if err := m.sim.RunUntil(func() bool { return tasks == 2 }, time.Minute); err != nil {
			t.Fatal(err)
		}
		completed := 0
		for _, reply := range replies {
			switch reply.GetDisposition() {
			case sessionpb.Disposition_COMPLETED:
				completed++
			case sessionpb.Disposition_REFERENCE_CONFLICT:
			default:
				t.Errorf("seed %d: %v", seed, reply)
			}
		}
		if completed != 1 {
			t.Errorf("seed %d: %d of 2 commands with one reference completed", seed, completed)
		}
		m.sim.Close()
	}
}

func TestWrongPasswordIsRefused(t *testing.T) {
	m := newMachine(t, 4)
	m.boot()
	err := m.sim.Do("stranger", func() {
		w := m.sim.Driver().World()
		for _, user := range []string{"default", "nobody"} {
			_, err := client.Open(context.Background(), w, m.client(w, user, "wrong"))
			if code, _ := session.CodeOf(err); code != client.Unauthenticated {
				t.Errorf("%s: %v", user, err)
			}
		}
	}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
}

// Definitions that were answered survive a loss of power at any moment (CP-1).
func TestDefinitionsSurviveCrashes(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := newMachine(t, seed)
			m.boot()
			answered := 0
			m.sim.Go("writer", func() {
				w := m.sim.Driver().World()
				ctx := context.Background()
				options := m.client(w, "default", "correct horse")
				options.CallTimeout = time.Second
				s, err := client.Open(ctx, w, options)
				if err != nil {
					return
				}
				for i := range 100 {
					reply, err := s.Execute(ctx, fmt.Sprintf("CREATE SCHEMA s%d (x U8)", i))
					if err != nil || reply.GetDisposition() != sessionpb.Disposition_COMPLETED {
						break
					}
					answered = i + 1
				}
				_ = s.Close(ctx)
			})
			m.sim.RunUntil(func() bool { return answered > int(seed) }, time.Minute)
			m.host.Crash()
			m.boot()
			m.as(func(ctx context.Context, s *client.Session) {
				for i := range answered {
					m.must(ctx, s, fmt.Sprintf("SHOW CREATE SCHEMA s%d", i))
				}
			})
		})
	}
}

// A running operator is drained before its definition goes; what does not change
// keeps running.
func TestDropDrainsFirst(t *testing.T) {
	m := newMachine(t, 5)
	m.boot()
	m.as(func(ctx context.Context, s *client.Session) {
		m.must(ctx, s, pipeline)
		m.must(ctx, s, "DROP JUNCTION pick")
		m.must(ctx, s, "BEGIN; DROP INGESTOR feed; "+ingestor("8")+"; COMMIT")
		if text := m.must(ctx, s, "SHOW CREATE INGESTOR feed"); !strings.Contains(text, "SEED 8") {
			t.Errorf("got\n%s", text)
		}
		m.must(ctx, s, "STOP")
		if text := m.must(ctx, s, "SHOW INGESTORS"); !strings.Contains(text, "status=stopped") {
			t.Errorf("got %s", text)
		}
		m.must(ctx, s, "START AT NOW")
	})
	m.sim.Run(2 * time.Second)
}

func ingestor(seed string) string {
	return `CREATE INGESTOR feed FROM RANDOM SEED ` + seed + ` MAX ROWS 10 EVERY 100ms MODE ACK SEQUENTIAL ACK TIMEOUT 5s RETRY POLICY BACKOFF 1s MAX 2s ON QUIESCE SUSPEND
  DECODE USING tick_codec TO raw INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG`
}

// A client goes on when its node restarts, with what its transaction holds.
func TestClientsSurviveRestarts(t *testing.T) {
	m := newMachine(t, 6)
	m.boot()
	restart := func() { m.host.Crash() }
	m.sim.After(5*time.Second, restart)
	m.sim.After(6*time.Second, func() { m.start() })
	m.as(func(ctx context.Context, s *client.Session) {
		w := m.sim.Driver().World()
		m.must(ctx, s, "CREATE SCHEMA before (x U8)")
		first := s.ID()
		if err := primitives.Sleep(ctx, w, 5500*time.Millisecond); err != nil {
			t.Error(err)
		}
		m.must(ctx, s, "CREATE SCHEMA after (x U8)")
		if s.ID() == first {
			t.Error("the session is the old one")
		}
		m.must(ctx, s, "SHOW CREATE SCHEMA before")
		m.must(ctx, s, "BEGIN")
		m.must(ctx, s, "CREATE SCHEMA kept (x U8)")
		m.host.Crash()
		m.start()
		if text := m.must(ctx, s, "CREATE SCHEMA kept_too (x U8)"); text != "queued schema 'kept_too' at position 2" {
			t.Errorf("got %s", text)
		}
		m.refused(ctx, s, "SHOW CREATE SCHEMA kept", "tx.not_queueable")
		m.must(ctx, s, "COMMIT")
		m.must(ctx, s, "SHOW CREATE SCHEMA kept")
		m.must(ctx, s, "SHOW CREATE SCHEMA kept_too")
	})
}
