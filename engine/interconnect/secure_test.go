package interconnect

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/primitives"
	"plexus/real/certificates"
	"plexus/sim"
)

var testEpoch = time.Date(2026, time.January, 5, 8, 0, 0, 0, time.UTC)

const tlsDir = "/tls/"

// secureMesh is a simulated cluster whose nodes have certificates. Each may be
// edited before it starts.
type secureMesh struct {
	*testMesh
	authority *certificates.Authority
	ca        certificates.Pair
}

func newSecureMesh(t *testing.T, o sim.Options, n int) *secureMesh {
	t.Helper()
	sm := &secureMesh{testMesh: newTestMesh(t, o, n)}
	var err error
	if sm.authority, sm.ca, err = certificates.NewAuthority("default", testEpoch.AddDate(0, 0, -30)); err != nil {
		t.Fatal(err)
	}
	for _, node := range sm.nodes {
		sm.give(node, sm.issue(node.name, node.name+".test"))
		node.host.Disk().Put(tlsDir+"ca.pem", sm.ca.Certificate)
		node.edit = func(s *Settings) {
			s.Insecure = false
			s.TLS = &CredentialFiles{CA: tlsDir + "ca.pem", Certificate: tlsDir + "node.pem", Key: tlsDir + "node.key"}
		}
		node.serve = func(m *Mesh) {
			m.Handle(RuntimeDescribe, func(_ context.Context, _ Process, request []byte) ([]byte, error) { return request, nil })
		}
	}
	return sm
}

func (sm *secureMesh) issue(id string, hosts ...string) certificates.Pair {
	sm.t.Helper()
	pair, err := sm.authority.Issue(certificates.Node{ID: id, Hosts: hosts}, testEpoch)
	if err != nil {
		sm.t.Fatal(err)
	}
	return pair
}

func (sm *secureMesh) give(n *testNode, pair certificates.Pair) {
	n.host.Disk().Put(tlsDir+"node.pem", pair.Certificate)
	n.host.Disk().Put(tlsDir+"node.key", pair.Key)
}

func TestSecureCalls(t *testing.T) {
	for seed := range uint64(3) {
		sm := newSecureMesh(t, sim.Options{Seed: seed}, 3)
		sm.start()
		sm.until(10*time.Second, "connected", sm.connected)
		for _, size := range []int{0, 100, 70_000, 1 << 20} {
			sm.do(sm.nodes[0], 20*time.Second, func() {
				answer, err := sm.nodes[0].mesh.Call(context.Background(), "n2", RuntimeDescribe, make([]byte, size))
				if err != nil || len(answer) != size {
					t.Errorf("size %d: %d bytes, %v", size, len(answer), err)
				}
			})
		}
		sm.stop()
		sm.sim.Close()
	}
}

// TestForeignCertificates starts n1 with certificates that must not be accepted by
// n2, or that n2 must not accept.
func TestForeignCertificates(t *testing.T) {
	other, _, err := certificates.NewAuthority("default", testEpoch.AddDate(0, 0, -30))
	if err != nil {
		t.Fatal(err)
	}
	issue := func(a *certificates.Authority, n certificates.Node) certificates.Pair {
		pair, err := a.Issue(n, testEpoch)
		if err != nil {
			t.Fatal(err)
		}
		return pair
	}
	for _, c := range []struct {
		name  string
		edit  func(sm *secureMesh, n *testNode)
		texts []string // in the log of either node
	}{
		{"another authority", func(sm *secureMesh, n *testNode) {
			sm.give(n, issue(other, certificates.Node{ID: "n1", Hosts: []string{"n1.test"}}))
			n.host.Disk().Put(tlsDir+"ca.pem", append(slices.Clone(sm.ca.Certificate), other.PEM()...))
		}, []string{"not under the authority of --interconnect-tls-ca"}},
		{"plaintext", func(_ *secureMesh, n *testNode) {
			n.edit = func(s *Settings) { s.Insecure = true }
		}, []string{"the peer speaks plaintext", "the peer speaks TLS"}},
		{"expired for the peers", func(sm *secureMesh, n *testNode) {
			n.host.Clock().Jump(-24 * time.Hour)
			sm.give(n, issue(sm.authority, certificates.Node{ID: "n1", Hosts: []string{"n1.test"}, From: testEpoch.Add(-48 * time.Hour), Until: testEpoch.Add(-time.Hour)}))
		}, []string{"expired"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sm := newSecureMesh(t, sim.Options{Seed: 1}, 2)
			c.edit(sm, sm.nodes[0])
			sm.start()
			if err := sm.sim.Run(15 * time.Second); err != nil {
				t.Fatal(err)
			}
			for _, n := range sm.nodes {
				for _, p := range n.mesh.Peers() {
					if !p.Process.IsZero() || p.Availability != Unreachable {
						t.Errorf("%s believes %+v", n.name, p)
					}
				}
				if l := len(n.mesh.links); l != 0 {
					t.Errorf("%s has %d connections", n.name, l)
				}
			}
			for _, text := range c.texts {
				if !slices.ContainsFunc(sm.sim.Logs(), func(l sim.LogLine) bool { return strings.Contains(l.Text, text) }) {
					t.Errorf("nobody says %q: %v", text, sm.sim.Logs())
				}
			}
			sm.stop()
		})
	}
}

