package nats

import (
	"slices"
	"time"

	"plexus/connectors/contract"
	connector "plexus/connectors/nats"
	"plexus/primitives"
	"plexus/sim/brokers"
)

// stream is a log of messages with its consumers.
type stream struct {
	broker    *Broker
	config    Stream
	channel   *brokers.Channel
	consumers []*consumer
	ids       map[string]uint64 // sequences by message id
	recent    []identified      // the duplicate window, oldest first
}

type identified struct {
	id string
	at time.Duration
}

func (s *stream) consumer(name string) *consumer {
	for _, c := range s.consumers {
		if c.name == name {
			return c
		}
	}
	return nil
}

// store appends a message and offers it to the consumers.
func (s *stream) store(headers []contract.Header, payload []byte, from uint32) (seq uint64, code int) {
	b := s.broker
	if s.config.MaxMsgSize > 0 && messageBytes(headers, payload) > s.config.MaxMsgSize {
		b.ledger.Add(brokers.Event{Channel: s.channel, Conn: from, Kind: brokers.Refused, Status: codeTooLarge})
		return 0, codeTooLarge
	}
	id := messageID(headers)
	if id != "" {
		s.forgetOld()
		if seq, known := s.ids[id]; known { // J4
			b.ledger.Add(brokers.Event{Channel: s.channel, Seq: seq, Conn: from, Kind: brokers.Duplicate})
			return seq, answerStored
		}
	}
	seq = b.ledger.Store(s.channel, from, brokers.Message{Payload: payload, Headers: headers})
	if id != "" {
		s.ids[id] = seq
		s.recent = append(s.recent, identified{id, b.sim.Elapsed()})
	}
	for _, c := range s.consumers {
		c.deliver()
	}
	return seq, answerStored
}

func (s *stream) forgetOld() {
	now := s.broker.sim.Elapsed()
	for len(s.recent) > 0 && now-s.recent[0].at > duplicateWindow {
		delete(s.ids, s.recent[0].id)
		s.recent = s.recent[1:]
	}
}

func messageID(headers []contract.Header) string {
	for i := range headers {
		if headers[i].Name == MsgIDHeader {
			return headers[i].Value
		}
	}
	return ""
}

func messageBytes(headers []contract.Header, payload []byte) int {
	size := len(payload)
	for i := range headers {
		size += len(headers[i].Name) + len(headers[i].Value) + 4
	}
	return size
}

// consumer is a durable pull consumer.
type consumer struct {
	stream *stream
	name   string
	config connector.ConsumerConfig

	next    uint64 // messages delivered for the first time so far
	pending map[uint64]*delivery
	// Pending deliveries are in exactly one of three places: waiting for their
	// acknowledgement, oldest first; rejected with a delay; or due again.
	oldest, newest *delivery
	delayed        []*delivery // by due time
	again          []*delivery
	spare          []*delivery // finished, to be used again

	pulls   []*pull
	timer   primitives.Timer
	timerAt primitives.Instant
}

// delivery is one message that a consumer has not finished with.
type delivery struct {
	seq        uint64
	attempts   uint16
	due        primitives.Instant // of the acknowledgement, or of the next attempt
	waiting    bool               // linked between prev and next
	prev, next *delivery
}

// pull is one request for messages.
type pull struct {
	session   *session
	id        uint64
	left      int
	noWait    bool
	expires   primitives.Instant
	heartbeat time.Duration
	beat      primitives.Instant // the next heartbeat
}

// restart forgets what lived with connections. What was pending waits anew.
func (c *consumer) restart() {
	c.pulls, c.timer = nil, nil
	due := c.stream.broker.now().Add(c.config.AckWait)
	for d := c.oldest; d != nil; d = d.next {
		d.due = due
	}
	for _, d := range c.delayed {
		d.due = due
	}
	c.rearm()
}

func (c *consumer) event(kind brokers.Kind, seq uint64, conn uint32, attempt uint16) {
	c.stream.broker.ledger.Add(brokers.Event{Channel: c.stream.channel, Seq: seq, Conn: conn, Kind: kind, Attempt: attempt})
}

