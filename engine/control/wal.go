package control

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

// A segment is a chain of records:
//
//	record = length:u32le  crc:u32le  type:u8  zero[7]  payload  zero-pad to 8
//	crc    = CRC-32C(previous record's crc || type || payload)
//
// length counts the payload. Every payload but the header's begins with the size
// the segment had when its bytes were last synchronised: a readable record that
// vouches for a later offset than an unreadable one proves damage, because a torn
// write can only follow what it vouches for.
const (
	recordHeaderBytes = 16
	recordAlign       = 8
	vouchBytes        = 8
)

type recordType uint8

const (
	recordSegmentHeader recordType = iota + 1
	recordEntries
	recordHardState
	recordSnapshotMark
	recordSegmentEnd
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// walIdentity ties a log to its owner.
type walIdentity struct {
	Cluster primitives.UUID
	RaftID  uint64
}

// segment is one log file.
type segment struct {
	name     string
	sequence uint64
	// first is the lowest index the segment can hold: it was created when the log
	// ended just before it.
	first uint64
	size  int64
}

// wal appends to the log. It belongs to the append task.
type wal struct {
	files    primitives.Files
	dir      string
	identity walIdentity

	segments []segment // oldest first; the last one is open
	file     primitives.File
	size     int64 // bytes of the open segment, buffered ones included
	synced   int64 // bytes of the open segment known to be synchronised
	crc      uint32
	buffer   []byte
	last     uint64 // index of the last entry written
	hard     *pb.HardState

	segmentBytes int64
	appended     uint64 // bytes appended by this process
}

func segmentName(sequence, first uint64) string {
	return fmt.Sprintf("%08x-%016x.wal", sequence, first)
}

// createWAL starts a log that follows an index.
func createWAL(files primitives.Files, dir string, identity walIdentity, last uint64) (*wal, error) {
	w := &wal{files: files, dir: dir, identity: identity, last: last, segmentBytes: segmentBytesMax}
	if err := files.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("create log directory: %w", err)
	}
	if err := w.open(1); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// open creates the next segment and makes its name durable.
func (w *wal) open(sequence uint64) error {
	s := segment{name: segmentName(sequence, w.last+1), sequence: sequence, first: w.last + 1}
	file, err := w.files.Create(w.dir+"/"+s.name, true)
	if err != nil {
		return fmt.Errorf("create log segment %s: %w", s.name, err)
	}
	w.file, w.size, w.synced = file, 0, 0
	w.segments = append(w.segments, s)
	w.record(recordSegmentHeader, w.header(s, w.crc))
	// Older segments may be removed, so each one carries the hard state it began
	// with.
	w.append(nil, w.hard)
	if err := w.sync(); err != nil {
		return err
	}
	if err := w.files.SyncDir(w.dir); err != nil {
		return fmt.Errorf("synchronise log directory: %w", err)
	}
	return nil
}

// header is the payload of a segment header: format, owner, place in the log, and
// the checksum the chain continues from.
func (w *wal) header(s segment, previous uint32) []byte {
	p := make([]byte, 0, segmentHeaderBytes)
	p = binary.LittleEndian.AppendUint32(p, format)
	p = append(p, w.identity.Cluster[:]...)
	p = binary.LittleEndian.AppendUint64(p, w.identity.RaftID)
	p = binary.LittleEndian.AppendUint64(p, s.sequence)
	p = binary.LittleEndian.AppendUint64(p, s.first)
	return binary.LittleEndian.AppendUint32(p, previous)
}

const segmentHeaderBytes = 4 + 16 + 8 + 8 + 8 + 4

// record adds one record to the buffer.
func (w *wal) record(kind recordType, payload []byte) {
	start := len(w.buffer)
	w.buffer, w.crc = encodeRecord(w.buffer, w.crc, kind, payload)
	w.size += int64(len(w.buffer) - start)
}

func encodeRecord(dst []byte, previous uint32, kind recordType, payload []byte) ([]byte, uint32) {
	crc := recordChecksum(previous, kind, payload)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	dst = binary.LittleEndian.AppendUint32(dst, crc)
	dst = append(dst, byte(kind), 0, 0, 0, 0, 0, 0, 0)
	dst = append(dst, payload...)
	return append(dst, make([]byte, padding(len(payload)))...), crc
}

func recordChecksum(previous uint32, kind recordType, payload []byte) uint32 {
	var seed [5]byte
	binary.LittleEndian.PutUint32(seed[:], previous)
	seed[4] = byte(kind)
	return crc32.Update(crc32.Update(0, castagnoli, seed[:]), castagnoli, payload)
}

func padding(n int) int { return -n & (recordAlign - 1) }

// append buffers entries and a hard state as one run of records.
func (w *wal) append(entries []*pb.Entry, state *pb.HardState) {
	if len(entries) > 0 {
		invariant.Thatf(entries[0].GetIndex() <= w.last+1, "log append at %d leaves a gap after %d", entries[0].GetIndex(), w.last)
		w.record(recordEntries, w.encodeEntries(entries))
		w.last = entries[len(entries)-1].GetIndex()
	}
	if state != nil {
		w.hard = state
		p := w.vouch(nil)
		p = binary.LittleEndian.AppendUint64(p, state.GetTerm())
		p = binary.LittleEndian.AppendUint64(p, state.GetVote())
		w.record(recordHardState, binary.LittleEndian.AppendUint64(p, state.GetCommit()))
	}
}

func (w *wal) vouch(p []byte) []byte { return binary.LittleEndian.AppendUint64(p, uint64(w.synced)) }

func (w *wal) encodeEntries(entries []*pb.Entry) []byte {
	size := vouchBytes
	for _, e := range entries {
		size += entryHeaderBytes + len(e.GetData())
	}
	p := w.vouch(make([]byte, 0, size))
	for _, e := range entries {
		p = binary.LittleEndian.AppendUint64(p, e.GetIndex())
		p = binary.LittleEndian.AppendUint64(p, e.GetTerm())
		p = binary.LittleEndian.AppendUint32(p, uint32(e.GetType()))
		p = binary.LittleEndian.AppendUint32(p, uint32(len(e.GetData())))
		p = append(p, e.GetData()...)
	}
	return p
}

const entryHeaderBytes = 8 + 8 + 4 + 4

// mark buffers the fact that a snapshot covers the log up to an index.
func (w *wal) mark(id SnapshotID) { w.markAs(id, 0) }

// Flags of a snapshot mark.
const markRestart = 1 // the log goes on from the snapshot, and nothing before counts

const markBytes = 8 + 8 + 8

func (w *wal) markAs(id SnapshotID, flags uint64) {
	p := binary.LittleEndian.AppendUint64(w.vouch(nil), id.Index)
	p = binary.LittleEndian.AppendUint64(p, id.Term)
	w.record(recordSnapshotMark, binary.LittleEndian.AppendUint64(p, flags))
}

// restart lets the log go on from a published snapshot of another member, in a
// segment of its own. The mark is buffered: it is durable with the next
// synchronisation, and until then the snapshot itself tells what counts.
func (w *wal) restart(id SnapshotID) error {
	if err := w.end(); err != nil {
		return err
	}
	w.last = id.Index
	if err := w.open(w.current().sequence + 1); err != nil {
		return err
	}
	w.markAs(id, markRestart)
	return nil
}

// end finishes the open segment.
func (w *wal) end() error {
	w.record(recordSegmentEnd, w.vouch(nil))
	if err := w.sync(); err != nil {
		return err
	}
	return w.close()
}

// sync makes everything buffered durable.
func (w *wal) sync() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return fmt.Errorf("synchronise log segment %s: %w", w.current().name, err)
	}
	w.synced = w.size
	return nil
}

