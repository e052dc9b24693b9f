package state

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"plexus/connectors/contract"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

// Key names the state of one instance of a cursor source.
type Key struct {
	Domain   string
	Ingestor string
	Instance int
}

// Cursors keeps the states of cursor sources under one directory. Its methods may
// be used by any task: a source saves while others read what it saved.
type Cursors struct {
	world   primitives.World
	dataDir string
	lock    *primitives.Mutex
	newest  map[Key]newest // may be forgotten at any time
	// using serialises what is done with the files of a key.
	using map[Key]*primitives.Mutex
}

// newest is what is known of the slots of a key.
type newest struct {
	number uint64 // 0: no slot exists
	slot   int    // holds it durably; the next save overwrites the other one
	both   bool   // both slots exist
}

// NewCursors returns the store in a data directory.
func NewCursors(w primitives.World, dataDir string) *Cursors {
	return &Cursors{world: w, dataDir: dataDir, lock: primitives.NewMutex(w), newest: map[Key]newest{}, using: map[Key]*primitives.Mutex{}}
}

// use waits until nobody else works with the files of a key.
func (c *Cursors) use(ctx context.Context, key Key) (done func(), err error) {
	if err := c.lock.Lock(ctx); err != nil {
		return nil, err
	}
	m := c.using[key]
	if m == nil {
		m = primitives.NewMutex(c.world)
		c.using[key] = m
	}
	c.lock.Unlock()
	if err := m.Lock(ctx); err != nil {
		return nil, err
	}
	return m.Unlock, nil
}

var tornSlot = invariant.Sometimes("a cursor state was recovered from its older slot")

// Load returns the saved state of a key, false if none was ever saved.
func (c *Cursors) Load(ctx context.Context, key Key) (contract.State, bool, error) {
	done, err := c.use(ctx, key)
	if err != nil {
		return contract.State{}, false, err
	}
	defer done()
	return c.load(ctx, key)
}

func (c *Cursors) load(ctx context.Context, key Key) (contract.State, bool, error) {
	var slots [2]slot
	for i := range slots {
		var err error
		if slots[i], err = c.read(key, i); err != nil {
			return contract.State{}, false, err
		}
	}
	newer, older := slots[0], slots[1]
	if !newer.valid || older.valid && older.number > newer.number {
		newer, older = older, newer
	}
	switch {
	case newer.valid:
		if tornSlot.HitIf(older.present && !older.valid) {
			damaged := c.path(key, 0)
			if !slots[1].valid {
				damaged = c.path(key, 1)
			}
			c.world.Log().Warn("a cursor state does not read, as after a save that a crash cut short; the source goes on from the state before it",
				"domain", key.Domain, "kind", "ingestor", "name", key.Ingestor, "file", damaged)
		}
		if err := c.refresh(key, newer); err != nil {
			return contract.State{}, false, err
		}
		return newer.state, true, c.remember(ctx, key, newest{newer.number, newer.index, older.present})
	case slots[1].present:
		// The first save writes slot 0, then slot 1: it had finished slot 0.
		return contract.State{}, false, &DamageError{File: c.path(key, 0)}
	}
	return contract.State{}, false, nil
}

// Save makes a state durable (S1).
func (c *Cursors) Save(ctx context.Context, key Key, s contract.State) error {
	done, err := c.use(ctx, key)
	if err != nil {
		return err
	}
	defer done()
	last, err := c.last(ctx, key)
	if err != nil {
		return err
	}
	next := newest{number: last.number + 1, slot: 1 - last.slot, both: true}
	encoded := encodeSlot(next.number, s)
	if last.number == 0 {
		err = c.first(key, encoded)
	} else {
		err = c.create(c.path(key, next.slot), encoded)
		if err == nil && !last.both {
			err = c.world.Files().SyncDir(c.directory(key))
		}
	}
	if err != nil {
		return fmt.Errorf("save state of ingestor '%s' in domain '%s': %w", key.Ingestor, key.Domain, err)
	}
	return c.remember(ctx, key, next)
}

