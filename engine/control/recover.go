package control

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/primitives"
	"plexus/primitives/planted"
)

// recoveredLog is what the segments hold.
type recoveredLog struct {
	wal     *wal
	entries []*pb.Entry // consecutive
	hard    *pb.HardState
	torn    *tornTail
}

// tornTail is what recovery discarded at the end of the log: an append that was
// never synchronised.
type tornTail struct {
	File      string
	Offset    int64
	Discarded int64
}

// recoverWAL reads the log above a snapshot. Entries at or below its index are
// checked but not kept.
func recoverWAL(files primitives.Files, dir string, identity walIdentity, snapshot SnapshotID) (*recoveredLog, error) {
	segments, err := listSegments(files, dir)
	if err != nil {
		return nil, err
	}
	if len(segments) == 0 {
		return nil, &DamageError{File: dir, What: "the log has no segment"}
	}
	r := &reader{
		files: files, identity: identity, snapshot: snapshot,
		log: recoveredLog{wal: &wal{files: files, dir: dir, identity: identity, last: snapshot.Index, segmentBytes: segmentBytesMax}},
	}
	for i := range segments {
		if err := r.segment(&segments[i], i == 0, i == len(segments)-1); err != nil {
			return nil, err
		}
	}
	return r.finish()
}

func listSegments(files primitives.Files, dir string) ([]segment, error) {
	list, err := files.List(dir)
	if err != nil {
		return nil, unlisted("log segments", dir, err)
	}
	var segments []segment
	for _, entry := range list {
		sequence, first, ok := parseSegmentName(entry.Name)
		if !ok {
			return nil, &DamageError{File: dir + "/" + entry.Name, What: "not a log segment"}
		}
		segments = append(segments, segment{name: entry.Name, sequence: sequence, first: first, size: entry.Size})
	}
	return segments, nil
}

func parseSegmentName(name string) (sequence, first uint64, ok bool) {
	stem, ok := strings.CutSuffix(name, ".wal")
	left, right, cut := strings.Cut(stem, "-")
	if !ok || !cut || len(left) != 8 || len(right) != 16 {
		return 0, 0, false
	}
	sequence, err1 := strconv.ParseUint(left, 16, 64)
	first, err2 := strconv.ParseUint(right, 16, 64)
	return sequence, first, err1 == nil && err2 == nil && name == segmentName(sequence, first)
}

// reader walks the segments in order.
type reader struct {
	files    primitives.Files
	identity walIdentity
	snapshot SnapshotID
	covered  uint64 // the term of the log's own entry at the snapshot's index; 0 for none
	hole     error  // entries are missing
	log      recoveredLog
	crc      uint32
	sequence uint64
	ended    bool // the previous segment has its end record
	content  []byte
}

func (r *reader) path(s *segment) string { return r.log.wal.dir + "/" + s.name }

func (r *reader) segment(s *segment, first, last bool) error {
	data, err := readFile(r.files, r.path(s))
	if err != nil {
		return fmt.Errorf("read log segment %s: %w", s.name, err)
	}
	if !first && (!r.ended || s.sequence != r.sequence+1) {
		return &DamageError{File: r.path(s), What: "the segment before it is missing or not finished"}
	}
	offset, err := r.header(s, data, first)
	if err != nil {
		// A crash while the newest segment was being created leaves it without a
		// header; nothing was ever appended to it.
		if last && !first && errors.Is(err, errUnreadable) && !vouchedFor(data, 0, r.crc) {
			return r.discardSegment(s, data)
		}
		if errors.Is(err, errUnreadable) {
			return &DamageError{File: r.path(s), What: err.Error()}
		}
		return err
	}
	r.sequence, r.ended = s.sequence, false
	r.log.wal.segments = append(r.log.wal.segments, *s)
	for offset < len(data) {
		rec, err := decodeRecord(data, offset, r.crc)
		if err != nil {
			if !last || vouchedFor(data, offset, r.crc) {
				return &DamageError{File: r.path(s), Offset: int64(offset), What: err.Error()}
			}
			r.log.torn = &tornTail{File: r.path(s), Offset: int64(offset), Discarded: int64(len(data) - offset)}
			data = data[:offset]
			break
		}
		if r.ended {
			return &DamageError{File: r.path(s), Offset: int64(offset), What: "a record after the segment's end"}
		}
		if err := r.record(s, rec, offset); err != nil {
			return err
		}
		r.crc, offset = rec.crc, rec.end
	}
	if !last && !r.ended {
		return &DamageError{File: r.path(s), Offset: int64(len(data)), What: "the segment's end is missing"}
	}
	r.content = data
	return nil
}

