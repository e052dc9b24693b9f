package nats

import (
	"context"
	"slices"
	"time"

	"plexus/connectors/contract"
	connector "plexus/connectors/nats"
	"plexus/primitives"
	"plexus/sim/brokers"
)

// session is the server's end of one connection: a task that reads and handles
// frames, and one that writes what other sessions and timers cause.
type session struct {
	broker *Broker
	id     uint32
	conn   primitives.Conn
	wake   *primitives.Notice
	end    *primitives.Event

	loggedIn bool
	out      brokers.Out
	spare    []byte
	writing  bool
	closed   bool
}

// serve takes a connection.
func (b *Broker) serve(conn primitives.Conn) {
	b.lastPrint++
	s := &session{
		broker: b, id: b.lastPrint, conn: conn,
		wake: primitives.NewNotice(b.world), end: primitives.NewEvent(b.world),
	}
	b.sessions = append(b.sessions, s)
	b.group.Go("nats session", func(context.Context) error {
		s.read()
		s.close()
		return nil
	})
	b.group.Go("nats writer", func(ctx context.Context) error {
		for !s.closed {
			if i, err := primitives.Select(ctx, b.world, s.end.OnSet(), s.wake.OnRaise()); i == 0 || err != nil {
				break
			}
			s.flush()
		}
		return nil
	})
}

func (s *session) read() {
	frames := brokers.NewFrames(s.conn)
	for frames.Fill() == nil {
		s.broker.handling = s
		for {
			in, more, err := frames.Next()
			if err != nil || more && !s.handle(in) {
				s.broker.handling = nil
				s.flush()
				return
			}
			if !more {
				break
			}
		}
		s.broker.handling = nil
		s.flush()
	}
}

// close forgets everything that lived with the connection.
func (s *session) close() {
	if s.closed {
		return
	}
	s.closed = true
	s.end.Set()
	s.conn.Close()
	b := s.broker
	b.sessions = slices.DeleteFunc(b.sessions, func(o *session) bool { return o == s })
	b.subs = slices.DeleteFunc(b.subs, func(sub *subscription) bool { return sub.session == s })
	clear(b.interest)
	for _, stream := range b.streams {
		for _, c := range stream.consumers {
			c.leave(s)
		}
	}
}

// touch makes sure that what was appended to out is written. The session that
// handles a frame writes after its last one.
func (s *session) touch() {
	if s.broker.handling != s {
		s.wake.Raise()
	}
}

// flush writes what is buffered, unless it is held or another task writes.
func (s *session) flush() {
	if s.writing || s.closed || s.broker.faults.silent.Holds() {
		return
	}
	s.writing = true
	for len(s.out.Bytes) > 0 && !s.closed {
		batch := s.out.Bytes
		s.out.Bytes = s.spare[:0]
		_, err := s.conn.Write(batch)
		s.spare = batch
		if err != nil || len(s.out.Bytes) > outBytesMax {
			s.close()
		}
	}
	s.writing = false
}

// send appends a frame of numbers.
func (s *session) send(kind byte, numbers ...uint64) {
	s.out.Begin(kind)
	for _, n := range numbers {
		s.out.Uint(n)
	}
	s.out.End()
	s.touch()
}

func (s *session) message(sid uint64, headers []contract.Header, payload []byte) {
	s.out.Begin(frameMessage)
	s.out.Uint(sid)
	s.out.Headers(headers)
	s.out.Blob(payload)
	s.out.End()
	s.touch()
}

func (s *session) text(kind byte, text string) {
	s.out.Begin(kind)
	s.out.Text(text)
	s.out.End()
	s.touch()
}

// handle does what one frame asks for. False ends the connection.
func (s *session) handle(in brokers.In) bool {
	if in.Kind == frameConnect {
		return s.login(in.Text(), in.Text())
	}
	if !s.loggedIn {
		return false
	}
	switch in.Kind {
	case frameSub:
		s.broker.subscribe(&subscription{session: s, sid: in.Uint(), pattern: in.Text(), group: in.Text()})
	case framePing:
		s.send(framePong, in.Uint())
	case framePub:
		return s.publish(&in, 0, false)
	case framePubAwait:
		return s.publish(&in, in.Uint(), true)
	case frameLookup:
		s.lookup(in.Text(), in.Text())
	case framePull:
		s.pull(&in)
	case frameUnpull:
		s.unpull(in.Uint())
	case frameAck:
		s.acknowledge(&in)
	case frameNak:
		if c := s.consumer(&in); c != nil {
			delay := time.Duration(in.Uint())
			for in.More() {
				c.reject(in.Uint(), s.id, delay)
			}
			c.deliver()
		}
	case frameProgress:
		if c := s.consumer(&in); c != nil {
			for in.More() {
				c.progress(in.Uint(), s.id)
			}
		}
	default:
		return false
	}
	return !in.Bad
}

