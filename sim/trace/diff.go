package trace

import (
	"fmt"
	"io"
	"strings"

	"plexus/sim"
)

// contextRecords is how many records before a divergence are shown.
const contextRecords = 12

// Divergence is the first place where two traces differ.
type Divergence struct {
	Event  uint64
	A, B   string   // the differing records, "end of trace" for none
	Common []string // the last records before them
}

// String renders the divergence.
func (d *Divergence) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "first difference at event %d\n", d.Event)
	for _, line := range d.Common {
		b.WriteString("  " + line + "\n")
	}
	fmt.Fprintf(&b, "a %s\nb %s\n", d.A, d.B)
	return b.String()
}

const endOfTrace = "end of trace"

// Diff compares two traces and returns nil when every record is equal.
func Diff(a, b *Reader) (*Divergence, error) {
	var common []string
	for {
		ra, errA := a.Next()
		rb, errB := b.Next()
		for _, err := range []error{errA, errB} {
			if err != nil && err != io.EOF {
				return nil, err
			}
		}
		ended := errA == io.EOF && errB == io.EOF
		if ended {
			return nil, nil
		}
		if errA != nil || errB != nil || ra != rb || a.Who(ra) != b.Who(rb) {
			return &Divergence{
				Event:  max(ra.Event, rb.Event),
				A:      side(a, ra, errA),
				B:      side(b, rb, errB),
				Common: common,
			}, nil
		}
		if len(common) == contextRecords {
			common = append(common[:0], common[1:]...)
		}
		common = append(common, a.Render(ra))
	}
}

func side(t *Reader, r sim.Record, err error) string {
	if err != nil {
		return endOfTrace
	}
	return t.Render(r)
}