// errUnreadable says that the bytes are no record of the chain.
var errUnreadable = errors.New("unreadable record")

type record struct {
	kind    recordType
	payload []byte
	crc     uint32
	end     int
}

func decodeRecord(data []byte, offset int, previous uint32) (record, error) {
	var r record
	rest := data[offset:]
	if len(rest) < recordHeaderBytes {
		return r, fmt.Errorf("%w: cut off", errUnreadable)
	}
	length := int64(binary.LittleEndian.Uint32(rest))
	stored := binary.LittleEndian.Uint32(rest[4:])
	r.kind = recordType(rest[8])
	if r.kind < recordSegmentHeader || r.kind > recordSegmentEnd {
		return r, fmt.Errorf("%w: unknown type %d", errUnreadable, r.kind)
	}
	if !zero(rest[9:recordHeaderBytes]) {
		return r, fmt.Errorf("%w: reserved bytes are not zero", errUnreadable)
	}
	padded := length + int64(padding(int(length&(recordAlign-1))))
	unchecked := planted.Active(planted.NoTornTailCheck)
	if length > recordBytesMax || padded > int64(len(rest)-recordHeaderBytes) {
		if !unchecked {
			return r, fmt.Errorf("%w: cut off", errUnreadable)
		}
		length = int64(len(rest) - recordHeaderBytes)
		padded = length
	}
	r.payload = rest[recordHeaderBytes : recordHeaderBytes+length]
	r.end = offset + recordHeaderBytes + int(padded)
	r.crc = recordChecksum(previous, r.kind, r.payload)
	if r.crc != stored && !unchecked {
		return r, fmt.Errorf("%w: checksum", errUnreadable)
	}
	if !zero(data[offset+recordHeaderBytes+int(length) : r.end]) {
		return r, fmt.Errorf("%w: padding is not zero", errUnreadable)
	}
	return r, nil
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// vouchedFor reports whether a readable record after the unreadable one at offset
// says that offset had been synchronised: then the bytes were damaged later. The
// chain continues from the checksum the bad record stores or, if that is what was
// hit, from the one its content has.
func vouchedFor(data []byte, offset int, previous uint32) bool {
	rest := data[offset:]
	if len(rest) < recordHeaderBytes {
		return false
	}
	candidates := []uint32{binary.LittleEndian.Uint32(rest[4:])}
	length := int64(binary.LittleEndian.Uint32(rest))
	if length <= int64(len(rest)-recordHeaderBytes) {
		candidates = append(candidates, recordChecksum(previous, recordType(rest[8]), rest[recordHeaderBytes:recordHeaderBytes+length]))
	}
	for at := offset + recordHeaderBytes; at+recordHeaderBytes <= len(data); at += recordAlign {
		for _, crc := range candidates {
			if chainVouches(data, at, crc, offset) {
				return true
			}
		}
	}
	return false
}

// chainVouches follows the readable records from at on.
func chainVouches(data []byte, at int, crc uint32, offset int) bool {
	for at < len(data) {
		r, err := decodeRecord(data, at, crc)
		if err != nil {
			return false
		}
		if len(r.payload) >= vouchBytes && binary.LittleEndian.Uint64(r.payload) > uint64(offset) {
			return true
		}
		at, crc = r.end, r.crc
	}
	return false
}

// header reads the segment's first record and returns where the next begins.
func (r *reader) header(s *segment, data []byte, first bool) (int, error) {
	previous := r.crc
	if first && len(data) >= recordHeaderBytes+segmentHeaderBytes {
		// The segments before it were removed; it says itself what it continues.
		previous = binary.LittleEndian.Uint32(data[recordHeaderBytes+segmentHeaderBytes-4:])
	}
	rec, err := decodeRecord(data, 0, previous)
	if err != nil {
		return 0, err
	}
	if rec.kind != recordSegmentHeader || len(rec.payload) != segmentHeaderBytes {
		return 0, &DamageError{File: r.path(s), What: "no segment header"}
	}
	p := rec.payload
	if got := binary.LittleEndian.Uint32(p); got != format {
		return 0, &ForeignError{Dir: r.path(s), What: fmt.Sprintf("log format %d, this build reads %d", got, format)}
	}
	if primitives.UUID(p[4:20]) != r.identity.Cluster || binary.LittleEndian.Uint64(p[20:]) != r.identity.RaftID {
		return 0, &ForeignError{Dir: r.path(s), What: "the log belongs to another node or cluster"}
	}
	if binary.LittleEndian.Uint64(p[28:]) != s.sequence || binary.LittleEndian.Uint64(p[36:]) != s.first {
		return 0, &DamageError{File: r.path(s), What: "the segment was renamed"}
	}
	if !first && binary.LittleEndian.Uint32(p[44:]) != r.crc {
		return 0, &DamageError{File: r.path(s), What: "the segment does not continue the one before it"}
	}
	r.crc = rec.crc
	return rec.end, nil
}

// record takes one intact record.
func (r *reader) record(s *segment, rec record, offset int) error {
	damaged := func(what string) error { return &DamageError{File: r.path(s), Offset: int64(offset), What: what} }
	if len(rec.payload) < vouchBytes {
		return damaged("short record")
	}
	p := rec.payload[vouchBytes:]
	switch rec.kind {
	case recordEntries:
		whole := r.hole == nil
		if err := r.entries(p); err != nil {
			return damaged(err.Error())
		}
		if whole && r.hole != nil {
			r.hole = damaged(r.hole.Error())
		}
	case recordHardState:
		if len(p) != 24 {
			return damaged("hard state of a wrong size")
		}
		r.log.hard = hardState(binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:]), binary.LittleEndian.Uint64(p[16:]))
	case recordSnapshotMark:
		if len(p) != markBytes {
			return damaged("snapshot mark of a wrong size")
		}
		if index := binary.LittleEndian.Uint64(p); index > r.snapshot.Index {
			return damaged(fmt.Sprintf("the snapshot at index %d is missing", index))
		}
		if binary.LittleEndian.Uint64(p[16:]) == markRestart {
			r.restart()
		}
	case recordSegmentEnd:
		r.ended = true
	default:
		return damaged("a segment header inside a segment")
	}
	return nil
}

