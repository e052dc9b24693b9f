package quiesce

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrNotReady says that this node has not applied the revision a hold is for.
var ErrNotReady = errors.New("this node has not applied the revision yet")

// errNobody says that a node counts nobody as live, not even itself.
var errNobody = errors.New("no node is live")

// Reason says why a participant refuses.
type Reason uint8

// The reasons.
const (
	NotOwner   Reason = iota + 1 // the asking process does not own the identity
	OtherScope                   // the identity is bound to another scope
	Ended                        // the hold was released or its lease ended
	Unknown                      // no such hold is engaged here
	NotReady                     // the same request can succeed later
	Failed                       // the domain could not be held
	Malformed                    // the request does not decode
)

var reasonTexts = [...]string{
	NotOwner:   "the hold belongs to another process",
	OtherScope: "the hold is bound to another scope",
	Ended:      "the hold has ended",
	Unknown:    "the hold is not engaged",
	NotReady:   "not ready",
	Failed:     "the domain could not be held",
	Malformed:  "the request is malformed",
}

func (r Reason) String() string {
	if int(r) < len(reasonTexts) && reasonTexts[r] != "" {
		return reasonTexts[r]
	}
	return fmt.Sprintf("reason %d", r)
}

// Refusal is a participant's no.
type Refusal struct {
	Reason Reason
	Detail string
}

func (e *Refusal) Error() string {
	if e.Detail == "" {
		return e.Reason.String()
	}
	return e.Reason.String() + ": " + e.Detail
}

// Engagement is how far a hold got, for the report of a change.
type Engagement uint8

// The engagements.
const (
	NotEngaged Engagement = iota // every node refused before it closed anything
	Uncertain                    // a request went unanswered: gates may have closed
	Engaged                      // at least one node closed its gates
)

// HoldError says that a hold was given up. Everything it had engaged was asked to
// open again and does so by itself when its lease ends.
type HoldError struct {
	Domain     string
	Node       string // where it failed, "" for the cluster as a whole
	Engagement Engagement
	Err        error
}

func (e *HoldError) Error() string {
	if e.Node == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("hold domain '%s' on node '%s': %v", e.Domain, e.Node, e.Err)
}

func (e *HoldError) Unwrap() error { return e.Err }

// LapsedError says that a hold is not certain to be engaged everywhere any more.
type LapsedError struct{ What string }

func (e *LapsedError) Error() string { return "the hold lapsed: " + e.What }

// DrainError lists the work that did not end in time.
type DrainError struct {
	Domain   string
	After    time.Duration
	Blockers []Blocker // merged over all nodes, largest first
}

// blockersShown bounds what a message lists.
const blockersShown = 10

func (e *DrainError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "timed out draining domain '%s' after %s: ", e.Domain, short(e.After))
	for i, blocker := range e.Blockers[:min(len(e.Blockers), blockersShown)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(blocker.String())
	}
	switch left := len(e.Blockers) - blockersShown; {
	case len(e.Blockers) == 0:
		b.WriteString("force flush did not finish")
	case left > 0:
		fmt.Fprintf(&b, " and %d more", left)
	}
	return b.String()
}

// short writes a duration as settings do: 60s, not 1m0s.
func short(d time.Duration) string {
	if d > 0 && d%time.Second == 0 {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return d.String()
}

// String describes the work: emitter 'ledger_out' is publishing (3 payloads).
func (b Blocker) String() string {
	subject := fmt.Sprintf("%s '%s'", b.Entity.Kind.Words(), b.Entity.Name)
	switch b.Work {
	case Roots:
		return plural(b.Count, "acknowledgement root") + " outstanding"
	case RelayBatches:
		return fmt.Sprintf("%s holds %s", subject, batches(b.Count))
	case Dispatches:
		return fmt.Sprintf("%s is dispatching %s", subject, batches(b.Count))
	case NodeBatches:
		return fmt.Sprintf("%s is working on %s", subject, batches(b.Count))
	case EmitterRows:
		return fmt.Sprintf("%s holds %s", subject, plural(b.Count, "row"))
	case Publishes:
		return fmt.Sprintf("%s is publishing (%s)", subject, plural(b.Count, "payload"))
	}
	return fmt.Sprintf("%s has %d of unknown work", subject, b.Count)
}

func plural(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func batches(n uint64) string {
	if n == 1 {
		return "1 batch"
	}
	return fmt.Sprintf("%d batches", n)
}

// merge adds up the blockers of all nodes, largest first. Roots belong to no
// operator in particular.
func merge(looks []Look) []Blocker {
	var list []Blocker
	for _, l := range looks {
		for _, b := range l.Blockers {
			if b.Work == Roots {
				b.Entity = Entity{}
			}
			i := slices.IndexFunc(list, func(o Blocker) bool { return o.Entity == b.Entity && o.Work == b.Work })
			if i < 0 {
				list = append(list, b)
				continue
			}
			list[i].Count += b.Count
		}
	}
	slices.SortFunc(list, bySize)
	return list
}

// bySize puts the largest first.
func bySize(a, b Blocker) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), a.Entity.compare(b.Entity), cmp.Compare(a.Work, b.Work))
}
