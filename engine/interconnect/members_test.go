package interconnect

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"plexus/engine/interconnect/interconnectpb"
	"plexus/primitives"
)

func testProcess(node string, raftID, counter uint64, epoch byte) Process {
	return Process{Node: node, RaftID: raftID, Counter: counter, Epoch: Epoch{epoch}}
}

var testReception = receptionist{
	self: testProcess("n1", 1, 5, 1), clusterID: "default", cluster: testCluster, endpoint: "n1.test:47395",
	removed: func(id uint64) bool { return id == 2 },
}

func testMembers() *members {
	m := new(members)
	m.set([]Peer{{Node: "n1", RaftID: 1, Counter: 5}, {Node: "n3", RaftID: 3, Counter: 4}, {Node: "n5", RaftID: 5, Counter: 1}})
	return m
}

func testHello(p Process, edit func(*interconnectpb.Hello)) *interconnectpb.Hello {
	h := &interconnectpb.Hello{
		Format: Format, ClusterId: "default", Cluster: testCluster[:], Process: p.proto(), Node: "n1", Endpoint: "n1.test:47395",
	}
	if edit != nil {
		edit(h)
	}
	return h
}

// TestOnlyDescendantsReplaceAMember has processes of a member say what they know of
// its admissions.
func TestOnlyDescendantsReplaceAMember(t *testing.T) {
	m := new(members)
	m.set([]Peer{{Node: "n3", RaftID: 3, Counter: 4, Token: "fourth"}, {Node: "n5", RaftID: 5, Counter: 1, Token: "first"}})
	for _, c := range []struct {
		name   string
		from   Process
		proof  []string
		class  Class
		linked bool
		guest  bool
		code   SetupCode
	}{
		{name: "the admitted process", from: testProcess("n3", 3, 4, 7), proof: []string{"third", "fourth"}},
		{name: "its next start", from: testProcess("n3", 3, 5, 7), proof: []string{"fourth", "fifth"}},
		{name: "a later start after some that this node missed", from: testProcess("n3", 3, 9, 7), proof: []string{"fourth", "sixth", "ninth"}},
		{name: "an old copy that was started often", from: testProcess("n3", 3, 9, 7), proof: []string{"third", "other"}, guest: true},
		{name: "an old copy in a class for members", from: testProcess("n3", 3, 9, 7), proof: []string{"third"}, class: Replication, code: SetupUnproven},
		{name: "nobody in particular", from: testProcess("n3", 3, 5, 7), guest: true},
		{name: "another process of the admitted start", from: testProcess("n3", 3, 4, 8), guest: true},
		{name: "a member that joined again", from: testProcess("n3", 6, 1, 7), proof: []string{"new"}},
		{name: "somebody who says so while the member is there", from: testProcess("n3", 6, 1, 7), linked: true, guest: true},
	} {
		h := testHello(c.from, nil)
		h.Class = uint32(c.class)
		for _, token := range c.proof {
			h.Proof = append(h.Proof, proofOf(token, c.from))
		}
		got, refused := testReception.receive(h, nil, m, c.linked)
		if code := codeOf(refused); code != c.code || refused == nil && got.guest != c.guest {
			t.Errorf("%s: guest %v, %v", c.name, got.guest, refused)
		}
		w := &interconnectpb.Welcome{Process: c.from.proto(), Cluster: testCluster[:], Proof: h.Proof}
		if _, refused := testReception.accept(w, nil, Peer{Node: "n3", RaftID: 3, Counter: 4}, m); c.from.RaftID == 3 &&
			(refused != nil) != (c.guest || c.code != 0) {
			t.Errorf("%s as the acceptor: %v", c.name, refused)
		}
	}
	// What one process has shown proves nothing for another.
	seen := testHello(testProcess("n3", 3, 5, 9), nil)
	seen.Proof = [][]byte{proofOf("fourth", testProcess("n3", 3, 4, 7))}
	if got, refused := testReception.receive(seen, nil, m, false); refused != nil || !got.guest {
		t.Errorf("a proof that was overheard is taken: %+v, %v", got, refused)
	}
}

func codeOf(e *SetupError) SetupCode {
	if e == nil {
		return 0
	}
	return e.Code
}