// entries adds the entries of one record. A later record supersedes what an
// earlier one said about an index and everything above it.
func (r *reader) entries(p []byte) error {
	for len(p) > 0 {
		if len(p) < entryHeaderBytes {
			return errors.New("entry cut off")
		}
		index, term := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
		kind := pb.EntryType(binary.LittleEndian.Uint32(p[16:]))
		length := int64(binary.LittleEndian.Uint32(p[20:]))
		p = p[entryHeaderBytes:]
		if length > int64(len(p)) {
			return errors.New("entry cut off")
		}
		data := p[:length:length]
		p = p[length:]
		if index > r.log.wal.last+1 {
			// Unless the log goes on from a snapshot further behind, and these are what is
			// left of segments that were being removed.
			if r.hole == nil {
				r.hole = fmt.Errorf("entries %d to %d are missing", r.log.wal.last+1, index-1)
			}
			r.log.entries, r.covered = r.log.entries[:0], 0
			r.log.wal.last = index
			continue
		}
		if r.hole != nil {
			r.log.wal.last = index
			continue
		}
		e := &pb.Entry{Index: &index, Term: &term, Type: &kind, Data: data}
		if at := index - r.snapshot.Index - 1; planted.Active(planted.KeepConflicts) && index > r.snapshot.Index && at < uint64(len(r.log.entries)) {
			r.log.entries[at] = e
			continue
		}
		r.log.wal.last = max(index, r.snapshot.Index)
		if index <= r.snapshot.Index {
			r.log.entries, r.covered = r.log.entries[:0], 0
			if index == r.snapshot.Index {
				r.covered = term
			}
			continue
		}
		r.log.entries = append(r.log.entries[:index-r.snapshot.Index-1], e)
	}
	return nil
}

