package fault

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"plexus/sim"
)

// Class is one way for things to go wrong.
type Class string

// Entry is one fault. What Amount means depends on the class; see [Kind].
type Entry struct {
	At     time.Duration
	For    time.Duration // how long it lasts; 0 for faults of a moment
	Class  Class
	Target string // a host or a broker
	Other  string // the other end, for faults of a link
	Amount int64
}

// String renders the entry as one line of a timeline.
func (e Entry) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%12v  %-18s %s", e.At, e.Class, e.Target)
	if e.Other != "" {
		b.WriteString(" -> " + e.Other)
	}
	if e.Amount != 0 {
		fmt.Fprintf(&b, " amount %d", e.Amount)
	}
	if e.For != 0 {
		fmt.Fprintf(&b, " for %v", e.For)
	}
	return b.String()
}

type entryJSON struct {
	At     string `json:"at"`
	For    string `json:"for,omitempty"`
	Class  Class  `json:"class"`
	Target string `json:"target,omitempty"`
	Other  string `json:"other,omitempty"`
	Amount int64  `json:"amount,omitempty"`
}

// MarshalJSON writes durations as people read them.
func (e Entry) MarshalJSON() ([]byte, error) {
	j := entryJSON{At: e.At.String(), Class: e.Class, Target: e.Target, Other: e.Other, Amount: e.Amount}
	if e.For != 0 {
		j.For = e.For.String()
	}
	return json.Marshal(j)
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (e *Entry) UnmarshalJSON(data []byte) error {
	var j entryJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	at, err := time.ParseDuration(j.At)
	if err != nil {
		return fmt.Errorf("plan entry: %w", err)
	}
	var lasts time.Duration
	if j.For != "" {
		if lasts, err = time.ParseDuration(j.For); err != nil {
			return fmt.Errorf("plan entry: %w", err)
		}
	}
	*e = Entry{At: at, For: lasts, Class: j.Class, Target: j.Target, Other: j.Other, Amount: j.Amount}
	return nil
}

// Plan is what goes wrong, in time order.
type Plan []Entry

// String renders the plan as a timeline.
func (p Plan) String() string {
	var b strings.Builder
	for _, e := range p {
		b.WriteString(e.String() + "\n")
	}
	return b.String()
}

// Classes returns the classes that occur, sorted.
func (p Plan) Classes() []Class {
	var out []Class
	for _, e := range p {
		out = append(out, e.Class)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Without returns the plan without the entries of a class.
func (p Plan) Without(c Class) Plan {
	return slices.DeleteFunc(slices.Clone(p), func(e Entry) bool { return e.Class == c })
}

// Before returns the entries that start before the instant.
func (p Plan) Before(end time.Duration) Plan {
	return slices.DeleteFunc(slices.Clone(p), func(e Entry) bool { return e.At >= end })
}

// Profile is how much goes wrong.
type Profile string

// The profiles.
const (
	ProfileMix    Profile = "mix"    // one of the others, drawn from the seed
	ProfileAll    Profile = "all"    // every class
	ProfileSwarm  Profile = "swarm"  // each class or not, by chance
	ProfileSingle Profile = "single" // one class, often
	ProfileCalm   Profile = "calm"   // nothing
)

// Profiles lists every profile.
func Profiles() []Profile {
	return []Profile{ProfileMix, ProfileAll, ProfileSwarm, ProfileSingle, ProfileCalm}
}

// Setting is what a plan is drawn for.
type Setting struct {
	Seed    uint64
	Profile Profile
	Horizon time.Duration // entries start before it
	Kinds   []Kind        // what may go wrong
	Nodes   []string      // hosts whose processes, clocks and disks may suffer
	Peers   []string      // hosts that only the links to nodes may separate
	Names   []string      // names that the name server may get wrong
}

// resolve turns the mix into one profile, by the measured weights of chapter 51
// section 5.
func (s Setting) resolve() Profile {
	if s.Profile != ProfileMix && s.Profile != "" {
		return s.Profile
	}
	switch p := sim.NewStream(s.Seed, "fault/profile").Below(100); {
	case p < 40:
		return ProfileAll
	case p < 80:
		return ProfileSwarm
	case p < 90:
		return ProfileSingle
	}
	return ProfileCalm
}

// Draw returns the plan of a seed and the profile it follows.
func Draw(s Setting) (Plan, Profile) {
	profile := s.resolve()
	var plan Plan
	single := sim.NewStream(s.Seed, "fault/single")
	chosen := -1
	if profile == ProfileSingle && len(s.Kinds) > 0 {
		chosen = int(single.Below(uint64(len(s.Kinds))))
	}
	for i, k := range s.Kinds {
		r := sim.NewStream(s.Seed, "fault/"+string(k.Class)+"/"+k.Target)
		on := r.Below(2) == 0
		often := k.often(s.Horizon)
		switch profile {
		case ProfileAll:
			on = true
		case ProfileSingle:
			on, often = i == chosen, 2*often
		case ProfileCalm:
			on = false
		}
		count := r.LogBetween(1, often)
		if on {
			for range count {
				if e, ok := k.draw(r, s); ok {
					plan = append(plan, e)
				}
			}
		}
	}
	slices.SortStableFunc(plan, func(a, b Entry) int { return int(a.At - b.At) })
	return plan, profile
}
