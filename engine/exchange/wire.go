package exchange

import (
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"plexus/engine/ack"
)

// Control messages are protobuf in field order, written and read by hand: reports
// and progress are as frequent as batches, and their rows are lists of numbers. A
// field that this build does not know, or that comes twice, is an error.

// errFormat says that bytes are no message of this format.
var errFormat = errors.New("not a message of the exchange")

// state is what one side says of a delivery.
type state uint8

const (
	stateUnknown   state = iota + 1 // nothing is known of it
	stateHeld                       // there is no room yet; it keeps its place
	stateGranted                    // the body may come
	stateReceived                   // the bytes are there
	stateAdmitted                   // verdict
	stateRejected                   // verdict, with a refusal
	stateCancelled                  // verdict
	stateRefused                    // not asked in a way that reserves or decides anything; with a refusal
	states
)

var stateNames = [states]string{"", "unknown", "held", "granted", "received", "admitted", "rejected", "cancelled", "refused"}

func (s state) String() string { return stateNames[s] }

// verdict says that the state is final.
func (s state) verdict() bool { return s == stateAdmitted || s == stateRejected || s == stateCancelled }

// answer is the state of a delivery.
type answer struct {
	id      Identity
	state   state
	refusal *Refusal // of rejected and refused
}

// grant asks for room.
type grant struct {
	id            Identity
	role          Role
	domain, relay string
	branch        string
	length        int
	digest        Digest
	schema        Fingerprint
	rows          int
	registration  Registration // no generation: no row has a share
	note          []byte
}

// same reports whether two grants of one identity mean the same content.
func (g *grant) same(o *grant) bool {
	return g.role == o.role && g.domain == o.domain && g.relay == o.relay && g.branch == o.branch && g.length == o.length &&
		g.digest == o.digest && g.schema == o.schema && g.rows == o.rows && g.registration == o.registration
}

// report is the outcome of rows of one registration.
type report struct {
	registration Registration
	rows         []int32 // nil: every row
	outcome      ack.Outcome
}

// standing is what a progress report says of one delivery.
type standing struct {
	id     Identity
	number uint64 // rises with every report of the delivery
	state  state
	parked bool
	all    bool   // every open row was refreshed
	held   []byte // else a bit for each row that was
}

const (
	textMax   = 256 // of a refusal or reason
	eventMax  = 60 << 10
	nameMax   = 1 << 10
	branchMax = 4 << 10
)

// builder writes one message.
type builder struct {
	b     []byte
	inner []byte // where nested messages are written first
}

func (m *builder) uint(field protowire.Number, v uint64) {
	if v != 0 {
		m.b = protowire.AppendTag(m.b, field, protowire.VarintType)
		m.b = protowire.AppendVarint(m.b, v)
	}
}

func (m *builder) bytes(field protowire.Number, v []byte) {
	if len(v) > 0 {
		m.b = protowire.AppendTag(m.b, field, protowire.BytesType)
		m.b = protowire.AppendBytes(m.b, v)
	}
}

func (m *builder) text(field protowire.Number, v string, most int) {
	if len(v) > most {
		v = v[:most]
	}
	if v != "" {
		m.b = protowire.AppendTag(m.b, field, protowire.BytesType)
		m.b = protowire.AppendString(m.b, v)
	}
}

func (m *builder) flag(field protowire.Number, v bool) { m.uint(field, uint64(boolByte(v))) }

// nested writes a message inside the message, also an empty one.
func (m *builder) nested(field protowire.Number, write func(*builder)) {
	inner := builder{b: m.inner[:0]}
	write(&inner)
	m.b = protowire.AppendTag(m.b, field, protowire.BytesType)
	m.b = protowire.AppendBytes(m.b, inner.b)
	m.inner = inner.b
}

