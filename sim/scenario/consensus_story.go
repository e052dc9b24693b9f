package scenario

import (
	"context"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/sim"
)

// succession is a story of leaders that fall one after the other, each at the worst
// moment. The first is cut off with commands that nobody else has. Who votes for the
// next loses its power right behind its answer. Then either the first and the voter
// are left to elect while the second is cut off; or the first takes the entries of
// the second, and loses its power right behind that, while the second is cut off.
type succession struct {
	c                    *consensusRun
	began                int // stories, to tell late timers of an earlier one
	first, second, voter *consensusNode
	rivals               bool // the first and the voter elect against the second
	longest              map[*consensusNode]uint64
}

const (
	// successionMost bounds a story.
	successionMost = 8 * time.Second
	// answerTravels is when an answer has arrived, and nothing that follows from it.
	answerTravels = 60 * time.Millisecond
	// successionBurst is how many commands the first leader is left alone with.
	successionBurst = 6
	// downShortly is how long a machine is down that comes back at once.
	downShortly = 10 * time.Millisecond
)

// begin cuts off the leader.
func (s *succession) begin() {
	leader := s.c.leader()
	if leader == nil || s.first != nil {
		return
	}
	s.began++
	s.first, s.second, s.voter = leader, nil, nil
	s.rivals = s.c.draw.Below(2) == 0
	s.alone(leader)
	for range 2 + s.c.draw.Below(successionBurst) {
		leader.during("burst", func(ctx context.Context) error {
			leader.create(ctx)
			return nil
		})
	}
	s.later(successionMost, s.end)
}

// later does something unless the story has ended by then.
func (s *succession) later(d time.Duration, f func()) {
	story := s.began
	s.c.sim.After(d, func() {
		if s.began == story && s.first != nil {
			f()
		}
	})
}

// end leaves nothing cut off and nobody down.
func (s *succession) end() {
	if s.first == nil {
		return
	}
	s.first = nil
	for _, a := range s.c.nodes {
		for _, b := range s.c.nodes {
			if a != b {
				s.c.sim.Network().Heal(a.host, b.host)
			}
		}
		s.up(a)
	}
}

func (s *succession) up(n *consensusNode) {
	if !n.host.Running() {
		n.host.Restart()
	}
}

// alone cuts a member off.
func (s *succession) alone(n *consensusNode) {
	for _, other := range s.c.nodes {
		if other != n {
			s.c.sim.Network().Partition([]*sim.Host{n.host}, []*sim.Host{other.host})
		}
	}
}

func (s *succession) joined(a, b *consensusNode) {
	s.c.sim.Network().Heal(a.host, b.host)
	s.c.sim.Network().Heal(b.host, a.host)
}

// sent looks at a message that a member has just sent.
func (s *succession) sent(n *consensusNode, m *pb.Message) {
	switch m.GetType() {
	case pb.MsgApp:
		s.longest[n] = max(s.longest[n], m.GetIndex()+uint64(len(m.GetEntries())))
	case pb.MsgAppResp:
		shorter := !m.GetReject() && m.GetIndex() < s.longest[n]
		if s.longest[n] = max(s.longest[n], m.GetIndex()); shorter {
			s.longest[n] = m.GetIndex()
			s.overwrote(n)
		}
	case pb.MsgVoteResp:
		if !m.GetReject() {
			s.voted(n, m.GetTo())
		}
	}
}

// voted is a member that voted for the second leader.
func (s *succession) voted(n *consensusNode, candidate uint64) {
	if s.first == nil || s.second != nil || n == s.first {
		return
	}
	for _, other := range s.c.nodes {
		if other != n && other != s.first && other.group != nil && other.group.Identity().RaftID == candidate {
			s.second, s.voter = other, n
		}
	}
	if s.second == nil {
		return
	}
	n.host.AfterTurns(int(s.c.draw.Below(4)), n.host.Crash)
	s.later(answerTravels, func() {
		if s.rivals {
			s.alone(s.second)
			s.joined(s.first, s.voter)
			s.later(downShortly, func() { s.up(s.voter) })
			return
		}
		s.later(time.Duration(s.c.draw.Below(uint64(time.Second))), func() { s.joined(s.first, s.second) })
	})
}

// overwrote is a member whose log has become shorter.
func (s *succession) overwrote(n *consensusNode) {
	if s.rivals || n != s.first || s.second == nil {
		return
	}
	n.host.AfterTurns(int(s.c.draw.Below(4)), n.host.Crash)
	s.later(answerTravels, func() {
		s.alone(s.second)
		s.joined(s.first, s.voter)
		s.up(s.first)
		s.up(s.voter)
	})
}
