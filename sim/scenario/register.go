package scenario

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/netip"
	"time"

	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/campaign"
	"plexus/sim/oracle"
	"plexus/sim/workload"
)

// registerFlaw is a mistake of the register server.
type registerFlaw uint8

const (
	registerSound    registerFlaw = iota
	registerUnsynced              // answers before the write is durable
	registerTorn                  // recovery believes a record whose checksum is wrong
)

var registerNames = [...]string{"register", "register-unsynced", "register-torn"}

var registerAbout = [...]string{
	"One server keeps registers in a log on disk, clients read and write them over the network: the smallest whole system.",
	"The register server answers before its log is synchronised: a crash must be found to lose a confirmed write.",
	"The register server recovers torn records: a crash must be found to invent a value.",
}

const (
	registerPort  = 4000
	registerKeys  = 3
	registerBound = 3 * time.Second
	recordBytes   = 13 // key, value, checksum
)

func register(flaw registerFlaw) campaign.Scenario {
	return campaign.Scenario{
		Name: registerNames[flaw], About: registerAbout[flaw], Flawed: flaw != registerSound,
		Horizon: time.Minute, Quiet: 20 * time.Second, Steps: 20_000,
		Setup: func(r *campaign.Run) {
			h := r.Sim.Host("register")
			h.Start("register", func(ctx context.Context, w primitives.World) {
				if err := serveRegister(ctx, w, flaw); err != nil {
					w.Log().Error("register server ended", "error", err)
				}
			})
			client := r.Sim.Host("client")
			r.Target(h)
			r.Peer(client)
			r.Name(h.Name())
			history := oracle.NewHistory(2 * time.Second)
			c := &registerClients{sim: r.Sim, w: client.World(), history: history}
			c.ctx, _ = primitives.WithCancel(context.Background(), c.w)
			workload.Clients(r.Sim, client, 4, 400*time.Millisecond, r.Over, c.step)
			r.Hold(history.Linearizable())
		},
	}
}

// registerServer is the state of one run of the server.
type registerServer struct {
	w     primitives.World
	flaw  registerFlaw
	lock  *primitives.Mutex
	log   primitives.File
	size  int64
	value [registerKeys]uint64
	// broken ends every later write: what a failed sync covered may be a hole.
	broken error
}

func serveRegister(ctx context.Context, w primitives.World, flaw registerFlaw) error {
	s := &registerServer{w: w, flaw: flaw, lock: primitives.NewMutex(w)}
	if err := s.recover(); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	defer s.log.Close()
	listener, err := w.Net().Listen(netip.AddrPortFrom(netip.IPv4Unspecified(), registerPort))
	if err != nil {
		return err
	}
	g := primitives.NewGroup(ctx, w)
	stop := primitives.OnCancel(g.Context(), func() { listener.Close() })
	defer stop()
	g.Go("accept", func(ctx context.Context) error {
		for {
			c, err := listener.Accept()
			if err != nil {
				return nil
			}
			g.Go("client", func(ctx context.Context) error { return s.serve(ctx, c) })
		}
	})
	return g.Wait(context.Background())
}

// serve answers the requests of one connection. Its error ends the server: the
// disk cannot be trusted any more.
func (s *registerServer) serve(ctx context.Context, c primitives.Conn) error {
	defer c.Close()
	stop := primitives.OnCancel(ctx, func() { c.ReadBy(0) })
	defer stop()
	var request, reply [9]byte
	for {
		if _, err := io.ReadFull(c, request[:]); err != nil {
			return nil
		}
		key, value := request[0]&0x7f, binary.BigEndian.Uint64(request[1:])
		if err := s.lock.Lock(ctx); err != nil {
			return nil
		}
		var refused error
		if request[0]&0x80 != 0 && s.broken == nil {
			refused, s.broken = s.write(key, value)
		}
		read, broken := s.value[key], s.broken
		s.lock.Unlock()
		if broken != nil {
			return broken
		}
		reply[0] = 0
		if refused != nil {
			reply[0] = 1
		}
		binary.BigEndian.PutUint64(reply[1:], read)
		if _, err := c.Write(reply[:]); err != nil {
			return nil
		}
	}
}

