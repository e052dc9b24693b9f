package interconnect

import "sync/atomic"

// Metrics counts what the interconnect did.
type Metrics struct {
	Established [classCount]atomic.Uint64
	Refused     atomic.Uint64
}

func (m *Metrics) established(c Class) { m.Established[c].Add(1) }
func (m *Metrics) failed(Class, error) {}
func (m *Metrics) refused()            { m.Refused.Add(1) }