// restart forgets what the log held: it goes on from a snapshot of another member.
func (r *reader) restart() {
	r.log.entries, r.covered, r.log.wal.last, r.hole = r.log.entries[:0], 0, r.snapshot.Index, nil
}

// contradicted reports whether the log is one that the leader of the snapshot had
// replaced: the node stopped after it published the snapshot and before its log
// went on from it.
func (r *reader) contradicted() bool { return r.covered != 0 && r.covered != r.snapshot.Term }

func hardState(term, vote, commit uint64) *pb.HardState {
	return &pb.HardState{Term: &term, Vote: &vote, Commit: &commit}
}

// discardSegment removes a segment that was being created when the node stopped.
func (r *reader) discardSegment(s *segment, data []byte) error {
	r.log.torn = &tornTail{File: r.path(s), Discarded: int64(len(data))}
	if err := r.files.Remove(r.path(s)); err != nil {
		return fmt.Errorf("remove log segment %s: %w", s.name, err)
	}
	if err := r.files.SyncDir(r.log.wal.dir); err != nil {
		return fmt.Errorf("synchronise log directory: %w", err)
	}
	return nil
}

// finish makes the newest segment durable and opens it for appending, or starts
// the next one.
//
// What was read may stand in the machine's cache only: after a failed
// synchronisation the system keeps the pages and never writes them. So the content
// moves to a new file before anything is appended behind it.
func (r *reader) finish() (*recoveredLog, error) {
	if r.hole != nil {
		return nil, r.hole
	}
	contradicted := r.contradicted()
	if contradicted {
		suffixContradicted.Hit()
		r.restart()
	}
	w := r.log.wal
	w.crc, w.hard = r.crc, r.log.hard
	s := w.current()
	fresh := w.dir + ".next"
	if err := writeSynced(r.files, fresh, r.content); err != nil {
		return nil, fmt.Errorf("rewrite log segment: %w", err)
	}
	if err := r.files.Rename(fresh, r.path(s)); err != nil {
		return nil, fmt.Errorf("rewrite log segment: %w", err)
	}
	if err := r.files.SyncDir(w.dir); err != nil {
		return nil, fmt.Errorf("synchronise log directory: %w", err)
	}
	s.size = int64(len(r.content))
	if r.ended {
		if err := w.open(r.sequence + 1); err != nil {
			return nil, errors.Join(err, w.close())
		}
	} else {
		file, err := r.files.Open(r.path(s))
		if err != nil {
			return nil, fmt.Errorf("open log segment: %w", err)
		}
		w.file, w.size, w.synced = file, s.size, s.size
	}
	if contradicted {
		// Without the mark the next recovery would take what is appended from now on
		// for a part of the log that was replaced.
		w.markAs(r.snapshot, markRestart)
		if err := w.sync(); err != nil {
			return nil, errors.Join(err, w.close())
		}
	}
	return &r.log, nil
}

func readFile(files primitives.Files, name string) ([]byte, error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := readAll(file)
	return data, errors.Join(err, file.Close())
}

func readAll(file primitives.File) ([]byte, error) {
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	data := make([]byte, size)
	n, err := file.ReadAt(data, 0)
	if n == len(data) || errors.Is(err, io.EOF) {
		return data[:n], nil
	}
	return nil, err
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