// request takes a pull.
func (c *consumer) request(p *pull) {
	c.pulls = append(c.pulls, p)
	c.deliver()
	if p.noWait && p.left > 0 {
		c.endPull(p, pullNoMessages)
	}
	c.rearm()
}

// deliver gives what is due to the pulls in the order they came (J3).
func (c *consumer) deliver() {
	if c.stream.broker.faults.leaderless.Holds() {
		return
	}
	for len(c.pulls) > 0 {
		p := c.pulls[0]
		if !c.fill(p) {
			return
		}
		c.pulls = append(c.pulls[:0], c.pulls[1:]...)
	}
}

// fill writes one frame with as many messages as the pull takes, and reports
// whether it has all it asked for.
func (c *consumer) fill(p *pull) bool {
	out, begun := &p.session.out, false
	for p.left > 0 {
		d := c.take()
		if d == nil {
			break
		}
		if !begun {
			out.Begin(frameDeliver)
			out.Uint(p.id)
			begun = true
		}
		m := c.stream.channel.Message(d.seq)
		out.Uint(d.seq)
		out.Uint(uint64(d.attempts))
		out.Headers(m.Headers)
		out.Blob(m.Payload)
		p.left--
		c.event(brokers.Delivered, d.seq, p.session.id, d.attempts)
	}
	if begun {
		out.End()
		p.session.touch()
		if p.heartbeat > 0 {
			p.beat = c.stream.broker.now().Add(p.heartbeat)
		}
	}
	return p.left == 0
}

// take starts the next delivery: one that is due again, else a new message.
func (c *consumer) take() *delivery {
	var d *delivery
	switch {
	case len(c.again) > 0:
		d = c.again[0]
		c.again = append(c.again[:0], c.again[1:]...)
	case c.next < uint64(c.stream.channel.Len()) && len(c.pending) < c.config.MaxAckPending:
		c.next++
		d = c.pend(c.next)
	default:
		return nil
	}
	d.attempts++
	c.wait(d)
	return d
}

// pend makes a delivery of a new message.
func (c *consumer) pend(seq uint64) *delivery {
	d := &delivery{}
	if last := len(c.spare) - 1; last >= 0 {
		d, c.spare = c.spare[last], c.spare[:last]
	}
	*d = delivery{seq: seq}
	c.pending[seq] = d
	return d
}

// finish forgets a delivery that is in none of the three places.
func (c *consumer) finish(d *delivery) {
	delete(c.pending, d.seq)
	c.spare = append(c.spare, d)
}

// wait puts a delivery last among those that wait for their acknowledgement.
func (c *consumer) wait(d *delivery) {
	d.due = c.stream.broker.now().Add(c.config.AckWait)
	d.waiting, d.prev, d.next = true, c.newest, nil
	if c.newest == nil {
		c.oldest = d
	} else {
		c.newest.next = d
	}
	c.newest = d
}

// withdraw takes a delivery out of the place it is in.
func (c *consumer) withdraw(d *delivery) {
	if !d.waiting {
		same := func(o *delivery) bool { return o == d }
		c.delayed = slices.DeleteFunc(c.delayed, same)
		c.again = slices.DeleteFunc(c.again, same)
		return
	}
	d.waiting = false
	if d.prev == nil {
		c.oldest = d.next
	} else {
		d.prev.next = d.next
	}
	if d.next == nil {
		c.newest = d.prev
	} else {
		d.next.prev = d.prev
	}
	d.prev, d.next = nil, nil
}

// acknowledge finishes with a message.
func (c *consumer) acknowledge(seq uint64, conn uint32) {
	if d := c.pending[seq]; d != nil {
		c.withdraw(d)
		c.event(brokers.Acknowledged, seq, conn, d.attempts)
		c.finish(d)
	}
}

