package workload

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"plexus/primitives"
	"plexus/sim"
)

// Variant is a pipeline with other sizes and times than the standard ones, and
// the load it carries.
type Variant struct {
	Script     string
	Instances  int
	PerSecond  int
	Capacities map[string]int // the most a relay may hold
}

// Standard is the pipeline as it is written.
func Standard(script string, perSecond int) Variant {
	return Variant{Script: script, Instances: 1, PerSecond: perSecond, Capacities: capacitiesOf(script)}
}

var (
	capacityClause = regexp.MustCompile(`CAPACITY \d+`)
	flushClause    = regexp.MustCompile(`FLUSH (IMMEDIATE|EACH \w+ MAX BATCH SIZE \w+)`)
	windowClause   = regexp.MustCompile(`ACK PARALLEL MAX \d+ ACK TIMEOUT`)
	sourceClause   = regexp.MustCompile(`(CONSUMER plexus)\s+(MODE ACK PARALLEL MAX) 512 (BATCH TIMEOUT) 50ms`)
	packClause     = regexp.MustCompile(`BATCH MAX MESSAGES \d+`)
	relayStatement = regexp.MustCompile(`CREATE RELAY (\w+) [^;]*CAPACITY (\d+)`)
)

// Sizes and times are drawn up to these.
const (
	capacityMost = 8
	flushMost    = 200 * time.Millisecond
)

// vary draws other sizes and times for every clause that has some.
func vary(script string, r *sim.Stream) string {
	script = capacityClause.ReplaceAllStringFunc(script, func(string) string {
		return fmt.Sprintf("CAPACITY %d", r.LogBetween(1, capacityMost))
	})
	script = flushClause.ReplaceAllStringFunc(script, func(string) string {
		if r.Below(3) == 0 {
			return "FLUSH IMMEDIATE"
		}
		each := time.Duration(r.LogBetween(1, int64(flushMost/time.Millisecond))) * time.Millisecond
		return fmt.Sprintf("FLUSH EACH %s MAX BATCH SIZE %dB", each, r.LogBetween(1, 1<<20))
	})
	script = windowClause.ReplaceAllStringFunc(script, func(string) string {
		return fmt.Sprintf("ACK PARALLEL MAX %d ACK TIMEOUT", r.LogBetween(1, 256))
	})
	return packClause.ReplaceAllStringFunc(script, func(string) string {
		return fmt.Sprintf("BATCH MAX MESSAGES %d", r.LogBetween(1, 100))
	})
}

// Vary draws a variant of a pipeline: small buffers, batches and windows, several
// instances. The load is half of what the variant carries at its slowest.
func Vary(script string, perSecond int, r *sim.Stream) Variant {
	v := Variant{Instances: int(r.Between(1, 3)), Capacities: capacitiesOf(script)}
	batch, wait := r.LogBetween(16, 512), time.Duration(r.LogBetween(1, 100))*time.Millisecond
	v.Script = sourceClause.ReplaceAllString(vary(script, r), fmt.Sprintf(
		"${1} INSTANCES %d ${2} %d ${3} %s", v.Instances, batch, wait))
	// A batch waits at each of four buffers, and takes some time to travel.
	turn := wait + 4*flushMost + 50*time.Millisecond
	carried := int64(v.Instances) * batch * int64(time.Second) / int64(turn)
	v.PerSecond = int(min(int64(perSecond), max(1, carried/2)))
	return v
}

// Resized allows for every capacity that an operator may give a relay.
func (v *Variant) Resized() {
	for _, relay := range primitives.SortedKeys(v.Capacities) {
		v.Capacities[relay] = max(v.Capacities[relay], capacityMost)
	}
}

func capacitiesOf(script string) map[string]int {
	out := map[string]int{}
	for _, m := range relayStatement.FindAllStringSubmatch(script, -1) {
		out[m[1]], _ = strconv.Atoi(m[2]) // the expression matches digits
	}
	return out
}
