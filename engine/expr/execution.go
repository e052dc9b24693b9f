package expr

import (
	"encoding/hex"
	"unicode/utf8"

	"plexus/nspl/vocab"
)

// now is the snapshot of the unit of work.
func now(f *frame, _ []vec) vec {
	out, raw := fixed[int64](f.scratch, 1)
	out[0] = f.ctx.Now
	return vec{kind: vocab.Datetime, fixed: raw, scalar: true}
}

// uuidText is the length of a UUID's text.
const uuidText = 36

// uuidV4 makes one UUID for each row.
func (c *compiler) uuidV4() kernel {
	full := c.columnFull("uuid_v4")
	return func(f *frame, _ []vec) vec {
		return f.uuids(full, func(id []byte) { id[6] = id[6]&0x0f | 0x40 })
	}
}

// uuidV7 makes one UUID for each row with the snapshot's milliseconds.
func (c *compiler) uuidV7() kernel {
	full := c.columnFull("uuid_v7")
	early := c.fault(Overflow, "uuid_v7", "now() is before 1970")
	return func(f *frame, _ []vec) vec {
		if f.ctx.Now < 0 {
			f.fail(f.scratch.full(f.n), early)
			return f.scratch.expand(nullOf(vocab.String), f.n)
		}
		ms := f.ctx.Now / 1_000_000
		return f.uuids(full, func(id []byte) {
			for i := range 6 {
				id[i] = byte(ms >> (40 - 8*i))
			}
			id[6] = id[6]&0x0f | 0x70
		})
	}
}

// uuids draws the randomness of all active rows in one read; stamp sets version
// and, where it has one, time.
func (f *frame) uuids(full *Fault, stamp func(id []byte)) vec {
	todo := f.todo(nil)
	rows := f.n
	if todo != nil {
		rows = todo.count()
	}
	random := f.scratch.bytes(16 * rows)
	f.ctx.Entropy.Read(random)
	t := f.text(nil, uuidText*rows)
	for i := range f.n {
		from := len(t.data)
		if (todo == nil || todo.has(i)) && t.room(i, uuidText) {
			id := random[:16]
			random = random[16:]
			stamp(id)
			id[8] = id[8]&0x3f | 0x80
			t.data = appendUUID(t.data, id)
		}
		t.close(i, from)
	}
	return t.finish(full)
}

func appendUUID(dst, id []byte) []byte {
	dst = append(hex.AppendEncode(dst, id[0:4]), '-')
	dst = append(hex.AppendEncode(dst, id[4:6]), '-')
	dst = append(hex.AppendEncode(dst, id[6:8]), '-')
	dst = append(hex.AppendEncode(dst, id[8:10]), '-')
	return hex.AppendEncode(dst, id[10:16])
}

// readHeader reads the first value of a transport header of each row's message;
// a null name and an absent header are null, and so is a value that is no text.
func (c *compiler) readHeader() kernel {
	full := c.columnFull("read_header")
	return func(f *frame, args []vec) vec {
		valid := f.scratch.empty(f.n)
		t := f.text(valid, 0)
		todo := f.todo(args[0].valid)
		for i := range f.n {
			from := len(t.data)
			if f.ctx.Headers != nil && (todo == nil || todo.has(i)) {
				value, present := f.ctx.Headers.Header(int(f.in.Select.At(i)), args[0].text(i), 0)
				if present && utf8.ValidString(value) && t.room(i, len(value)) {
					t.data = append(t.data, value...)
					valid.set(i)
				}
			}
			t.close(i, from)
		}
		return t.finish(full)
	}
}