// parse calls f for every field of a message. Fields must ascend; those below
// the given number come once.
func parse(b []byte, repeated protowire.Number, f func(field protowire.Number, n uint64, v []byte) error) error {
	last := protowire.Number(0)
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errFormat
		}
		b = b[n:]
		if field < last || field == last && field != repeated {
			return fmt.Errorf("%w: field %d out of order", errFormat, field)
		}
		last = field
		var err error
		switch kind {
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return errFormat
			}
			b = b[n:]
			err = f(field, v, nil)
		case protowire.BytesType:
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return errFormat
			}
			b = b[n:]
			err = f(field, 0, v)
		default:
			return errFormat
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func unknownField(field protowire.Number) error {
	return fmt.Errorf("%w: field %d is unknown or too long", errFormat, field)
}

func (a *answer) append(m *builder) {
	m.uint(1, a.id.Incarnation)
	m.uint(2, a.id.Sequence)
	m.uint(3, uint64(a.state))
	if a.refusal != nil {
		m.uint(4, uint64(a.refusal.Class))
		m.text(5, a.refusal.Subject, textMax)
		m.text(6, a.refusal.Detail, textMax)
	}
}

func parseAnswer(b []byte) (a answer, err error) {
	var r Refusal
	err = parse(b, 0, func(field protowire.Number, n uint64, v []byte) error {
		switch {
		case field == 1:
			a.id.Incarnation = n
		case field == 2:
			a.id.Sequence = n
		case field == 3 && n < uint64(states):
			a.state = state(n)
		case field == 4 && n <= uint64(Failed):
			r.Class = Class(n)
		case field == 5 && len(v) <= textMax:
			r.Subject = string(v)
		case field == 6 && len(v) <= textMax:
			r.Detail = string(v)
		default:
			return unknownField(field)
		}
		return nil
	})
	refused := a.state == stateRejected || a.state == stateRefused
	switch {
	case err != nil:
	case a.id.Incarnation == 0 || a.id.Sequence == 0 || a.state == 0 || refused != (r.Class != 0) || !refused && r != (Refusal{}):
		err = fmt.Errorf("%w: an answer without identity, state or refusal", errFormat)
	case refused:
		a.refusal = &r
	}
	return a, err
}

func encodeAnswers(list []answer) []byte {
	var m builder
	for i := range list {
		m.nested(1, list[i].append)
	}
	return m.b
}

func decodeAnswers(b []byte) (list []answer, err error) {
	err = parse(b, 1, func(field protowire.Number, _ uint64, v []byte) error {
		if field != 1 {
			return unknownField(field)
		}
		a, err := parseAnswer(v)
		list = append(list, a)
		return err
	})
	return list, err
}

func encodeIdentities(list []Identity) []byte {
	var m builder
	for _, id := range list {
		m.nested(1, func(m *builder) {
			m.uint(1, id.Incarnation)
			m.uint(2, id.Sequence)
		})
	}
	return m.b
}

func decodeIdentities(b []byte) (list []Identity, err error) {
	err = parse(b, 1, func(field protowire.Number, _ uint64, v []byte) error {
		if field != 1 {
			return unknownField(field)
		}
		var id Identity
		err := parse(v, 0, func(field protowire.Number, n uint64, v []byte) error {
			switch {
			case field == 1 && v == nil:
				id.Incarnation = n
			case field == 2 && v == nil:
				id.Sequence = n
			default:
				return unknownField(field)
			}
			return nil
		})
		if err == nil && (id.Incarnation == 0 || id.Sequence == 0) {
			err = fmt.Errorf("%w: no identity", errFormat)
		}
		list = append(list, id)
		return err
	})
	return list, err
}

func (g *grant) append(m *builder) {
	m.uint(1, g.id.Incarnation)
	m.uint(2, g.id.Sequence)
	m.uint(3, uint64(g.role))
	m.text(4, g.domain, nameMax)
	m.text(5, g.relay, nameMax)
	m.text(6, g.branch, branchMax)
	m.uint(7, uint64(g.length))
	m.bytes(8, g.digest[:])
	m.bytes(9, g.schema[:])
	m.uint(10, uint64(g.rows))
	m.uint(11, uint64(g.registration.Position))
	m.uint(12, uint64(g.registration.Generation))
	m.bytes(13, g.note)
}