// TestUnusableCredentials holds local material to the node's own settings.
func TestUnusableCredentials(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(sm *secureMesh, n *testNode)
		text string
	}{
		{"no key", func(_ *secureMesh, n *testNode) { n.host.Disk().Put(tlsDir+"node.key", nil) }, "do not go together"},
		{"another key", func(sm *secureMesh, n *testNode) {
			n.host.Disk().Put(tlsDir+"node.key", sm.issue("n1", "n1.test").Key)
		}, "do not go together"},
		{"another node", func(sm *secureMesh, n *testNode) { sm.give(n, sm.issue("n9", "n1.test")) }, "of node 'n9'"},
		{"another host", func(sm *secureMesh, n *testNode) { sm.give(n, sm.issue("n1", "n9.test")) }, "does not cover"},
		{"another cluster", func(_ *secureMesh, n *testNode) {
			edit := n.edit
			n.edit = func(s *Settings) { edit(s); s.ClusterID = "orders" }
		}, "of cluster 'default'"},
		{"no authority", func(_ *secureMesh, n *testNode) { n.host.Disk().Put(tlsDir+"ca.pem", []byte("x")) }, "no authority"},
		{"a node as authority", func(sm *secureMesh, n *testNode) {
			n.host.Disk().Put(tlsDir+"ca.pem", sm.issue("n1", "n1.test").Certificate)
		}, "no authority"},
		{"not valid yet", func(_ *secureMesh, n *testNode) { n.host.Clock().Jump(-24 * time.Hour) }, "not valid"},
		{"missing file", func(_ *secureMesh, n *testNode) {
			edit := n.edit
			n.edit = func(s *Settings) { edit(s); s.TLS.Key = tlsDir + "none.key" }
		}, "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sm := newSecureMesh(t, sim.Options{Seed: 1}, 1)
			n := sm.nodes[0]
			c.edit(sm, n)
			var failed error
			n.failed = func(err error) { failed = err }
			sm.run(n)
			sm.until(time.Second, "ended", func() bool { return !n.host.Running() })
			var e *CredentialError
			if !errors.As(failed, &e) || !strings.Contains(failed.Error(), c.text) {
				t.Errorf("start ended with %v", failed)
			}
			for _, secret := range []string{"PRIVATE", "BEGIN"} {
				if failed != nil && strings.Contains(failed.Error(), secret) {
					t.Errorf("the error holds PEM text: %v", failed)
				}
			}
		})
	}
	s := Defaults()
	s.TLS = &CredentialFiles{CA: "ca.pem", Key: "key"}
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "belong together") {
		t.Errorf("two of three files: %v", err)
	}
}

// TestCredentialsAreReplaced writes new files while calls go on: torn readings
// change nothing, complete ones move every connection, and no call is lost.
func TestCredentialsAreReplaced(t *testing.T) {
	sm := newSecureMesh(t, sim.Options{Seed: 7}, 2)
	sm.start()
	sm.until(10*time.Second, "connected", sm.connected)
	n := sm.nodes[0]
	before := slices.Clone(n.mesh.links)
	stop, ended, calls := false, false, 0
	n.host.World().Tasks().Go("caller", func() {
		defer func() { ended = true }()
		for !stop {
			if _, err := n.mesh.Call(context.Background(), "n2", RuntimeDescribe, make([]byte, 1000)); err != nil {
				t.Errorf("at %s: %v", sm.sim.Elapsed(), err)
			}
			calls++
			if primitives.Sleep(context.Background(), n.host.World(), 7*time.Millisecond) != nil {
				return
			}
		}
	})
	pair := sm.issue("n1", "n1.test")
	n.host.Disk().Put(tlsDir+"node.pem", pair.Certificate) // the key follows later
	if err := sm.sim.Run(12 * time.Second); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(before, slices.Clone(n.mesh.links)) {
		t.Error("half a bundle took effect")
	}
	n.host.Disk().Put(tlsDir+"node.key", pair.Key)
	if err := sm.sim.Run(30 * time.Second); err != nil {
		t.Fatal(err)
	}
	stop = true
	sm.until(time.Second, "the caller ends", func() bool { return ended })
	after := slices.Clone(n.mesh.links)
	for _, c := range before {
		if slices.Contains(after, c) {
			t.Errorf("a connection of class %s outlived its credentials", c.class)
		}
	}
	if len(after) != len(before) || calls < 1000 {
		t.Errorf("%d connections, had %d; %d calls", len(after), len(before), calls)
	}
	sm.stop()
}

// TestConnectionsEndWithTheirCertificates lets a certificate expire; the next one is
// in place in time.
func TestConnectionsEndWithTheirCertificates(t *testing.T) {
	sm := newSecureMesh(t, sim.Options{Seed: 3}, 2)
	pair, err := sm.authority.Issue(certificates.Node{ID: "n2", Hosts: []string{"n2.test"}, Until: testEpoch.Add(20 * time.Second)}, testEpoch)
	if err != nil {
		t.Fatal(err)
	}
	sm.give(sm.nodes[1], pair)
	sm.start()
	sm.until(10*time.Second, "connected", sm.connected)
	before := slices.Clone(sm.nodes[0].mesh.links)
	if err := sm.sim.Run(25*time.Second - sm.sim.Elapsed()); err != nil {
		t.Fatal(err)
	}
	for _, c := range slices.Clone(sm.nodes[0].mesh.links) {
		if slices.Contains(before, c) {
			t.Errorf("a connection of class %s outlived the certificate", c.class)
		}
	}
	sm.until(20*time.Second, "unavailable", func() bool { return sm.nodes[0].mesh.Peers()[0].Availability == Unreachable })
	sm.give(sm.nodes[1], sm.issue("n2", "n2.test"))
	sm.until(30*time.Second, "connected again", sm.connected)
	sm.stop()
}
