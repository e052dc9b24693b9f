package workload

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"plexus/sim"
)

// Variant is a pipeline with other sizes and times than the standard ones, and
// the load it carries.
type Variant struct {
	Script     string
	Instances  int
	PerSecond  int
	Capacities map[string]int // of relays
}

// Standard is the pipeline as it is written.
func Standard(script string, perSecond int) Variant {
	return Variant{Script: script, Instances: 1, PerSecond: perSecond, Capacities: capacitiesOf(script)}
}

var (
	capacityClause = regexp.MustCompile(`CAPACITY \d+`)
	flushClause    = regexp.MustCompile(`FLUSH EACH 100ms MAX BATCH SIZE 1MiB`)
	windowClause   = regexp.MustCompile(`ACK PARALLEL MAX 256 ACK TIMEOUT`)
	sourceClause   = regexp.MustCompile(`CONSUMER plexus\s+MODE ACK PARALLEL MAX 512 BATCH TIMEOUT 50ms`)
	packClause     = regexp.MustCompile(`BATCH MAX MESSAGES 100`)
	relayStatement = regexp.MustCompile(`CREATE RELAY (\w+) [^;]*CAPACITY (\d+)`)
)

// Vary draws a variant of a pipeline: small buffers, batches and windows, several
// instances. The load is what the variant can carry twice.
func Vary(script string, perSecond int, r *sim.Stream) Variant {
	slowest := time.Duration(0)
	script = capacityClause.ReplaceAllStringFunc(script, func(string) string {
		return fmt.Sprintf("CAPACITY %d", r.LogBetween(1, 8))
	})
	script = flushClause.ReplaceAllStringFunc(script, func(string) string {
		if r.Below(3) == 0 {
			return "FLUSH IMMEDIATE"
		}
		each := time.Duration(r.LogBetween(1, 200)) * time.Millisecond
		slowest = max(slowest, each)
		return fmt.Sprintf("FLUSH EACH %s MAX BATCH SIZE %dB", each, r.LogBetween(1, 1<<20))
	})
	script = windowClause.ReplaceAllStringFunc(script, func(string) string {
		return fmt.Sprintf("ACK PARALLEL MAX %d ACK TIMEOUT", r.LogBetween(1, 256))
	})
	script = packClause.ReplaceAllStringFunc(script, func(string) string {
		return fmt.Sprintf("BATCH MAX MESSAGES %d", r.LogBetween(1, 100))
	})
	v := Variant{Instances: int(r.Between(1, 3))}
	batch, wait := r.LogBetween(16, 512), time.Duration(r.LogBetween(1, 100))*time.Millisecond
	v.Script = sourceClause.ReplaceAllString(script, fmt.Sprintf(
		"CONSUMER plexus INSTANCES %d MODE ACK PARALLEL MAX %d BATCH TIMEOUT %s", v.Instances, batch, wait))
	// A batch takes a wait at each of four buffers, and some time to travel.
	turn := wait + 4*slowest + 50*time.Millisecond
	carried := int64(v.Instances) * batch * int64(time.Second/turn)
	v.PerSecond = int(min(int64(perSecond), max(1, carried/2)))
	v.Capacities = capacitiesOf(v.Script)
	return v
}

func capacitiesOf(script string) map[string]int {
	out := map[string]int{}
	for _, m := range relayStatement.FindAllStringSubmatch(script, -1) {
		out[m[1]], _ = strconv.Atoi(m[2]) // the expression matches digits
	}
	return out
}