// Delete forgets a key.
func (c *Cursors) Delete(ctx context.Context, key Key) error {
	done, err := c.use(ctx, key)
	if err != nil {
		return err
	}
	defer done()
	if err := c.lock.Lock(ctx); err != nil {
		return err
	}
	delete(c.newest, key)
	c.lock.Unlock()
	removed := false
	// Slot 1 goes first: what is left after a crash is a first save that did not
	// finish, or slot 0, which is the state before the delete.
	for i := 1; i >= 0; i-- {
		switch err := c.world.Files().Remove(c.path(key, i)); {
		case err == nil:
			removed = true
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("delete state: %w", err)
		}
	}
	if !removed {
		return nil
	}
	return c.world.Files().SyncDir(c.directory(key))
}

// Sweep deletes the states under one domain key whose ingestor key is not kept.
func (c *Cursors) Sweep(ctx context.Context, domain string, keep func(ingestor string) bool) error {
	keys, err := c.keys(domain)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if keep(key.Ingestor) {
			continue
		}
		if err := c.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// Positions returns the saved states of every instance of an ingestor, and the
// highest number any of them was saved under.
func (c *Cursors) Positions(ctx context.Context, domain, ingestor string) (states map[int]contract.State, number uint64, err error) {
	keys, err := c.keys(domain)
	if err != nil {
		return nil, 0, err
	}
	states = map[int]contract.State{}
	for _, key := range keys {
		if key.Ingestor != ingestor {
			continue
		}
		s, at, err := c.position(ctx, key)
		if err != nil {
			return nil, 0, err
		}
		if at > 0 {
			states[key.Instance], number = s, max(number, at)
		}
	}
	return states, number, nil
}

// position returns a state and the number it was saved under, 0 for none.
func (c *Cursors) position(ctx context.Context, key Key) (contract.State, uint64, error) {
	done, err := c.use(ctx, key)
	if err != nil {
		return contract.State{}, 0, err
	}
	defer done()
	s, found, err := c.load(ctx, key)
	if err != nil || !found {
		return s, 0, err
	}
	last, err := c.last(ctx, key)
	return s, last.number, err
}

// Replace makes these the only saved states of an ingestor. It may be repeated
// after a failure.
func (c *Cursors) Replace(ctx context.Context, domain, ingestor string, states map[int]contract.State) error {
	for _, instance := range primitives.SortedKeys(states) {
		if err := c.Save(ctx, Key{domain, ingestor, instance}, states[instance]); err != nil {
			return err
		}
	}
	keys, err := c.keys(domain)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if _, kept := states[key.Instance]; key.Ingestor == ingestor && !kept {
			if err := c.Delete(ctx, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// Domains lists the domain keys that hold states.
func (c *Cursors) Domains() (domains []string, err error) {
	list, err := c.world.Files().List(c.dataDir + "/" + directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list states: %w", err)
	}
	for _, entry := range list {
		if entry.Name[0] != '@' { // checkpoints
			domains = append(domains, entry.Name)
		}
	}
	return domains, nil
}

// keys lists the keys of a domain, whatever slots they have.
func (c *Cursors) keys(domain string) (keys []Key, err error) {
	list, err := c.world.Files().List(c.directory(Key{Domain: domain}))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list states: %w", err)
	}
	for _, entry := range list {
		stem, _, _ := strings.Cut(entry.Name[strings.LastIndexByte(entry.Name, '-')+1:], ".")
		instance, err := strconv.Atoi(stem)
		if dash := strings.LastIndexByte(entry.Name, '-'); err == nil && dash > 0 {
			key := Key{Domain: domain, Ingestor: entry.Name[:dash], Instance: instance}
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys, nil
}

// last returns what is known of the slots, reading them if nothing is.
func (c *Cursors) last(ctx context.Context, key Key) (newest, error) {
	for read := false; ; read = true {
		if err := c.lock.Lock(ctx); err != nil {
			return newest{}, err
		}
		last, known := c.newest[key]
		c.lock.Unlock()
		if known || read {
			return last, nil
		}
		if _, _, err := c.load(ctx, key); err != nil {
			return newest{}, err
		}
	}
}

func (c *Cursors) remember(ctx context.Context, key Key, n newest) error {
	if err := c.lock.Lock(ctx); err != nil {
		return err
	}
	c.newest[key] = n
	c.lock.Unlock()
	return nil
}

// first writes both slots, so that from now on one bad slot is never the whole.
func (c *Cursors) first(key Key, encoded []byte) error {
	files := c.world.Files()
	if err := files.MkdirAll(c.directory(key)); err != nil {
		return err
	}
	for i := range 2 {
		if err := c.create(c.path(key, i), encoded); err != nil {
			return err
		}
		if err := files.SyncDir(c.directory(key)); err != nil {
			return err
		}
	}
	return c.rooted()
}

// rooted makes the directories above a domain's durable.
func (c *Cursors) rooted() error {
	files := c.world.Files()
	return errors.Join(files.SyncDir(c.dataDir+"/"+directory), files.SyncDir(c.dataDir))
}

// directory holds the states, one directory per domain below it.
const directory = "state"

// refresh moves what was read to a new file. After a failed synchronisation the
// machine's cache shows bytes that never reached the medium; the next save
// overwrites the other slot and must be able to rely on this one. What is read
// may be of a first save that failed before it had made the directories durable.
func (c *Cursors) refresh(key Key, s slot) error {
	files := c.world.Files()
	fresh := c.path(key, freshSlot)
	if err := c.create(fresh, encodeSlot(s.number, s.state)); err != nil {
		return fmt.Errorf("refresh state: %w", err)
	}
	if err := errors.Join(files.Rename(fresh, c.path(key, s.index)), files.SyncDir(c.directory(key)), c.rooted()); err != nil {
		return fmt.Errorf("refresh state: %w", err)
	}
	return nil
}

// freshSlot is the number of a slot file that is not in place yet.
const freshSlot = 2

func (c *Cursors) directory(key Key) string { return c.dataDir + "/" + directory + "/" + key.Domain }

func (c *Cursors) path(key Key, i int) string {
	return c.directory(key) + "/" + key.Ingestor + "-" + strconv.Itoa(key.Instance) + "." + strconv.Itoa(i)
}

// create makes a file with durable content; its name may not be durable yet.
func (c *Cursors) create(path string, b []byte) error {
	file, err := c.world.Files().Create(path, false)
	if err != nil {
		return err
	}
	if _, err := file.Append(b); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := file.Sync(); err != nil {
		return errors.Join(err, file.Close())
	}
	return file.Close()
}

func (c *Cursors) read(key Key, i int) (slot, error) {
	file, err := c.world.Files().Open(c.path(key, i))
	if errors.Is(err, fs.ErrNotExist) {
		return slot{}, nil
	}
	if err != nil {
		return slot{}, fmt.Errorf("read state: %w", err)
	}
	b, err := readAll(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return slot{}, fmt.Errorf("read state %s: %w", c.path(key, i), err)
	}
	s := decodeSlot(b)
	s.index = i
	return s, nil
}

// slotBytesMax bounds what is read of a slot.
const slotBytesMax = contract.StateBytesMax + 4096

func readAll(file primitives.File) ([]byte, error) {
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(size, slotBytesMax))
	n, err := file.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
}

// slot is the content of one file:
//
//	crc:u32le  number:u64le  version:u16le  connectorLength:u16le  connector  bytes
//
// The checksum covers everything behind it.
type slot struct {
	index   int  // 0 or 1
	present bool // the file exists
	valid   bool
	number  uint64
	state   contract.State
}

const slotHeaderBytes = 4 + 8 + 2 + 2

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encodeSlot(number uint64, s contract.State) []byte {
	b := make([]byte, 4, slotHeaderBytes+len(s.Connector)+len(s.Bytes))
	b = binary.LittleEndian.AppendUint64(b, number)
	b = binary.LittleEndian.AppendUint16(b, s.Version)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(s.Connector)))
	b = append(b, s.Connector...)
	b = append(b, s.Bytes...)
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[4:], castagnoli))
	return b
}

func decodeSlot(b []byte) slot {
	s := slot{present: true}
	if len(b) < slotHeaderBytes || binary.LittleEndian.Uint32(b) != crc32.Checksum(b[4:], castagnoli) {
		return s
	}
	rest := b[slotHeaderBytes:]
	length := int(binary.LittleEndian.Uint16(b[14:]))
	if length > len(rest) {
		return s
	}
	s.valid = true
	s.number = binary.LittleEndian.Uint64(b[4:])
	s.state = contract.State{
		Connector: string(rest[:length]), Version: binary.LittleEndian.Uint16(b[12:]), Bytes: rest[length:],
	}
	return s
}
