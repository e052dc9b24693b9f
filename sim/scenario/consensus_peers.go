package scenario

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/engine/control"
	"plexus/primitives"
)

// consensusPeers carries the messages of one member over datagrams, which may be
// lost, doubled and overtake each other, and its questions over one connection
// each.
type consensusPeers struct {
	node  *consensusNode
	w     primitives.World
	group *control.Group // once it is open
	proc  interface{ Sent(*pb.Message) }

	datagrams primitives.PacketConn
	listener  primitives.Listener
	// known are the addresses of members by raft id; heard those that messages came
	// from, because a new member hears from the leader before it knows the members. A
	// message may have been passed on by another member.
	known, heard map[uint64]netip.AddrPort
	buffer       []byte // of the message being sent
}

const (
	consensusPort = 4100
	// consensusStall bounds the silence of a connection.
	consensusStall = 5 * time.Second
	answerMax      = 1 << 20
	datagramMax    = 128 << 10
)

// The questions.
const (
	askJoin    = 'j'
	askSection = 's'
)

// The answers.
const (
	answerDone   = 0
	answerFailed = 1
)

// listen binds the member's sockets.
func (p *consensusPeers) listen() error {
	at := netip.AddrPortFrom(netip.IPv4Unspecified(), consensusPort)
	var err error
	if p.datagrams, err = p.w.Net().ListenPacket(at); err != nil {
		return err
	}
	p.listener, err = p.w.Net().Listen(at)
	return errors.Join(err)
}

func (p *consensusPeers) close() {
	if p.datagrams != nil {
		p.datagrams.Close()
	}
	if p.listener != nil {
		p.listener.Close()
	}
}

// serve answers until the scope ends.
func (p *consensusPeers) serve(tasks *primitives.Group) {
	primitives.OnCancel(tasks.Context(), p.close)
	tasks.Go("datagrams", p.receive)
	tasks.Go("questions", func(ctx context.Context) error {
		for {
			c, err := p.listener.Accept()
			if err != nil {
				return nil
			}
			tasks.Go("question", func(ctx context.Context) error {
				defer c.Close()
				stop := primitives.OnCancel(ctx, func() { c.ReadBy(0) })
				defer stop()
				p.answer(ctx, c)
				return nil
			})
		}
	})
}

// receive hands arriving messages to the group.
func (p *consensusPeers) receive(ctx context.Context) error {
	buffer := make([]byte, datagramMax)
	for {
		n, from, err := p.datagrams.ReadFrom(buffer)
		if err != nil {
			return nil
		}
		m, err := control.DecodeMessage(buffer[:n])
		if err != nil {
			return fmt.Errorf("datagram of %v: %w", from, err)
		}
		p.heard[m.GetFrom()] = from
		if err := p.group.Receive(ctx, m.GetFrom(), m); err != nil && ctx.Err() != nil {
			return nil
		}
	}
}

// Send implements control.Peers.
func (p *consensusPeers) Send(messages []*pb.Message) {
	for _, m := range messages {
		p.proc.Sent(m)
		to, ok := p.addr(m.GetTo())
		if !ok {
			p.group.Unreachable(m.GetTo())
			continue
		}
		var err error
		if p.buffer, err = control.AppendMessage(p.buffer[:0], m); err == nil {
			_, err = p.datagrams.WriteTo(p.buffer, to)
		}
		if err != nil {
			p.group.Unreachable(m.GetTo())
		}
		p.node.c.story.sent(p.node, m)
	}
}

func (p *consensusPeers) addr(member uint64) (netip.AddrPort, bool) {
	if to, ok := p.known[member]; ok {
		return to, true
	}
	if n, ok := p.group.State().NodeByRaft(member); ok {
		if to, err := netip.ParseAddrPort(n.Interconnect); err == nil {
			p.known[member] = to
			return to, true
		}
	}
	to, ok := p.heard[member]
	return to, ok
}

var errNoAnswer = errors.New("no answer")

