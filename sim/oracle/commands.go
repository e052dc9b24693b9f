package oracle

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// Commands records what clients asked of the definitions of domains, for the check
// that some order of single commands explains every answer. Each domain holds a
// set of names; a command adds one, takes one away, or does both at once, and its
// answer tells which names there were.
type Commands struct {
	operations []porcupine.Operation
	open       map[int]int // by client: its command without an answer
	limit      time.Duration
	answered   int
}

// Command is one change of a domain's names: Drop goes, then Create comes; -1 is
// neither.
type Command struct {
	Domain       string
	Drop, Create int
}

// Answer is what a command came to.
type Answer uint8

// The answers.
const (
	Done    Answer = iota // it took effect
	Missing               // the name to drop was not there
	Exists                // the name to create was there
)

var answerNames = [...]string{"done", "missing", "exists"}

// NewCommands returns an empty history. limit bounds the real time of one check;
// an undecided check passes.
func NewCommands(limit time.Duration) *Commands {
	return &Commands{open: map[int]int{}, limit: limit}
}

// Begin records that a client sends a command at a virtual time.
func (h *Commands) Begin(client int, c Command, at time.Duration) {
	h.open[client] = len(h.operations)
	h.operations = append(h.operations, porcupine.Operation{ClientId: client, Input: c, Call: int64(at), Return: never})
}

// End records the answer.
func (h *Commands) End(client int, a Answer, at time.Duration) {
	i := h.open[client]
	delete(h.open, client)
	h.operations[i].Output, h.operations[i].Return = a, int64(at)
	h.answered++
}

// Unknown records that a client gave up: the command may take effect at any later
// time, or never.
func (h *Commands) Unknown(client int) { delete(h.open, client) }

// Rejected records that the command was not taken for a reason of its own: it
// changes nothing, then or later.
func (h *Commands) Rejected(client int) {
	i := h.open[client]
	delete(h.open, client)
	h.operations = append(h.operations[:i], h.operations[i+1:]...)
	for c, at := range h.open { //plexus:orderfree every entry is adjusted
		if at > i {
			h.open[c] = at - 1
		}
	}
}

// Answered returns how many commands were answered.
func (h *Commands) Answered() int { return h.answered }

// names is the model: the state is the set of names of one domain.
var names = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		var domains []string
		by := map[string][]porcupine.Operation{}
		for _, o := range history {
			d := o.Input.(Command).Domain
			if by[d] == nil {
				domains = append(domains, d)
			}
			by[d] = append(by[d], o)
		}
		var out [][]porcupine.Operation
		for _, d := range domains {
			out = append(out, by[d])
		}
		return out
	},
	Init: func() any { return uint64(0) },
	Step: func(state, input, output any) (bool, any) {
		next, answer := input.(Command).apply(state.(uint64))
		given, answered := output.(Answer)
		return !answered || given == answer, next
	},
}

// apply returns the set after the command, and its answer.
func (c Command) apply(set uint64) (uint64, Answer) {
	next := set
	if c.Drop >= 0 {
		if set>>c.Drop&1 == 0 {
			return set, Missing
		}
		next &^= 1 << c.Drop
	}
	if c.Create >= 0 {
		if next>>c.Create&1 != 0 {
			return set, Exists
		}
		next |= 1 << c.Create
	}
	return next, Done
}

// String says what the command does.
func (c Command) String() string {
	var parts []string
	if c.Drop >= 0 {
		parts = append(parts, fmt.Sprintf("drop %d", c.Drop))
	}
	if c.Create >= 0 {
		parts = append(parts, fmt.Sprintf("create %d", c.Create))
	}
	return strings.Join(parts, ", ")
}

// Linearizable is the oracle over the history, asked when all is quiet.
func (h *Commands) Linearizable() Oracle {
	return Oracle{Name: "commands-linearizable", Evidence: h.unexplained, Quiet: func() error {
		if h.answered == 0 {
			return errors.New("no command was answered")
		}
		for _, history := range names.Partition(h.operations) {
			if porcupine.CheckOperationsTimeout(names, history, h.limit) == porcupine.Illegal {
				return fmt.Errorf("no order explains the answers to %d commands on domain %s", len(history), history[0].Input.(Command).Domain)
			}
		}
		return nil
	}}
}

// unexplained lists the last commands on every domain that no order explains.
func (h *Commands) unexplained() string {
	const shown = 40
	var b strings.Builder
	for _, history := range names.Partition(h.operations) {
		if porcupine.CheckOperationsTimeout(names, history, h.limit) != porcupine.Illegal {
			continue
		}
		fmt.Fprintf(&b, "\nlast commands on %s, of %d:\n", history[0].Input.(Command).Domain, len(history))
		for _, o := range history[max(0, len(history)-shown):] {
			answer, until := "no answer", "no answer"
			if a, answered := o.Output.(Answer); answered {
				answer, until = answerNames[a], time.Duration(o.Return).String()
			}
			fmt.Fprintf(&b, "%14v to %-14s client %d %s: %s\n", time.Duration(o.Call), until, o.ClientId, o.Input, answer)
		}
	}
	return b.String()
}
