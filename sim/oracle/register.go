package oracle

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// History records the operations of clients on named registers, for the check
// that some order of single operations explains what every client saw.
type History struct {
	operations []porcupine.Operation
	open       map[int]int // by client: its operation without an answer
	limit      time.Duration
}

// NewHistory returns an empty history. limit bounds the real time of one check;
// an undecided check passes.
func NewHistory(limit time.Duration) *History {
	return &History{open: map[int]int{}, limit: limit}
}

// never is the time of an answer that does not come.
const never = int64(1) << 62

type access struct {
	key   string
	write bool
	value uint64
}

// Begin records that a client asks for something at a virtual time.
func (h *History) Begin(client int, key string, write bool, value uint64, at time.Duration) {
	h.open[client] = len(h.operations)
	h.operations = append(h.operations, porcupine.Operation{
		ClientId: client, Input: access{key, write, value}, Call: int64(at), Return: never,
	})
}

// End records the answer: the value read, or that a write was confirmed.
func (h *History) End(client int, value uint64, at time.Duration) {
	i := h.open[client]
	delete(h.open, client)
	h.operations[i].Output = value
	h.operations[i].Return = int64(at)
}

// Unknown records that a client gave up: a write may take effect at any later
// time, a read says nothing.
func (h *History) Unknown(client int) {
	i := h.open[client]
	delete(h.open, client)
	if !h.operations[i].Input.(access).write {
		h.operations = append(h.operations[:i], h.operations[i+1:]...)
		for c, at := range h.open { //plexus:orderfree every entry is adjusted
			if at > i {
				h.open[c] = at - 1
			}
		}
	}
}

// observed leaves out unanswered writes that no read saw: they may as well not
// have happened, and each would double the orders to try.
func (h *History) observed() []porcupine.Operation {
	read := map[access]bool{}
	for _, o := range h.operations {
		if a := o.Input.(access); !a.write {
			if value, answered := o.Output.(uint64); answered {
				read[access{a.key, true, value}] = true
			}
		}
	}
	var out []porcupine.Operation
	for _, o := range h.operations {
		if o.Output != nil || read[o.Input.(access)] {
			out = append(out, o)
		}
	}
	return out
}

// Len returns the number of recorded operations.
func (h *History) Len() int { return len(h.operations) }

var register = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		var keys []string
		byKey := map[string][]porcupine.Operation{}
		for _, o := range history {
			k := o.Input.(access).key
			if byKey[k] == nil {
				keys = append(keys, k)
			}
			byKey[k] = append(byKey[k], o)
		}
		var out [][]porcupine.Operation
		for _, k := range keys {
			out = append(out, byKey[k])
		}
		return out
	},
	Init: func() any { return uint64(0) },
	Step: func(state, input, output any) (bool, any) {
		a := input.(access)
		if a.write {
			return true, a.value
		}
		read, answered := output.(uint64)
		return !answered || read == state.(uint64), state
	},
}

// unexplained lists the last operations on every register that no order explains.
func (h *History) unexplained() string {
	const shown = 30
	var b strings.Builder
	for _, history := range register.Partition(h.observed()) {
		if porcupine.CheckOperationsTimeout(register, history, h.limit) != porcupine.Illegal {
			continue
		}
		fmt.Fprintf(&b, "\nlast operations on %s, of %d:\n", history[0].Input.(access).key, len(history))
		for _, o := range history[max(0, len(history)-shown):] {
			a := o.Input.(access)
			did := fmt.Sprintf("read  %v", o.Output)
			if a.write {
				did = fmt.Sprintf("wrote %d", a.value)
			}
			answered := "no answer"
			if o.Return < never {
				answered = time.Duration(o.Return).String()
			}
			fmt.Fprintf(&b, "%14v to %-14s client %d %s\n", time.Duration(o.Call), answered, o.ClientId, did)
		}
	}
	return b.String()
}

// Linearizable is the oracle over the history, asked when all is quiet.
func (h *History) Linearizable() Oracle {
	return Oracle{Name: "linearizable", Evidence: h.unexplained, Quiet: func() error {
		if len(h.operations) == 0 {
			return errors.New("no operation was recorded")
		}
		if porcupine.CheckOperationsTimeout(register, h.observed(), h.limit) == porcupine.Illegal {
			return fmt.Errorf("no order explains what clients saw in %d operations", len(h.operations))
		}
		return nil
	}}
}