func (w *wal) flush() error {
	if len(w.buffer) == 0 {
		return nil
	}
	if _, err := w.file.Append(w.buffer); err != nil {
		return fmt.Errorf("append to log segment %s: %w", w.current().name, err)
	}
	w.appended += uint64(len(w.buffer))
	w.buffer = w.buffer[:0]
	w.current().size = w.size
	return nil
}

func (w *wal) current() *segment { return &w.segments[len(w.segments)-1] }

// rotate ends a full segment and opens the next.
func (w *wal) rotate() error {
	if w.size < w.segmentBytes {
		return nil
	}
	return w.split()
}

// split ends the open segment and opens the next.
func (w *wal) split() error {
	if err := w.end(); err != nil {
		return err
	}
	return w.open(w.current().sequence + 1)
}

// release removes the segments whose entries all lie at or below an index. The
// segment after one begins where that one ended.
func (w *wal) release(index uint64) error {
	n := 0
	for n+1 < len(w.segments) && w.segments[n+1].first <= index+1 {
		n++
	}
	return w.remove(n)
}

// remove removes the n oldest segments, the oldest first.
func (w *wal) remove(n int) error {
	for i := range n {
		if err := w.files.Remove(w.dir + "/" + w.segments[i].name); err != nil {
			return fmt.Errorf("remove log segment %s: %w", w.segments[i].name, err)
		}
	}
	if n == 0 {
		return nil
	}
	w.segments = append([]segment(nil), w.segments[n:]...)
	if err := w.files.SyncDir(w.dir); err != nil {
		return fmt.Errorf("synchronise log directory: %w", err)
	}
	return nil
}

// retained is the size of all segments in bytes.
func (w *wal) retained() (bytes int64) {
	for i := range w.segments {
		bytes += w.segments[i].size
	}
	return bytes
}

// close gives the open segment up; closing twice is harmless.
func (w *wal) close() error {
	if w.file == nil {
		return nil
	}
	file := w.file
	w.file = nil
	if err := file.Close(); err != nil {
		return fmt.Errorf("close log segment %s: %w", w.current().name, err)
	}
	return nil
}
