package campaign

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"plexus/sim"
	"plexus/sim/fault"
)

// Job is a range of seeds of one scenario.
type Job struct {
	Scenario string        `json:"scenario"`
	Nodes    int           `json:"nodes,omitempty"`
	Profile  fault.Profile `json:"profile,omitempty"`
	Strategy string        `json:"strategy,omitempty"`
	Horizon  time.Duration `json:"horizon,omitempty"`
	Without  []fault.Class `json:"without,omitempty"`
	Planted  string        `json:"planted,omitempty"` // a defect to switch on, in builds that have them
	Guard    bool          `json:"guard,omitempty"`
	Twice    uint64        `json:"twice,omitempty"` // run every nth seed twice and compare; 0: none
	First    uint64        `json:"first"`
	Count    int           `json:"count"`
}

// Spec returns the spec of one seed of the job.
func (j Job) Spec(seed uint64) (Spec, error) {
	spec := Spec{Scenario: j.Scenario, Seed: seed, Nodes: j.Nodes, Profile: j.Profile, Horizon: j.Horizon, Without: j.Without}
	if j.Strategy != "" {
		strategy, err := sim.ParseStrategy(j.Strategy)
		if err != nil {
			return Spec{}, err
		}
		spec.Strategy = strategy
	}
	return spec, nil
}

// Outcome is what a worker reports of one seed.
type Outcome struct {
	Seed     uint64              `json:"seed"`
	Profile  fault.Profile       `json:"profile"`
	Strategy string              `json:"strategy"`
	Digest   uint64              `json:"digest"`
	Again    uint64              `json:"again,omitempty"` // the digest of a second run, if there was one
	Events   uint64              `json:"events"`
	Steps    uint64              `json:"steps"`
	Virtual  time.Duration       `json:"virtual"`
	Failure  *sim.Failure        `json:"failure,omitempty"`
	Replay   *Replay             `json:"replay,omitempty"` // of a failure
	Fired    map[fault.Class]int `json:"fired,omitempty"`
	Allowed  []fault.Class       `json:"allowed,omitempty"`
	Hits     map[string]uint64   `json:"hits,omitempty"`
	// Measures are the values of its distributions of virtual times.
	Measures map[string][]time.Duration `json:"measures,omitempty"`
	Broken   string                     `json:"broken,omitempty"` // the worker could not run it
}

// Differs reports that two runs of the seed were not equal.
func (o *Outcome) Differs() bool { return o.Again != 0 && o.Again != o.Digest }

func outcome(r Result) Outcome {
	o := Outcome{
		Seed: r.Spec.Seed, Profile: r.Spec.Profile, Strategy: r.Spec.Strategy.String(),
		Digest: r.Digest, Events: r.Events, Steps: r.Steps, Virtual: r.Virtual,
		Failure: r.Failure, Fired: r.Fired, Allowed: r.Allowed, Hits: r.Hits, Measures: r.Measures,
	}
	if r.Failure != nil {
		p := NewReplay(r)
		o.Replay = &p
	}
	return o
}

// Work is the life of a worker process: it reads jobs, one JSON object a line,
// and answers one outcome a line for every seed, until its input ends.
func Work(all []Scenario, in io.Reader, out io.Writer) error {
	jobs := json.NewDecoder(in)
	w := bufio.NewWriter(out)
	answers := json.NewEncoder(w)
	for {
		var j Job
		if err := jobs.Decode(&j); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("%w: read job: %w", ErrWorker, err)
		}
		sc, err := Find(all, j.Scenario)
		if err == nil {
			err = SwitchPlanted(j.Planted)
		}
		for i := range j.Count {
			seed := j.First + uint64(i)
			spec, bad := j.Spec(seed)
			o := Outcome{Seed: seed}
			switch {
			case err != nil:
				o.Broken = err.Error()
			case bad != nil:
				o.Broken = bad.Error()
			default:
				o = outcome(Execute(sc, spec, Watch{Guard: j.Guard}))
				if j.Twice > 0 && seed%j.Twice == 0 {
					o.Again = Execute(sc, spec, Watch{Guard: j.Guard}).Digest
				}
			}
			if err := answers.Encode(o); err != nil {
				return fmt.Errorf("%w: write outcome: %w", ErrWorker, err)
			}
			if err := w.Flush(); err != nil {
				return fmt.Errorf("%w: write outcome: %w", ErrWorker, err)
			}
		}
	}
}
