package campaign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"plexus/sim"
	"plexus/sim/fault"
)

// replayFormat names the format of replay files (.plr).
const replayFormat = "plexus-replay/1"

// Replay is a run that can be repeated, and what it should come to.
type Replay struct {
	Format   string     `json:"format"`
	Build    string     `json:"build"`
	Go       string     `json:"go"`
	Arch     string     `json:"arch"`
	Mode     string     `json:"mode"`
	Scenario string     `json:"scenario"`
	Seed     uint64     `json:"seed"`
	Nodes    int        `json:"nodes"`
	Profile  string     `json:"profile"`
	Strategy string     `json:"strategy"`
	Horizon  string     `json:"horizon"`
	Plan     fault.Plan `json:"plan"`
	Expected Expected   `json:"expected"`
	Planted  string     `json:"planted,omitempty"` // the defect that was switched on
	Note     string     `json:"note,omitempty"`    // which defect it caught
}

// Expected is the outcome a replay file was made from.
type Expected struct {
	Class   string `json:"class,omitempty"` // empty for a clean run
	Message string `json:"message,omitempty"`
	Event   uint64 `json:"event"`
	Digest  string `json:"digest"`
}

// revision is set by the linker where version control does not stamp builds.
var revision string

// Build returns the revision this program was built from.
func Build() string {
	if revision != "" {
		return revision
	}
	rev, dirty := "unknown", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				rev = s.Value[:min(len(s.Value), 12)]
			case "vcs.modified":
				if s.Value == "true" {
					dirty = "+"
				}
			}
		}
	}
	return rev + dirty
}

// NewReplay describes a finished run.
func NewReplay(r Result) Replay {
	p := Replay{
		Format: replayFormat, Build: Build(), Go: runtime.Version(), Arch: runtime.GOOS + "/" + runtime.GOARCH, Mode: "sim",
		Scenario: r.Spec.Scenario, Seed: r.Spec.Seed, Nodes: r.Spec.Nodes, Profile: string(r.Spec.Profile),
		Strategy: r.Spec.Strategy.String(), Horizon: r.Spec.Horizon.String(), Plan: fault.Plan{},
		Expected: Expected{Digest: fmt.Sprintf("%016x", r.Digest), Event: r.Events},
	}
	if r.Spec.Plan != nil && len(*r.Spec.Plan) > 0 {
		p.Plan = *r.Spec.Plan
	}
	if f := r.Failure; f != nil {
		p.Expected.Class, p.Expected.Message, p.Expected.Event = f.Class(), f.Error(), f.Event
	}
	return p
}

// Spec returns what to run again.
func (p Replay) Spec() (Spec, error) {
	strategy, err := sim.ParseStrategy(p.Strategy)
	if err != nil {
		return Spec{}, fmt.Errorf("%w: %w", ErrReplayFile, err)
	}
	horizon, err := time.ParseDuration(p.Horizon)
	if err != nil {
		return Spec{}, fmt.Errorf("%w: %w", ErrReplayFile, err)
	}
	plan := p.Plan
	return Spec{
		Scenario: p.Scenario, Seed: p.Seed, Nodes: p.Nodes, Profile: fault.Profile(p.Profile),
		Strategy: strategy, Horizon: horizon, Plan: &plan,
	}, nil
}

// Encode renders the file: text that reads and compares well.
func (p Replay) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(p); err != nil {
		return nil, fmt.Errorf("encode replay file: %w", err)
	}
	return b.Bytes(), nil
}

// DecodeReplay reads a file.
func DecodeReplay(data []byte) (Replay, error) {
	var p Replay
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("%w: %w", ErrReplayFile, err)
	}
	if p.Format != replayFormat {
		return p, fmt.Errorf("%w: format %q", ErrReplayFile, p.Format)
	}
	return p, nil
}
