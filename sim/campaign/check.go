package campaign

import "fmt"

// Mismatch is a spec that did not come to the same twice.
type Mismatch struct {
	Seed    uint64
	Way     string // how the second run differed
	A, B    uint64 // digests
	Command []string
	Env     []string
}

func (m Mismatch) String() string {
	return fmt.Sprintf("seed %d: %016x here, %016x %s", m.Seed, m.A, m.B, m.Way)
}

// Way is one manner to run a spec again that must not matter.
type Way struct {
	Name    string
	Command []string // a worker; empty: in this process
	Env     []string
}

// FreshWays are processes with other settings of the runtime.
func FreshWays(worker []string) []Way {
	return []Way{
		{"in a fresh process with GOMAXPROCS=1, GOGC=10", worker, []string{"GOMAXPROCS=1", "GOGC=10"}},
		{"in a fresh process with GOMAXPROCS=4, GOGC=off", worker, []string{"GOMAXPROCS=4", "GOGC=off"}},
	}
}

// Check runs every seed of the job here and then in each way, and reports the
// seeds whose digests differ.
func Check(sc Scenario, job Job, ways []Way, each func(way string, seed uint64)) ([]Mismatch, error) {
	var out []Mismatch
	here := map[uint64]uint64{}
	for i := range job.Count {
		seed := job.First + uint64(i)
		spec, err := job.Spec(seed)
		if err != nil {
			return nil, err
		}
		here[seed] = Execute(sc, spec, Watch{}).Digest
		each("here", seed)
	}
	for _, way := range ways {
		compare := func(seed, digest uint64) {
			each(way.Name, seed)
			if digest != here[seed] {
				out = append(out, Mismatch{seed, way.Name, here[seed], digest, way.Command, way.Env})
			}
		}
		if len(way.Command) == 0 {
			for i := range job.Count {
				seed := job.First + uint64(i)
				spec, err := job.Spec(seed)
				if err != nil {
					return nil, err
				}
				compare(seed, Execute(sc, spec, Watch{}).Digest)
			}
			continue
		}
		var broken error
		c := &Coordinator{Command: way.Command, Env: way.Env, Workers: 1}
		err := c.Run(job, func(o Outcome) bool {
			if o.Broken != "" {
				broken = fmt.Errorf("%w: seed %d %s: %s", ErrWorker, o.Seed, way.Name, o.Broken)
				return false
			}
			compare(o.Seed, o.Digest)
			return true
		})
		if err != nil {
			return out, err
		}
		if broken != nil {
			return out, broken
		}
	}
	return out, nil
}
