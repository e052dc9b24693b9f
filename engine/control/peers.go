package control

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "go.etcd.io/raft/v3/raftpb"
)

// Peers is how the group reaches its other members.
type Peers interface {
	// Send hands messages over in order per destination. It never blocks and drops
	// what it has no room for, telling so by Group.Unreachable. The messages and
	// what they refer to never change afterwards.
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

// EncodeMessage returns a raft message as bytes between nodes.
func EncodeMessage(m *pb.Message) ([]byte, error) { return deterministic.Marshal(m) }

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

// ErrMessage says that bytes of another node are no message of this format.
var ErrMessage = errors.New("malformed message")

// Receive takes a raft message of another member.
func (g *Group) Receive(ctx context.Context, from uint64, m *pb.Message) error {
	return g.inbox.Send(ctx, event{message: m})
}

// Unreachable says that a message to a member was dropped.
func (g *Group) Unreachable(to uint64) { g.inbox.TrySend(event{unreachable: to}) }

// ReadSection returns one section of a snapshot to the member that fetches it.
func (g *Group) ReadSection(_ context.Context, from uint64, id SnapshotID, section int) ([]byte, error) {
	return readFile(g.dir.files, g.dir.sub(snapshotDir)+"/"+id.dir()+"/"+sectionName(section))
}