// write makes a value durable, then visible. A refused write left nothing behind.
func (s *registerServer) write(key byte, value uint64) (refused, broken error) {
	record := registerRecord(key, value)
	if _, err := s.log.WriteAt(record, s.size); err != nil {
		return err, s.log.Truncate(s.size)
	}
	s.size += int64(len(record))
	if s.flaw == registerUnsynced {
		s.value[key] = value
		return nil, nil
	}
	if err := s.log.Sync(); err != nil {
		return nil, err
	}
	s.value[key] = value
	return nil, nil
}

func registerRecord(key byte, value uint64) []byte {
	b := append(make([]byte, 0, recordBytes), key)
	b = binary.BigEndian.AppendUint64(b, value)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

const registerDir = "/var/register"

// recover reads the log up to the first record that is not whole and writes what
// it holds to a new one: what an earlier run saw may never have become durable.
func (s *registerServer) recover() error {
	files := s.w.Files()
	if err := files.MkdirAll(registerDir); err != nil {
		return err
	}
	if err := errors.Join(files.SyncDir("/"), files.SyncDir("/var")); err != nil {
		return err
	}
	if old, err := files.Open(registerDir + "/log"); err == nil {
		if err := errors.Join(s.replay(old), old.Close()); err != nil {
			return err
		}
	}
	log, err := files.Create(registerDir+"/log.new", false)
	if err != nil {
		return err
	}
	s.log, s.size = log, 0
	for key, value := range s.value {
		n, err := log.Append(registerRecord(byte(key), value))
		if err != nil {
			return errors.Join(err, log.Close())
		}
		s.size += int64(n)
	}
	if err := log.Sync(); err != nil {
		return errors.Join(err, log.Close())
	}
	if err := errors.Join(files.Rename(registerDir+"/log.new", registerDir+"/log"), files.SyncDir(registerDir)); err != nil {
		return errors.Join(err, log.Close())
	}
	return nil
}

func (s *registerServer) replay(log primitives.File) error {
	size, err := log.Size()
	if err != nil {
		return err
	}
	for at := int64(0); at < size; at += recordBytes {
		var b [recordBytes]byte
		n, err := log.ReadAt(b[:], at)
		if err != nil && err != io.EOF {
			return err
		}
		whole := n == recordBytes && crc32.ChecksumIEEE(b[:9]) == binary.BigEndian.Uint32(b[9:])
		if !whole && s.flaw != registerTorn {
			return nil
		}
		if b[0] < registerKeys {
			s.value[b[0]] = binary.BigEndian.Uint64(b[1:9])
		}
	}
	return nil
}

// registerClients is the workload: each step is one read or write over a fresh
// connection.
type registerClients struct {
	sim     *sim.Simulation
	w       primitives.World
	ctx     context.Context
	history *oracle.History
	next    uint64
}

func (c *registerClients) step(client int, r *sim.Stream) {
	key := byte(r.Below(registerKeys))
	write := r.Below(2) == 0
	var value uint64
	if write {
		c.next++
		value = c.next << 8 // so that a torn value is no other value
	}
	c.history.Begin(client, fmt.Sprint(key), write, value, c.sim.Elapsed())
	got, err := c.ask(key, write, value)
	switch {
	case err != nil:
		c.history.Unknown(client)
	default:
		c.history.End(client, got, c.sim.Elapsed())
	}
}

var errRefused = errors.New("refused")

func (c *registerClients) ask(key byte, write bool, value uint64) (uint64, error) {
	by := c.w.Clock().Now().Add(registerBound)
	addrs, err := c.w.Resolver().Lookup(c.ctx, "register", by)
	if err != nil {
		return 0, err
	}
	conn, err := c.w.Net().Dial(c.ctx, netip.AddrPortFrom(addrs[0], registerPort), by)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	conn.ReadBy(by)
	conn.WriteBy(by)
	request := binary.BigEndian.AppendUint64([]byte{key}, value)
	if write {
		request[0] |= 0x80
	}
	if _, err := conn.Write(request); err != nil {
		return 0, err
	}
	var reply [9]byte
	if _, err := io.ReadFull(conn, reply[:]); err != nil {
		return 0, err
	}
	if reply[0] != 0 {
		return 0, errRefused
	}
	return binary.BigEndian.Uint64(reply[1:]), nil
}