// Section implements control.Peers.
func (p *consensusPeers) Section(ctx context.Context, from uint64, id control.SnapshotID, section int) ([]byte, error) {
	to, ok := p.addr(from)
	if !ok {
		return nil, errNoAnswer
	}
	q := binary.BigEndian.AppendUint64([]byte{askSection}, p.group.Identity().RaftID)
	request, err := control.EncodeSectionRequest(id, section)
	if err != nil {
		return nil, err
	}
	kind, b, err := p.ask(ctx, to, append(q, request...))
	switch {
	case err != nil:
		return nil, err
	case kind != answerDone:
		return nil, fmt.Errorf("%w: %s", errNoAnswer, b)
	}
	return p.node.c.damage(b), nil
}

// Join implements control.Peers: it asks one machine after the other.
func (p *consensusPeers) Join(ctx context.Context, c control.Claim) (control.Admission, error) {
	q, err := c.Encode()
	if err != nil {
		return control.Admission{}, err
	}
	last := errNoAnswer
	for _, other := range p.node.c.nodes {
		if other == p.node {
			continue
		}
		kind, b, err := p.ask(ctx, netip.AddrPortFrom(other.host.Addr(), consensusPort), append([]byte{askJoin}, q...))
		if err != nil {
			if ctx.Err() != nil {
				return control.Admission{}, err
			}
			continue
		}
		if kind != answerDone {
			continue
		}
		var refused *control.ClaimError
		admission, err := control.DecodeAnswer(b)
		if err == nil || errors.As(err, &refused) {
			return admission, err
		}
		last = err
	}
	return control.Admission{}, last
}

// ask sends a question over a connection of its own.
func (p *consensusPeers) ask(ctx context.Context, to netip.AddrPort, question []byte) (kind byte, answer []byte, err error) {
	by := p.w.Clock().Now().Add(consensusStall)
	c, err := p.w.Net().Dial(ctx, to, by)
	if err != nil {
		return 0, nil, err
	}
	defer c.Close()
	stop := primitives.OnCancel(ctx, func() { c.ReadBy(0) })
	defer stop()
	c.WriteBy(by)
	if _, err := c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(question))), question...)); err != nil {
		return 0, nil, err
	}
	// Admission waits for the group.
	c.ReadBy(p.w.Clock().Now().Add(3 * consensusStall))
	b, err := readFrame(c)
	if err != nil {
		return 0, nil, err
	}
	return b[0], b[1:], nil
}

func readFrame(c io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > answerMax {
		return nil, fmt.Errorf("%w: frame of %d bytes", errNoAnswer, n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(c, b)
	return b, err
}

// answer reads one question and answers it.
func (p *consensusPeers) answer(ctx context.Context, c primitives.Conn) {
	c.ReadBy(p.w.Clock().Now().Add(consensusStall))
	q, err := readFrame(c)
	if err != nil {
		return
	}
	kind, b := p.reply(ctx, q)
	c.WriteBy(p.w.Clock().Now().Add(consensusStall))
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(b)+1)), kind)
	if _, err := c.Write(append(frame, b...)); err != nil {
		p.w.Log().Debug("an answer was not taken", "error", err)
	}
}

func (p *consensusPeers) reply(ctx context.Context, q []byte) (kind byte, answer []byte) {
	failed := func(err error) (byte, []byte) { return answerFailed, []byte(err.Error()) }
	switch {
	case q[0] == askJoin:
		claim, err := control.DecodeClaim(q[1:])
		if err != nil {
			return failed(err)
		}
		b, err := control.EncodeAnswer(p.group.AdmitMember(ctx, claim))
		if err != nil {
			return failed(err)
		}
		return answerDone, b
	case q[0] == askSection && len(q) > 9:
		id, section, err := control.DecodeSectionRequest(q[9:])
		if err != nil {
			return failed(err)
		}
		b, err := p.group.ReadSection(ctx, binary.BigEndian.Uint64(q[1:]), id, section)
		if err != nil {
			return failed(err)
		}
		return answerDone, b
	}
	return failed(control.ErrMessage)
}