func (s *session) login(user, password string) bool {
	b := s.broker
	s.loggedIn = !b.faults.loginsRefused.Holds() &&
		(len(b.logins) == 0 || slices.Contains(b.logins, login{user, password}))
	if !s.loggedIn {
		s.text(frameError, "Authorization Violation")
		return false
	}
	s.send(frameInfo, uint64(b.maxBytes))
	return true
}

func (s *session) publish(in *brokers.In, id uint64, awaited bool) bool {
	b := s.broker
	subject, headers, payload := in.Text(), in.Headers(), in.Blob()
	if in.Bad {
		return false
	}
	if messageBytes(headers, payload) > b.maxBytes {
		s.text(frameError, "Maximum Payload Violation")
		return false
	}
	if !awaited {
		b.publish(subject, headers, payload, s.id)
		return true
	}
	captured := b.capturing(subject)
	refusal := 0
	switch {
	case len(captured) == 0, b.faults.noResponders.Holds(), b.faults.leaderless.Holds():
		refusal = answerNoResponders
	case b.faults.streamError.Holds():
		refusal = codeInsufficientResources
	case b.faults.refuse.Take():
		refusal = codeTooLarge
	}
	if refusal != 0 {
		channel := b.ledger.Channel(subject)
		if len(captured) > 0 {
			channel = captured[0].channel
		}
		b.ledger.Add(brokers.Event{Channel: channel, Conn: s.id, Kind: brokers.Refused, Status: uint16(refusal)})
		s.answer(id, refusal)
		return true
	}
	seq, status := b.publish(subject, headers, payload, s.id)
	kind := brokers.Answered
	if b.faults.loseAnswers.Take() {
		kind = brokers.AnswerLost
	} else {
		s.answer(id, status)
	}
	if seq > 0 {
		b.ledger.Add(brokers.Event{Channel: captured[0].channel, Seq: seq, Conn: s.id, Kind: kind, Status: uint16(status)})
	}
	return true
}

// errorTexts are the descriptions of the JetStream errors this model gives.
func errorText(code int) string {
	switch code {
	case codeTooLarge:
		return "message size exceeds maximum allowed"
	case codeInsufficientResources:
		return "insufficient resources"
	}
	return ""
}

func (s *session) answer(id uint64, code int) {
	s.out.Begin(frameAnswer)
	s.out.Uint(id)
	s.out.Uint(uint64(code))
	s.out.Text(errorText(code))
	s.out.End()
	s.touch()
}

func (s *session) lookup(streamName, name string) {
	found, config := uint64(foundConsumer), connector.ConsumerConfig{}
	switch stream := s.broker.byName[streamName]; {
	case stream == nil:
		found = foundNoStream
	case stream.consumer(name) == nil:
		found = foundNoConsumer
	default:
		config = stream.consumer(name).config
	}
	flag := func(b bool) uint64 {
		if b {
			return 1
		}
		return 0
	}
	s.send(frameConsumer, found, flag(config.Explicit), flag(config.Push), uint64(config.Backoff),
		uint64(config.AckWait), uint64(config.MaxAckPending), uint64(config.MaxDeliver))
}

// consumer reads the names that begin a frame. Nobody answers for a consumer that
// is gone or has no leader.
func (s *session) consumer(in *brokers.In) *consumer {
	stream := s.broker.byName[string(in.Blob())]
	name := in.Blob()
	if stream == nil || s.broker.faults.leaderless.Holds() {
		return nil
	}
	return stream.consumer(string(name))
}

func (s *session) pull(in *brokers.In) {
	id := in.Uint()
	c := s.consumer(in)
	p := &pull{session: s, id: id, left: int(in.Uint())}
	wait := time.Duration(in.Uint())
	p.heartbeat = time.Duration(in.Uint())
	if c == nil {
		// A request that no one takes gets no answer but the missing heartbeats; the
		// short ones get theirs from the server itself.
		if wait == 0 {
			s.send(framePullEnd, id, pullNoMessages)
		}
		return
	}
	now := s.broker.now()
	p.noWait = wait == 0
	p.expires = now.Add(wait)
	p.beat = now.Add(p.heartbeat)
	c.request(p)
}

func (s *session) unpull(id uint64) {
	for _, stream := range s.broker.streams {
		for _, c := range stream.consumers {
			c.pulls = slices.DeleteFunc(c.pulls, func(p *pull) bool { return p.session == s && p.id == id })
		}
	}
}

func (s *session) acknowledge(in *brokers.In) {
	id := in.Uint()
	c := s.consumer(in)
	if c == nil {
		return
	}
	lost := s.broker.faults.loseAnswers.Take()
	for in.More() {
		seq := in.Uint()
		c.acknowledge(seq, s.id)
		if lost {
			c.event(brokers.AnswerLost, seq, s.id, 0)
		}
	}
	if !lost {
		s.send(frameAcked, id)
	}
	c.deliver()
}
