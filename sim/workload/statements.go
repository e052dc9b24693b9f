package workload

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plexus/engine/client"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/parse"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/oracle"
)

// Opener opens a session on a node for the program of a client.
type Opener interface {
	Open(ctx context.Context, w primitives.World, o client.Options) (*client.Session, error)
}

// Declare runs a script, one statement after the other, and reports the first
// that was not completed.
func Declare(ctx context.Context, w primitives.World, on Opener, script string) error {
	s, err := on.Open(ctx, w, client.Options{Client: "declare"})
	if err != nil {
		return err
	}
	statements, _, err := parse.Split(script)
	if err != nil {
		return err
	}
	for _, span := range statements {
		if err := run(ctx, s, script[span.Start:span.End]); err != nil {
			return err
		}
	}
	return s.Close(ctx)
}

// run executes one statement that must be completed.
func run(ctx context.Context, s *client.Session, text string) error {
	reply, err := s.Execute(ctx, text)
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	if d := reply.GetDisposition(); d != sessionpb.Disposition_COMPLETED {
		return fmt.Errorf("%s: %s: %s", text, d, reply.GetText())
	}
	return nil
}

// Definitions is the workload of a client that replaces definitions and looks at
// them. Each of a few schemas is a register: its only field names the value.
type Definitions struct {
	World   primitives.World
	On      Opener
	History *oracle.History
	Sim     *sim.Simulation

	sessions  map[int]*client.Session
	next      uint64
	confirmed int
}

// Confirmed returns how many reads and writes were answered.
func (d *Definitions) Confirmed() int { return d.confirmed }

// Settle reads and writes until something is answered.
func (d *Definitions) Settle(number int, r *sim.Stream) {
	for before := d.confirmed; d.confirmed == before; {
		d.Step(number, r)
		d.Sim.Sleep(settleEvery, "next attempt")
	}
}

// definitionKeys is how many registers there are.
const definitionKeys = 3

// definitionBound is how long a client waits for an answer.
const definitionBound = 4 * time.Second

// Script creates the registers with the value zero.
func (d *Definitions) Script() string {
	var b strings.Builder
	b.WriteString("CREATE DOMAIN registers;\nUSE registers;\n")
	for key := range definitionKeys {
		fmt.Fprintf(&b, "CREATE SCHEMA r%d (v0 U8);\n", key)
	}
	return b.String()
}

// Step is one read or write of a client.
func (d *Definitions) Step(number int, r *sim.Stream) {
	key := fmt.Sprintf("r%d", r.Below(definitionKeys))
	write := r.Below(2) == 0
	var value uint64
	text := "SHOW CREATE SCHEMA " + key
	if write {
		d.next++
		value = d.next
		text = fmt.Sprintf("BEGIN; DROP SCHEMA %s; CREATE SCHEMA %s (v%d U8); COMMIT", key, key, value)
	}
	ctx, cancel := primitives.WithDeadline(context.Background(), d.World, d.World.Clock().Now().Add(definitionBound))
	defer cancel()
	s := d.session(ctx, number)
	if s == nil {
		return
	}
	d.History.Begin(number, key, write, value, d.Sim.Elapsed())
	reply, err := s.Execute(ctx, text)
	var seen uint64
	switch {
	case err != nil:
		d.drop(number)
	case reply.GetDisposition() != sessionpb.Disposition_COMPLETED:
	case write || scan(reply.GetText(), &seen):
		d.History.End(number, seen, d.Sim.Elapsed())
		d.confirmed++
		return
	}
	d.History.Unknown(number)
}

// scan reads the value out of a canonical CREATE SCHEMA.
func scan(text string, value *uint64) bool {
	_, field, found := strings.Cut(text, "(")
	if !found {
		return false
	}
	_, err := fmt.Sscanf(strings.TrimSpace(field), "v%d", value)
	return err == nil
}

// session returns the client's session, opening one where it has none; nil when
// no node answers.
func (d *Definitions) session(ctx context.Context, number int) *client.Session {
	if d.sessions == nil {
		d.sessions = map[int]*client.Session{}
	}
	if s := d.sessions[number]; s != nil && s.Ended() == nil {
		return s
	}
	d.drop(number)
	s, err := d.On.Open(ctx, d.World, client.Options{Client: "definitions", Domain: "registers", CallTimeout: definitionBound})
	if err != nil {
		return nil
	}
	d.sessions[number] = s
	return s
}

// drop forgets a session that is of no use any more.
func (d *Definitions) drop(number int) {
	if s := d.sessions[number]; s != nil {
		s.Drop()
		delete(d.sessions, number)
	}
}
