package nats

import (
	"slices"
	"strings"

	"plexus/connectors/contract"
	"plexus/sim/brokers"
)

// subscription is one member of a queue group on a core subject.
type subscription struct {
	session *session
	sid     uint64
	pattern string
	group   string
}

func (b *Broker) subscribe(sub *subscription) {
	b.subs = append(b.subs, sub)
	clear(b.interest)
}

// distribute gives a message to one member of each queue group. A subject with
// no stream and no subscriber loses it, as core NATS does.
func (b *Broker) distribute(subject string, headers []contract.Header, payload []byte, from uint32) {
	if len(b.subs) == 0 && len(b.capturing(subject)) > 0 {
		return
	}
	channel := b.ledger.Channel(subject)
	if len(b.capturing(subject)) == 0 {
		// A subject without a stream has a channel of its own: what was published.
		b.ledger.Store(channel, from, brokers.Message{Payload: payload, Headers: headers})
	}
	seq := uint64(channel.Len())
	interested := b.interested(subject)
	if len(interested) == 0 && len(b.capturing(subject)) == 0 {
		b.ledger.Add(brokers.Event{Channel: channel, Seq: seq, Conn: from, Kind: brokers.Dropped})
	}
	for len(interested) > 0 {
		end := 1
		for end < len(interested) && interested[end].group == interested[0].group {
			end++
		}
		sub := interested[b.draw.Below(uint64(end))]
		interested = interested[end:]
		kind := brokers.Delivered
		if b.faults.drop.Take() {
			kind = brokers.Dropped
		} else {
			sub.session.message(sub.sid, headers, payload)
		}
		b.ledger.Add(brokers.Event{Channel: channel, Seq: seq, Conn: sub.session.id, Kind: kind, Attempt: 1})
	}
}

// interested lists the subscriptions of a subject by group, in order of joining.
func (b *Broker) interested(subject string) []*subscription {
	found, known := b.interest[subject]
	if !known {
		for _, sub := range b.subs {
			if matches(sub.pattern, subject) {
				found = append(found, sub)
			}
		}
		slices.SortStableFunc(found, func(x, y *subscription) int { return strings.Compare(x.group, y.group) })
		b.interest[subject] = found
	}
	return found
}

// matches reports whether a pattern covers a subject.
func matches(pattern, subject string) bool {
	for {
		want, morePattern, inPattern := strings.Cut(pattern, ".")
		have, moreSubject, inSubject := strings.Cut(subject, ".")
		switch {
		case want == ">":
			return true
		case want != "*" && want != have, inPattern != inSubject:
			return false
		case !inPattern:
			return true
		}
		pattern, subject = morePattern, moreSubject
	}
}