// reject gives a message back, to be due after the delay.
func (c *consumer) reject(seq uint64, conn uint32, delay time.Duration) {
	d := c.pending[seq]
	if d == nil || !d.waiting {
		return
	}
	c.withdraw(d)
	c.event(brokers.Rejected, seq, conn, d.attempts)
	if delay == 0 {
		c.repeat(d)
		return
	}
	d.due = c.stream.broker.now().Add(delay)
	at, _ := slices.BinarySearchFunc(c.delayed, d.due, func(o *delivery, due primitives.Instant) int {
		if o.due > due {
			return 1
		}
		return -1
	})
	c.delayed = slices.Insert(c.delayed, at, d)
	c.rearm()
}

// progress restarts the wait of a message.
func (c *consumer) progress(seq uint64, conn uint32) {
	if d := c.pending[seq]; d != nil && d.waiting {
		c.withdraw(d)
		c.wait(d)
		c.event(brokers.Progress, seq, conn, d.attempts)
	}
}

// repeat makes a delivery due again, unless that was its last (J2).
func (c *consumer) repeat(d *delivery) {
	if c.config.MaxDeliver > 0 && int(d.attempts) >= c.config.MaxDeliver {
		c.event(brokers.GivenUp, d.seq, 0, d.attempts)
		c.finish(d)
		return
	}
	c.again = append(c.again, d)
}

// expire makes everything that waits for its acknowledgement due again.
func (c *consumer) expire(until primitives.Instant) {
	for c.oldest != nil && !until.Before(c.oldest.due) {
		d := c.oldest
		c.withdraw(d)
		c.event(brokers.Expired, d.seq, 0, d.attempts)
		c.repeat(d)
	}
}

// tick does what has come due.
func (c *consumer) tick() {
	c.timer = nil
	now := c.stream.broker.now()
	c.expire(now)
	for len(c.delayed) > 0 && !now.Before(c.delayed[0].due) {
		c.repeat(c.delayed[0])
		c.delayed = c.delayed[1:]
	}
	c.deliver()
	for i := 0; i < len(c.pulls); {
		p := c.pulls[i]
		switch {
		case !now.Before(p.expires):
			c.endPull(p, pullExpired)
			continue
		case p.heartbeat > 0 && !now.Before(p.beat):
			p.session.send(frameHeartbeat, p.id)
			p.beat = now.Add(p.heartbeat)
		}
		i++
	}
	c.rearm()
}

// rearm keeps one timer for whatever comes first. A timer that fires early looks
// again, so a due time that moved back costs nothing.
func (c *consumer) rearm() {
	due := primitives.Never
	if c.oldest != nil {
		due = c.oldest.due
	}
	if len(c.delayed) > 0 {
		due = min(due, c.delayed[0].due)
	}
	for _, p := range c.pulls {
		due = min(due, p.expires)
		if p.heartbeat > 0 {
			due = min(due, p.beat)
		}
	}
	if due == primitives.Never || c.timer != nil && c.timerAt <= due {
		return
	}
	c.disarm()
	c.timerAt = due
	c.timer = c.stream.broker.world.Clock().At(due, c.tick)
}

func (c *consumer) disarm() {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// endPull ends one request before it has all its messages.
func (c *consumer) endPull(p *pull, status uint64) {
	c.pulls = slices.DeleteFunc(c.pulls, func(o *pull) bool { return o == p })
	p.session.send(framePullEnd, p.id, status)
}

// endPulls ends every request.
func (c *consumer) endPulls(status uint64) {
	for len(c.pulls) > 0 {
		c.endPull(c.pulls[0], status)
	}
}

// forget starts over behind the last message with nothing pending before it, as a
// consumer created anew would.
func (c *consumer) forget() {
	floor := c.next
	for seq := c.next; seq > 0 && len(c.pending) > 0; seq-- {
		if d := c.pending[seq]; d != nil {
			c.withdraw(d)
			c.event(brokers.Expired, seq, 0, d.attempts)
			c.finish(d)
			floor = seq - 1
		}
	}
	c.next = floor
}

// leave forgets the requests of a connection that is gone.
func (c *consumer) leave(s *session) {
	c.pulls = slices.DeleteFunc(c.pulls, func(p *pull) bool { return p.session == s })
}