func parseGrant(b []byte) (g grant, err error) {
	err = parse(b, 0, func(field protowire.Number, n uint64, v []byte) error {
		switch {
		case field == 1:
			g.id.Incarnation = n
		case field == 2:
			g.id.Sequence = n
		case field == 3 && n <= uint64(ToConsumers):
			g.role = Role(n)
		case field == 4 && len(v) <= nameMax:
			g.domain = string(v)
		case field == 5 && len(v) <= nameMax:
			g.relay = string(v)
		case field == 6 && len(v) <= branchMax:
			g.branch = string(v)
		case field == 7 && n <= BodyMax:
			g.length = int(n)
		case field == 8 && len(v) == len(g.digest):
			g.digest = Digest(v)
		case field == 9 && len(v) == len(g.schema):
			g.schema = Fingerprint(v)
		case field == 10 && n <= RowsMax:
			g.rows = int(n)
		case field == 11 && n < 1<<positionBits:
			g.registration.Position = uint32(n)
		case field == 12 && n < 1<<generationBits:
			g.registration.Generation = uint32(n)
		case field == 13 && len(v) <= noteMax:
			g.note = append([]byte{}, v...)
		default:
			return unknownField(field)
		}
		return nil
	})
	if err == nil && (g.id.Incarnation == 0 || g.id.Sequence == 0 || g.role == 0 || g.length == 0 || g.rows == 0 || g.domain == "" || g.relay == "") {
		err = fmt.Errorf("%w: a grant without identity, place or size", errFormat)
	}
	return g, err
}

func encodeGrants(list []*grant) []byte {
	var m builder
	for _, g := range list {
		m.nested(1, g.append)
	}
	return m.b
}

func decodeGrants(b []byte) (list []grant, err error) {
	err = parse(b, 1, func(field protowire.Number, _ uint64, v []byte) error {
		if field != 1 {
			return unknownField(field)
		}
		g, err := parseGrant(v)
		list = append(list, g)
		return err
	})
	return list, err
}

// Events name the run of the sender that they are for.

func encodeOutcomes(run Epoch, list []answer) []byte {
	m := builder{}
	m.bytes(1, run[:])
	for i := range list {
		m.nested(2, list[i].append)
	}
	return m.b
}

func decodeOutcomes(b []byte) (run Epoch, list []answer, err error) {
	err = parse(b, 2, func(field protowire.Number, _ uint64, v []byte) error {
		switch {
		case field == 1 && len(v) == len(run):
			run = Epoch(v)
		case field == 2:
			a, err := parseAnswer(v)
			if err == nil && !a.state.verdict() {
				err = fmt.Errorf("%w: an outcome that decides nothing", errFormat)
			}
			list = append(list, a)
			return err
		default:
			return unknownField(field)
		}
		return nil
	})
	return run, list, err
}

func (r *report) append(m *builder) {
	m.uint(1, uint64(r.registration.Position))
	m.uint(2, uint64(r.registration.Generation))
	if r.rows != nil {
		m.bytes(3, appendRows(nil, r.rows))
	}
	if r.outcome.Failed {
		m.uint(4, uint64(r.outcome.Reason.Class)+1)
		m.text(5, r.outcome.Reason.Text, textMax)
	}
}

// appendRows writes ascending rows as distances.
func appendRows(b []byte, rows []int32) []byte {
	last := int32(-1)
	for _, r := range rows {
		b = binary.AppendUvarint(b, uint64(r-last))
		last = r
	}
	return b
}