// TestHelloIsChecked holds every field of a HELLO to certificate and state.
func TestHelloIsChecked(t *testing.T) {
	n3 := testProcess("n3", 3, 4, 7)
	for _, c := range []struct {
		name  string
		from  Process
		edit  func(*interconnectpb.Hello)
		local func(*receptionist)
		cert  *certified
		code  SetupCode // 0 accepts
		text  string
		guest bool
	}{
		{name: "a member", from: n3},
		{name: "a member started again", from: testProcess("n3", 3, 9, 7)},
		{name: "a member with its certificate", from: n3, cert: &certified{cluster: "default", node: "n3"}},
		{name: "a member not learnt of yet", from: testProcess("n6", 6, 1, 7)},
		{name: "a joiner", from: testProcess("n7", 0, 1, 7), edit: func(h *interconnectpb.Hello) { h.Cluster = nil; h.Node = "" }, guest: true},
		{name: "a joiner at a seed under another name", from: testProcess("n7", 0, 1, 7),
			edit: func(h *interconnectpb.Hello) { h.Cluster = nil; h.Node = ""; h.Endpoint = "seed:1" }, guest: true},
		{name: "a member asking a seed", from: n3, edit: func(h *interconnectpb.Hello) { h.Node = ""; h.Endpoint = "seed:1" }},

		{name: "a joiner in another class", from: testProcess("n7", 0, 1, 7),
			edit: func(h *interconnectpb.Hello) { h.Cluster = nil; h.Class = uint32(Relay) }, code: SetupStranger},
		{name: "another format", from: n3, edit: func(h *interconnectpb.Hello) { h.Format = 7 }, code: SetupFormat,
			text: "incompatible build: format 7, cluster runs 1"},
		{name: "another cluster id", from: n3, edit: func(h *interconnectpb.Hello) { h.ClusterId = "orders" }, code: SetupCluster,
			text: "node belongs to cluster 'default'"},
		{name: "another cluster UUID", from: n3, edit: func(h *interconnectpb.Hello) { h.Cluster = make([]byte, 16) }, code: SetupCluster},
		{name: "half a cluster UUID", from: n3, edit: func(h *interconnectpb.Hello) { h.Cluster = make([]byte, 8) }, code: SetupMalformed},
		{name: "the certificate of another node", from: n3, cert: &certified{cluster: "default", node: "n5"}, code: SetupCertificate},
		{name: "the certificate of another cluster", from: n3, cert: &certified{cluster: "orders", node: "n3"}, code: SetupCertificate},
		{name: "a duplicate of this node", from: testProcess("n1", 1, 5, 9), code: SetupDuplicate},
		{name: "meant for another node", from: n3, edit: func(h *interconnectpb.Hello) { h.Node = "n9" }, code: SetupMisdirected},
		{name: "meant for another endpoint", from: n3, edit: func(h *interconnectpb.Hello) { h.Endpoint = "n1.test:1" }, code: SetupMisdirected},
		{name: "no such class", from: n3, edit: func(h *interconnectpb.Hello) { h.Class = 99 }, code: SetupClass},
		{name: "no such slot", from: n3, edit: func(h *interconnectpb.Hello) { h.Slot = 1 }, code: SetupClass},
		{name: "a slot that only wraps around", from: n3, edit: func(h *interconnectpb.Hello) { h.Slot = 1 << 31 }, code: SetupClass},
		{name: "an older incarnation", from: testProcess("n3", 3, 3, 7), code: SetupStale, text: "stale incarnation"},
		{name: "a removed raft id", from: testProcess("n2", 2, 1, 7), code: SetupRemoved, text: "this node was dropped"},
		{name: "an unknown older raft id", from: testProcess("n4", 4, 1, 7), code: SetupRemoved},
		{name: "an older raft id of a node that joined again", from: testProcess("n5", 4, 1, 7), code: SetupRemoved},
		{name: "another raft id", from: testProcess("n3", 5, 4, 7), code: SetupIdentity},
		{name: "no epoch", from: n3, edit: func(h *interconnectpb.Hello) { h.Process.Epoch = nil }, code: SetupMalformed},
		{name: "no node id", from: n3, edit: func(h *interconnectpb.Hello) { h.Process.Node = "N_3" }, code: SetupMalformed},
		{name: "nobody", from: n3, edit: func(h *interconnectpb.Hello) { h.Process = nil }, code: SetupMalformed},
		{name: "while stopping", from: n3, local: func(r *receptionist) { r.stopping = true }, code: SetupStopping},
		{name: "before joining", from: n3, local: func(r *receptionist) { r.cluster = primitives.UUID{} }, code: SetupStranger},
	} {
		r := testReception
		if c.local != nil {
			c.local(&r)
		}
		got, refused := r.receive(testHello(c.from, c.edit), c.cert, testMembers(), false)
		switch {
		case c.code == 0 && refused != nil:
			t.Errorf("%s: refused: %v", c.name, refused)
		case c.code == 0 && (got.process != c.from || got.guest != c.guest):
			t.Errorf("%s: %+v", c.name, got)
		case c.code != 0 && (refused == nil || refused.Code != c.code || !strings.Contains(refused.Detail, c.text)):
			t.Errorf("%s: %v, want %s", c.name, refused, c.code)
		}
	}
}

