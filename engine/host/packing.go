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

// payload is one record or request as it is offered, every time (H3).
type prepared struct {
	number  uint64 // of the emitter, for the tap
	body    []byte
	hasBody bool
	headers []contract.Header
	request request
	members []member
}

// member is one row of a payload.
type member struct {
	chunk *chunk
	row   int32 // of the chunk's output
}

// packing turns chunks into payloads: once, in arrival order. A payload holds
// rows of one relay with equal headers. It is a step core.
type packing struct {
	page  *codec.Page // nil WITHOUT BODY
	batch *vocab.Batch
	next  uint64
}

// prepare packs the open rows of the chunks. Rows that do not encode become
// faults of their chunk.
func (p *packing) prepare(chunks []*chunk) []prepared {
	var out []prepared
	for len(chunks) > 0 {
		run := 1
		for run < len(chunks) && chunks[run].relay == chunks[0].relay {
			run++
		}
		out = append(out, p.run(chunks[:run])...)
		chunks = chunks[run:]
	}
	for i := range out {
		p.next++
		out[i].number = p.next
	}
	return out
}

// run packs the chunks of one relay.
func (p *packing) run(chunks []*chunk) []prepared {
	encoded := &codec.Members{}
	var members []member
	for _, k := range chunks {
		if p.page == nil {
			for _, row := range k.open {
				members = append(members, member{k, row})
			}
			continue
		}
		p.page.Bind(k.output)
		first := len(encoded.Rows)
		for _, f := range p.page.EncodeRows(encoded, batch.Rows(k.rows, k.open)) {
			fault := encodeFault(f.Row, f.Err.Error())
			if field := (*codec.EncodeError)(nil); errors.As(f.Err, &field) {
				fault.Fields = []string{"output." + field.Field}
			}
			k.faults = append(k.faults, fault)
		}
		p.page.Unbind()
		for _, row := range encoded.Rows[first:] {
			members = append(members, member{k, row})
		}
	}
	if p.batch == nil {
		return single(encoded, members, p.page != nil)
	}
	return p.containers(encoded, members)
}

func (m *member) headers() []contract.Header {
	if m.chunk.headers == nil {
		return nil
	}
	return m.chunk.headers[m.row]
}

// single makes one payload of each member.
func single(encoded *codec.Members, members []member, hasBody bool) []prepared {
	out := make([]prepared, len(members))
	for i := range members {
		m := &members[i]
		out[i] = prepared{hasBody: hasBody, headers: m.headers(), members: members[i : i+1 : i+1]}
		if hasBody {
			out[i].body = encoded.Member(i)
		}
		if m.chunk.requests != nil {
			out[i].request = m.chunk.requests[m.row]
		}
	}
	return out
}

// containers packs runs of members with equal headers under both limits.
func (p *packing) containers(encoded *codec.Members, members []member) []prepared {
	var out []prepared
	var arena []byte
	var ends []int
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
			arena = encoded.AppendContainer(arena, first+part.Start, first+part.End)
			ends = append(ends, len(arena))
			out = append(out, prepared{hasBody: true, headers: members[first].headers(),
				members: members[first+part.Start : first+part.End : first+part.End]})
		}
		first = end
	}
	from := 0
	for i := range out { // the arena moves while it grows
		out[i].body = arena[from:ends[i]:ends[i]]
		from = ends[i]
	}
	return out
}

func encodeFault(row int32, message string) flow.RowFault {
	return flow.RowFault{Row: row, Code: "validation", Operation: "encode", Index: expr.NoIndex, Message: message}
}

// hash identifies the bytes of a payload for the tap.
func (p *prepared) hash() uint64 {
	h := fnv.New64a()
	_, _ = h.Write(p.body)
	for _, x := range p.headers {
		_, _ = h.Write([]byte(x.Name + "\x00" + x.Value + "\x00"))
	}
	_, _ = h.Write([]byte(p.request.method + "\x00" + p.request.target))
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
