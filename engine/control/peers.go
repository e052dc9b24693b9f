package control

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "go.etcd.io/raft/v3/raftpb"
)

// Hopeless is a failure of Peers.Join that says by itself whether a person has to
// change something first: such a one is told at once.
type Hopeless interface{ Hopeless() bool }

// Peers is how the group reaches its other members.
type Peers interface {
	// Send hands messages over in order per destination. It never blocks and drops
	// what it has no room for, telling so by Group.Unreachable. The messages and
	// what they refer to never change afterwards; the slice is the group's again.
	Send(messages []*pb.Message)
	// Section fetches one section of a snapshot from the member that offered it. It
	// bounds the time without progress; the group bounds the whole.
	Section(ctx context.Context, from uint64, id SnapshotID, section int) ([]byte, error)
	// Join asks the leader for admission once: through the seeds, or the members the
	// caller knows. A refusal is a *ClaimError; every other error is tried again.
	Join(ctx context.Context, c Claim) (Admission, error)
}

// messageMax bounds an encoded raft message: a batch of entries, or one entry that
// is larger, and the manifest of a snapshot.
const messageMax = 2 << 20

var (
	// ErrMessage says that bytes of another node are no message of this format.
	ErrMessage = errors.New("malformed message")
	// ErrSnapshotGone says that a newer snapshot replaced the one asked for.
	ErrSnapshotGone = errors.New("the snapshot is gone")
)

// EncodeMessage returns a raft message as bytes between nodes.
func EncodeMessage(m *pb.Message) ([]byte, error) { return AppendMessage(nil, m) }

// AppendMessage is EncodeMessage behind dst.
func AppendMessage(dst []byte, m *pb.Message) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.MarshalAppend(dst, m)
}

// DecodeMessage reads a raft message of another node.
func DecodeMessage(b []byte) (*pb.Message, error) {
	if len(b) > messageMax {
		return nil, fmt.Errorf("%w: raft message of %d bytes, at most %d", ErrMessage, len(b), messageMax)
	}
	m := new(pb.Message)
	if err := proto.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%w: raft message: %w", ErrMessage, err)
	}
	return m, nil
}

// Receive takes a raft message of another member.
func (g *Group) Receive(ctx context.Context, from uint64, m *pb.Message) error {
	if !g.joined.IsSet() {
		return fmt.Errorf("%w: this node has not joined yet", ErrNotLeader)
	}
	if err := checkMessage(m, from, g.me().RaftID); err != nil {
		return err
	}
	if g.State().Removed(from) {
		return errDropped()
	}
	switch m.GetType() {
	case pb.MsgSnap:
		// Offers are repeated; one is fetched at a time.
		g.offers.TrySend(m)
		return nil
	case pb.MsgSnapStatus:
		return g.inbox.Send(ctx, event{refused: from})
	}
	return g.inbox.Send(ctx, event{message: m})
}

// checkMessage refuses what no member of this build sends and what the raft machine
// takes for granted.
func checkMessage(m *pb.Message, from, self uint64) error {
	refuse := func(text string, args ...any) error {
		return fmt.Errorf("%w: %v of %d: %s", ErrMessage, m.GetType(), from, fmt.Sprintf(text, args...))
	}
	if m.GetFrom() != from || m.GetTo() != self || from == self || from == 0 {
		return refuse("it says it is from %d to %d", m.GetFrom(), m.GetTo())
	}
	switch m.GetType() {
	case pb.MsgApp:
		return checkAppend(m, refuse)
	case pb.MsgSnap:
		if meta := m.GetSnapshot().GetMetadata(); meta.GetIndex() == 0 || meta.GetTerm() == 0 || meta.GetTerm() > m.GetTerm() {
			return refuse("snapshot at index %d of term %d", meta.GetIndex(), meta.GetTerm())
		}
	case pb.MsgReadIndex, pb.MsgReadIndexResp:
		if len(m.GetEntries()) != 1 || len(m.GetEntries()[0].GetData()) != readContextBytes {
			return refuse("no read context")
		}
	case pb.MsgHeartbeat, pb.MsgHeartbeatResp:
		if n := len(m.GetContext()); n != 0 && n != 8 {
			return refuse("context of %d bytes", n)
		}
	case pb.MsgAppResp, pb.MsgVote, pb.MsgVoteResp, pb.MsgPreVote, pb.MsgPreVoteResp, pb.MsgTimeoutNow, pb.MsgSnapStatus:
	default:
		return refuse("members do not send it")
	}
	return nil
}

func checkAppend(m *pb.Message, refuse func(string, ...any) error) error {
	index, term := m.GetIndex(), m.GetLogTerm()
	for _, e := range m.GetEntries() {
		index++
		if e.GetIndex() != index || e.GetTerm() < term || e.GetTerm() > m.GetTerm() {
			return refuse("entry %d of term %d where %d of term %d to %d belongs", e.GetIndex(), e.GetTerm(), index, term, m.GetTerm())
		}
		term = e.GetTerm()
		// Commands are decoded when they are applied.
		if e.GetType() != pb.EntryNormal {
			if _, err := decodeChange(e); err != nil {
				return refuse("%v", err)
			}
		}
	}
	return nil
}

// Unreachable says that a message to a member was dropped.
func (g *Group) Unreachable(to uint64) { g.inbox.TrySend(event{unreachable: to}) }

// ReadSection returns one section of a snapshot to the member that fetches it.
func (g *Group) ReadSection(ctx context.Context, from uint64, id SnapshotID, section int) ([]byte, error) {
	if section < 0 || section >= sectionsMax {
		return nil, fmt.Errorf("%w: section %d", ErrMessage, section)
	}
	b, err := readFile(g.dir.files, g.dir.sub(snapshotDir)+"/"+id.dir()+"/"+sectionName(section))
	if missing(err) {
		return nil, ErrSnapshotGone
	}
	if err != nil {
		return nil, fmt.Errorf("read snapshot section: %w", err)
	}
	return b, g.inbox.Send(ctx, event{fetched: from})
}