// TestWelcomeIsChecked holds the answer to whom the dialler expected.
func TestWelcomeIsChecked(t *testing.T) {
	expected := Peer{Node: "n3", RaftID: 3, Counter: 4}
	for _, c := range []struct {
		name     string
		from     Process
		cluster  []byte
		cert     *certified
		expected Peer
		code     SetupCode
	}{
		{"whom it expected", testProcess("n3", 3, 4, 1), testCluster[:], nil, expected, 0},
		{"a newer start", testProcess("n3", 3, 8, 1), testCluster[:], nil, expected, 0},
		{"one that has not joined", testProcess("n3", 0, 1, 1), nil, nil, expected, 0},
		{"any seed", testProcess("n9", 9, 1, 1), testCluster[:], nil, Peer{}, 0},
		{"another node", testProcess("n5", 5, 4, 1), testCluster[:], nil, expected, SetupMisdirected},
		{"another raft id", testProcess("n3", 7, 4, 1), testCluster[:], nil, expected, SetupIdentity},
		{"an older start", testProcess("n3", 3, 3, 1), testCluster[:], nil, expected, SetupStale},
		{"another cluster", testProcess("n3", 3, 4, 1), make([]byte, 16), nil, expected, SetupCluster},
		{"half a UUID", testProcess("n3", 3, 4, 1), make([]byte, 3), nil, expected, SetupMalformed},
		{"another certificate", testProcess("n3", 3, 4, 1), testCluster[:], &certified{cluster: "default", node: "n5"}, expected, SetupCertificate},
		{"a foreign certificate", testProcess("n3", 3, 4, 1), testCluster[:], &certified{cluster: "x", node: "n3"}, expected, SetupCertificate},
	} {
		r := testReception
		got, refused := r.accept(&interconnectpb.Welcome{Process: c.from.proto(), Cluster: c.cluster}, c.cert, c.expected, testMembers())
		if c.code == 0 && (refused != nil || got != c.from) || c.code != 0 && (refused == nil || refused.Code != c.code) {
			t.Errorf("%s: %v, %v", c.name, got, refused)
		}
	}
}

// TestProcessesFollowEachOther meets processes of one node in different orders.
func TestProcessesFollowEachOther(t *testing.T) {
	first, again := testProcess("n", 3, 1, 1), testProcess("n", 3, 1, 2)
	second, rejoined := testProcess("n", 3, 2, 3), testProcess("n", 9, 1, 4)
	for _, c := range []struct {
		name  string
		meet  []Process
		code  SetupCode // of the last
		older Process   // that the last replaces
	}{
		{"the same", []Process{first, first}, 0, Process{}},
		{"started again", []Process{first, second}, 0, first},
		{"joined again", []Process{second, rejoined}, 0, second},
		{"a duplicate", []Process{first, again}, SetupDuplicate, Process{}},
		{"an old copy", []Process{first, second, again}, SetupStale, Process{}},
		{"from before it was dropped", []Process{rejoined, second}, SetupStale, Process{}},
	} {
		m := new(members)
		for i, p := range c.meet {
			older, refused := m.meet(p)
			if i < len(c.meet)-1 {
				continue
			}
			if older != c.older || (refused != nil) != (c.code != 0) || refused != nil && refused.Code != c.code {
				t.Errorf("%s: replaces %v, %v", c.name, older, refused)
			}
		}
	}
}

func TestPermanentRefusals(t *testing.T) {
	for code := SetupCode(1); code < setupCodes; code++ {
		want := code == SetupFormat || code == SetupCluster || code == SetupCertificate || code == SetupRemoved
		if code.Permanent() != want || code.String() == "unknown" {
			t.Errorf("%s: permanent %v", code, code.Permanent())
		}
	}
}

// FuzzHello reads arbitrary bytes as a HELLO: it is refused with a reason or names
// a process that could be one.
func FuzzHello(f *testing.F) {
	for _, edit := range []func(*interconnectpb.Hello){
		nil, func(h *interconnectpb.Hello) { h.Cluster = nil; h.Process.RaftId = 0; h.Node = "" },
		func(h *interconnectpb.Hello) { h.Class = 4 }, func(h *interconnectpb.Hello) { h.Process.Epoch = []byte("x") },
	} {
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(testHello(testProcess("n3", 3, 4, 7), edit))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h := new(interconnectpb.Hello)
		if err := Decode(b, h); err != nil {
			return
		}
		r := testReception
		c, refused := r.receive(h, nil, testMembers(), false)
		if refused != nil {
			if refused.Detail == "" || refused.Code == 0 || refused.Code >= setupCodes {
				t.Fatalf("refused without a reason: %+v", refused)
			}
			return
		}
		if !validNode(c.process.Node) || c.class >= classCount || c.slot >= connections[c.class] {
			t.Fatalf("accepted %+v", c)
		}
		if !c.guest && testMembers().judge(c.process, r.removed) != nil {
			t.Fatalf("accepted %+v, which is no member", c)
		}
	})
}
