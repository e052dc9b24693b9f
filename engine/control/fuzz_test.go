package control

import (
	"crypto/sha256"
	"errors"
	"reflect"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"plexus/engine/catalog"
	"plexus/engine/control/controlpb"
)

// FuzzSnapshotSection gives a fetched snapshot sections that its manifest vouches
// for, cut anywhere: whatever they hold is a state, or refused with its type.
func FuzzSnapshotSection(f *testing.F) {
	for _, state := range []*catalog.State{firstTestState(f), firstTestState(f).Skip(9)} {
		for section, err := range state.Sections(sectionBytesMax) {
			if err != nil {
				f.Fatal(err)
			}
			f.Add(section, uint16(len(section)/2), uint64(1))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, cut uint16, index uint64) {
		at := min(int(cut), len(b))
		m := &controlpb.Manifest{Format: format, Index: index, Term: 1, Voters: []uint64{1}}
		whole := sha256.Sum256(b)
		m.StateDigest = whole[:]
		sections := [][]byte{b[:at], b[at:]}
		for _, s := range sections {
			digest := sha256.Sum256(s)
			m.Sections = append(m.Sections, &controlpb.Section{Length: uint64(len(s)), Sha256: digest[:]})
		}
		x := newBuilder("fuzzed", m)
		for _, s := range sections {
			if err := x.add(s); err != nil {
				refusedWell(t, err)
				return
			}
		}
		state, err := x.state()
		if err != nil {
			refusedWell(t, err)
			return
		}
		if state.Applied != index {
			t.Fatalf("a snapshot of index %d holds the state at %d", index, state.Applied)
		}
		if _, err := state.Digest(); err != nil {
			t.Fatal(err)
		}
	})
}

func refusedWell(t *testing.T, err error) {
	t.Helper()
	var damage *DamageError
	if !errors.As(err, &damage) && !errors.Is(err, catalog.ErrFormat) && !errors.Is(err, catalog.ErrModel) {
		t.Fatalf("untyped error: %v", err)
	}
}

// FuzzControlClaim reads claims, answers and requests of sections that nobody wrote,
// and judges the claims: all are refused with their types, or are what they encode.
func FuzzControlClaim(f *testing.F) {
	claim, err := Claim{Format: format, ClusterID: "c", Node: "node-2", Counter: 1, Endpoints: Endpoints{Interconnect: "h:1"}}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	answer, err := EncodeAnswer(Admission{RaftID: 2, Members: []Member{{"node-1", 1, "h:1"}}}, nil)
	if err != nil {
		f.Fatal(err)
	}
	refusal, err := EncodeAnswer(Admission{}, errDropped())
	if err != nil {
		f.Fatal(err)
	}
	request, err := EncodeSectionRequest(SnapshotID{7, 2}, 3)
	if err != nil {
		f.Fatal(err)
	}
	for _, b := range [][]byte{claim, answer, refusal, request} {
		f.Add(b)
	}
	state := firstTestState(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := DecodeClaim(b); err == nil {
			again, err := c.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if back, err := DecodeClaim(again); err != nil || !reflect.DeepEqual(back, c) {
				t.Fatalf("%+v comes back as %+v: %v", c, back, err)
			}
			if v, refused := judge(state, "c", c); refused == nil && v.admitted == 0 && v.step == nil {
				t.Fatalf("%+v is neither refused nor admitted", c)
			}
		} else if !errors.Is(err, ErrMessage) {
			t.Fatalf("untyped error: %v", err)
		}
		if a, err := DecodeAnswer(b); err == nil && a.RaftID == 0 {
			t.Fatal("an admission without a raft id")
		} else if err != nil {
			var refused *ClaimError
			var elsewhere *NotLeaderError
			if !errors.Is(err, ErrMessage) && !errors.As(err, &refused) && !errors.As(err, &elsewhere) {
				t.Fatalf("untyped error: %v", err)
			}
		}
		if _, _, err := DecodeSectionRequest(b); err != nil && !errors.Is(err, ErrMessage) {
			t.Fatalf("untyped error: %v", err)
		}
	})
}

// FuzzRaftMessage reads raft messages that no member wrote: what is passed to raft
// is from who sent it, to this member, and of a type that members send.
func FuzzRaftMessage(f *testing.F) {
	one, two, term := uint64(1), uint64(2), uint64(3)
	for _, m := range []*pb.Message{
		{Type: pb.MsgHeartbeat.Enum(), From: &two, To: &one, Term: &term},
		{Type: pb.MsgVote.Enum(), From: &two, To: &one, Term: &term, Index: &two, LogTerm: &one},
		{Type: pb.MsgApp.Enum(), From: &two, To: &one, Term: &term, Index: &one, LogTerm: &one, Entries: []*pb.Entry{testEntry(2, 2, "x")}},
	} {
		b, err := AppendMessage(nil, m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeMessage(b)
		if err != nil {
			if !errors.Is(err, ErrMessage) {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		again, err := AppendMessage(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := DecodeMessage(again); err != nil || !proto.Equal(back, m) {
			t.Fatalf("the message comes back as another one: %v", err)
		}
		if err := checkMessage(m, two, one); err != nil {
			if !errors.Is(err, ErrMessage) {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		if m.GetFrom() != two || m.GetTo() != one {
			t.Fatalf("a message from %d to %d passes", m.GetFrom(), m.GetTo())
		}
	})
}
