package host

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"plexus/connectors/contract"
	"plexus/engine/batch"
	"plexus/engine/codec"
	"plexus/engine/expr"
	"plexus/engine/flow"
	"plexus/nspl/vocab"
)

// prepared is one record or request as it is offered, every time (H3). Its rows
// have equal headers.
type prepared struct {
	number  uint64 // for the tap
	body    []byte
	members []member
}

// member is one row of a payload.
type member struct {
	chunk *chunk
	row   int32 // of the chunk's output
}

func (m *member) headers() []contract.Header {
	if m.chunk.headers == nil {
		return nil
	}
	return m.chunk.headers[m.row]
}

func (p *prepared) headers() []contract.Header { return p.members[0].headers() }

// request returns the request line; an emitter to another kind of sink has none.
func (p *prepared) request() request {
	m := &p.members[0]
	if m.chunk.requests == nil {
		return request{}
	}
	return m.chunk.requests[m.row]
}

// packing turns chunks into payloads: once, in arrival order. A payload holds
// rows of one relay with equal headers. It is a step core. What prepare returns
// lives until the next prepare, which the emitter calls when all of it is
// resolved: the memory is used again.
type packing struct {
	page  *codec.Page // nil WITHOUT BODY
	batch *vocab.Batch
	next  func() uint64 // numbers payloads

	out     []prepared
	members []member
	encoded []*codec.Members // one for each run of chunks of one relay
	arena   []byte           // containers, back to back
	ends    []int            // of the containers
}

// prepare packs the open rows of the chunks. Rows that do not encode become
// faults of their chunk.
func (p *packing) prepare(chunks []*chunk) []prepared {
	p.out, p.members, p.arena, p.ends = p.out[:0], p.members[:0], p.arena[:0], p.ends[:0]
	for n := 0; len(chunks) > 0; n++ {
		run := 1
		for run < len(chunks) && chunks[run].relay == chunks[0].relay {
			run++
		}
		if n == len(p.encoded) {
			p.encoded = append(p.encoded, &codec.Members{})
		}
		p.encoded[n].Reset()
		p.run(chunks[:run], p.encoded[n])
		chunks = chunks[run:]
	}
	from := 0
	for i := range p.out {
		p.out[i].number = p.next()
		if p.batch != nil { // the arena moved while it grew
			p.out[i].body = p.arena[from:p.ends[i]:p.ends[i]]
			from = p.ends[i]
		}
	}
	return p.out
}

// run packs the chunks of one relay.
func (p *packing) run(chunks []*chunk, encoded *codec.Members) {
	first := len(p.members)
	for _, k := range chunks {
		if p.page == nil {
			for _, row := range k.open {
				p.members = append(p.members, member{k, row})
			}
			continue
		}
		p.page.Bind(k.output)
		before := len(encoded.Rows)
		for _, f := range p.page.EncodeRows(encoded, batch.Rows(k.rows, k.open)) {
			fault := encodeFault(f.Row, f.Err.Error())
			if field := (*codec.EncodeError)(nil); errors.As(f.Err, &field) {
				fault.Fields = []string{"output." + field.Field}
			}
			k.faults = append(k.faults, fault)
		}
		p.page.Unbind()
		for _, row := range encoded.Rows[before:] {
			p.members = append(p.members, member{k, row})
		}
	}
	members := p.members[first:]
	if p.batch != nil {
		p.containers(encoded, members)
		return
	}
	for i := range members {
		one := prepared{members: members[i : i+1 : i+1]}
		if p.page != nil {
			one.body = encoded.Member(i)
		}
		p.out = append(p.out, one)
	}
}

// containers packs runs of members with equal headers under both limits.
func (p *packing) containers(encoded *codec.Members, members []member) {
	limit := min(p.batch.MaxSize.Bytes, codec.PayloadBytesMax)
	for first := 0; first < len(members); {
		end := first + 1
		for end < len(members) && slices.Equal(members[end].headers(), members[first].headers()) {
			end++
		}
		cut := contract.Division{Members: end - first, CountMax: int(p.batch.MaxMessages), BytesMax: limit}
		for {
			part, more := cut.Next(func(a, b int) uint64 { return uint64(encoded.ContainerSize(first+a, first+b)) })
			if !more {
				break
			}
			if !part.Fits {
				m := members[first+part.Start]
				m.chunk.faults = append(m.chunk.faults, encodeFault(m.row,
					fmt.Sprintf("validation: encode: payload of %d bytes, the limit is %d", part.Size, limit)))
				continue
			}
			p.arena = encoded.AppendContainer(p.arena, first+part.Start, first+part.End)
			p.ends = append(p.ends, len(p.arena))
			p.out = append(p.out, prepared{members: members[first+part.Start : first+part.End : first+part.End]})
		}
		first = end
	}
}

func encodeFault(row int32, message string) flow.RowFault {
	return flow.RowFault{Row: row, Code: "validation", Operation: "encode", Index: expr.NoIndex, Message: message}
}

// hash identifies the bytes of a payload for the tap.
func (p *prepared) hash() uint64 {
	h := fnv.New64a()
	_, _ = h.Write(p.body)
	for _, x := range p.headers() {
		_, _ = h.Write([]byte(x.Name + "\x00" + x.Value + "\x00"))
	}
	line := p.request()
	_, _ = h.Write([]byte(line.method + "\x00" + line.target))
	return h.Sum64()
}

// verdict is what a sink answered for one record of a write.
type verdict uint8

const (
	unanswered verdict = iota
	delivered
	refused
)

// checkOutcome holds a sink's answers against the write of n records. An answer
// for another record, or a second one, breaks the contract.
func checkOutcome(n int, out *contract.Outcome) ([]verdict, error) {
	verdicts := make([]verdict, n)
	set := func(id contract.RecordID, v verdict) error {
		switch {
		case uint64(id) >= uint64(n):
			return &AnswerError{}
		case verdicts[id] != unanswered:
			return &AnswerError{Twice: true}
		}
		verdicts[id] = v
		return nil
	}
	for _, id := range out.Delivered {
		if err := set(id, delivered); err != nil {
			return nil, err
		}
	}
	for i := range out.Rejected {
		if err := set(out.Rejected[i].ID, refused); err != nil {
			return nil, err
		}
	}
	return verdicts, nil
}