func parseRows(b []byte) ([]int32, error) {
	rows := make([]int32, 0, len(b))
	last := int64(-1)
	for len(b) > 0 {
		distance, n := binary.Uvarint(b)
		if n <= 0 || distance == 0 || distance > RowsMax || last+int64(distance) >= RowsMax {
			return nil, fmt.Errorf("%w: rows that do not ascend", errFormat)
		}
		last += int64(distance)
		rows, b = append(rows, int32(last)), b[n:]
	}
	return rows, nil
}

func encodeReports(run Epoch, list []report) []byte {
	m := builder{}
	m.bytes(1, run[:])
	for i := range list {
		m.nested(2, list[i].append)
	}
	return m.b
}

func decodeReports(b []byte) (run Epoch, list []report, err error) {
	err = parse(b, 2, func(field protowire.Number, _ uint64, v []byte) error {
		switch {
		case field == 1 && len(v) == len(run):
			run = Epoch(v)
		case field == 2:
			r, err := parseReport(v)
			list = append(list, r)
			return err
		default:
			return unknownField(field)
		}
		return nil
	})
	return run, list, err
}

func parseReport(b []byte) (r report, err error) {
	err = parse(b, 0, func(field protowire.Number, n uint64, v []byte) (err error) {
		switch {
		case field == 1 && n < 1<<positionBits:
			r.registration.Position = uint32(n)
		case field == 2 && n < 1<<generationBits:
			r.registration.Generation = uint32(n)
		case field == 3 && len(v) > 0:
			r.rows, err = parseRows(v)
		case field == 4 && n > 0 && n <= ack.Classes:
			r.outcome.Failed, r.outcome.Reason.Class = true, ack.Class(n-1)
		case field == 5 && len(v) <= textMax && r.outcome.Failed:
			r.outcome.Reason.Text = string(v)
		default:
			return unknownField(field)
		}
		return err
	})
	if err == nil && r.registration.Generation == 0 {
		err = fmt.Errorf("%w: a report without a registration", errFormat)
	}
	return r, err
}

func (s *standing) append(m *builder) {
	m.uint(1, s.id.Incarnation)
	m.uint(2, s.id.Sequence)
	m.uint(3, s.number)
	m.uint(4, uint64(s.state))
	m.flag(5, s.parked)
	m.flag(6, s.all)
	m.bytes(7, s.held)
}

func parseStanding(b []byte) (s standing, err error) {
	err = parse(b, 0, func(field protowire.Number, n uint64, v []byte) error {
		switch {
		case field == 1:
			s.id.Incarnation = n
		case field == 2:
			s.id.Sequence = n
		case field == 3:
			s.number = n
		case field == 4 && n < uint64(states):
			s.state = state(n)
		case field == 5 && n == 1:
			s.parked = true
		case field == 6 && n == 1:
			s.all = true
		case field == 7 && len(v) <= RowsMax/8:
			s.held = v
		default:
			return unknownField(field)
		}
		return nil
	})
	if err == nil && (s.id.Incarnation == 0 || s.id.Sequence == 0 || s.number == 0 || s.state == 0) {
		err = fmt.Errorf("%w: a standing without identity or state", errFormat)
	}
	return s, err
}

func encodeProgress(run Epoch, list []standing) []byte {
	m := builder{}
	m.bytes(1, run[:])
	for i := range list {
		m.nested(2, list[i].append)
	}
	return m.b
}

func decodeProgress(b []byte) (run Epoch, list []standing, err error) {
	err = parse(b, 2, func(field protowire.Number, _ uint64, v []byte) error {
		switch {
		case field == 1 && len(v) == len(run):
			run = Epoch(v)
		case field == 2:
			s, err := parseStanding(v)
			list = append(list, s)
			return err
		default:
			return unknownField(field)
		}
		return nil
	})
	return run, list, err
}

// heldRows lists the rows of a standing's bits.
func (s *standing) heldRows() []int32 {
	var rows []int32
	for i, b := range s.held {
		for bit := range 8 {
			if b&(1<<bit) != 0 {
				rows = append(rows, int32(i*8+bit))
			}
		}
	}
	return rows
}
