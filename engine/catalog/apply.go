package catalog

import (
	"slices"
	"time"

	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
	"plexus/primitives/planted"
)

// Result is what a command did.
type Result struct {
	Index uint64
	// Refused is set when a step was refused; the steps before it applied.
	Refused *Refusal
	// Known is set when the reference had finished before: nothing applied now,
	// and this is its outcome.
	Known *Execution
}

// Effects names what a command changed, in name order, for those who follow the
// state.
type Effects struct {
	Domains []string // whose runtime revision changed, removed ones included
	Models  []ModelEffect
}

// ModelEffect is the net change of one definition.
type ModelEffect struct {
	Domain string
	Key
	Created, Dropped bool   // both: it was replaced
	Index            uint64 // of the command
}

// Add joins two sets of effects.
func (e *Effects) Add(o Effects) {
	e.Domains = union(e.Domains, o.Domains)
	e.Models = append(slices.Clip(e.Models), o.Models...)
}

// union keeps the order in which names first appeared.
func union(a, b []string) []string {
	for _, name := range b {
		if !slices.Contains(a, name) {
			a = append(slices.Clip(a), name)
		}
	}
	return a
}

// Skip returns the state after an index that holds no command.
func (s *State) Skip(index uint64) *State {
	next := *s
	next.Applied = index
	return &next
}

// Expired reports whether an execution finished before an instant and could be
// forgotten.
func (s *State) Expired(before int64) bool {
	for _, x := range s.executions.all() {
		if created(x.Reference) >= before {
			return false
		}
		if x.Finished < before {
			return true
		}
	}
	return false
}

// Apply returns the state after the command at a log index.
func (s *State) Apply(index uint64, c *catalogpb.Command) (*State, Result, Effects) {
	next := *s
	next.Applied = index
	next.HighWater = max(next.HighWater, c.GetAt())
	result := Result{Index: index}

	if x := c.GetExecution(); x != nil {
		reference := uuid(x.GetReference())
		if known, ok := s.Execution(reference); ok {
			result.Known = known
			return &next, result, Effects{}
		}
		if created(reference) < s.Fence {
			result.Refused = refuse(ReferenceExpired, "execution reference %s is older than the history", reference)
			return &next, result, Effects{}
		}
	}

	t := transition{state: &next, index: index, domains: map[string]bool{}, models: map[string]ModelEffect{}}
	for i, step := range c.GetSteps() {
		if refused := t.step(step); refused != nil {
			refused.Step = i
			result.Refused = refused
			break
		}
	}
	// A command whose planning inputs changed did nothing and is planned again under
	// the same reference, so its refusal is no outcome.
	replan := result.Refused != nil && result.Refused.Code == Conflict && result.Refused.Step == 0
	if x := c.GetExecution(); x != nil && !replan {
		next.executions = next.executions.set(string(x.GetReference()), &Execution{
			Reference: uuid(x.GetReference()), Owner: x.GetOwner(), Domain: x.GetDomain(), Digest: string(x.GetDigest()),
			Reply: x.GetReply(), Finished: next.HighWater, Refusal: result.Refused,
		})
	}
	return &next, result, t.effects()
}

// transition is one command in progress.
type transition struct {
	state   *State
	index   uint64
	domains map[string]bool
	models  map[string]ModelEffect // by key of the state
}

// effects lists what changed, in name order (C1).
func (t *transition) effects() Effects {
	e := Effects{Domains: primitives.SortedKeys(t.domains)}
	keys := primitives.SortedKeys(t.models)
	if planted.Active(planted.MapOrderedEffects) {
		keys = mapOrdered(t.models)
	}
	for _, key := range keys {
		effect := t.models[key]
		effect.Index = t.index
		e.Models = append(e.Models, effect)
	}
	return e
}

// mapOrdered is the planted mistake: keys as the map yields them.
func mapOrdered(set map[string]ModelEffect) (keys []string) {
	for key := range set { //plexus:orderfree the planted defect is that it is not
		keys = append(keys, key)
	}
	return keys
}

// step applies one step, or changes nothing and says why (C2).
func (t *transition) step(step *catalogpb.Step) *Refusal {
	switch body := step.GetBody().(type) {
	case *catalogpb.Step_CreateUser:
		return t.createUser(body.CreateUser)
	case *catalogpb.Step_AlterUser:
		return t.alterUser(body.AlterUser)
	case *catalogpb.Step_DropUser:
		return t.dropUser(body.DropUser)
	case *catalogpb.Step_CreateDomain:
		return t.createDomain(body.CreateDomain)
	case *catalogpb.Step_DropDomain:
		return t.dropDomain(body.DropDomain)
	case *catalogpb.Step_ChangeModels:
		return t.changeModels(body.ChangeModels)
	case *catalogpb.Step_SetRunning:
		return t.setRunning(body.SetRunning)
	case *catalogpb.Step_Reclaim:
		return t.reclaim(body.Reclaim)
	}
	return refuse(Invalid, "the command has an empty step")
}

func (t *transition) createUser(c *catalogpb.CreateUser) *Refusal {
	if _, ok := t.state.User(c.GetName()); ok {
		return refuse(Exists, "USER '%s' already exists", c.GetName())
	}
	t.setUser(c.GetName(), c.GetPasswordHash())
	return nil
}

func (t *transition) alterUser(c *catalogpb.AlterUser) *Refusal {
	if _, ok := t.state.User(c.GetName()); !ok {
		return refuse(RefMissing, "USER '%s' does not exist", c.GetName())
	}
	t.setUser(c.GetName(), c.GetPasswordHash())
	return nil
}

func (t *transition) setUser(name, hash string) {
	t.state.users = t.state.users.set(name, &User{Name: name, PasswordHash: hash, Revision: t.index})
}

func (t *transition) dropUser(c *catalogpb.DropUser) *Refusal {
	if _, ok := t.state.User(c.GetName()); !ok {
		return refuse(RefMissing, "USER '%s' does not exist", c.GetName())
	}
	if t.state.users.len() == 1 {
		return refuse(Invalid, "USER '%s' is the last user and cannot be dropped", c.GetName())
	}
	t.state.users = t.state.users.delete(c.GetName())
	return nil
}

func (t *transition) createDomain(c *catalogpb.CreateDomain) *Refusal {
	if _, ok := t.state.Domain(c.GetName()); ok {
		return refuse(Exists, "DOMAIN '%s' already exists", c.GetName())
	}
	t.setDomain(&Domain{Name: c.GetName(), Definition: t.index, Runtime: t.index, Positions: t.index})
	return nil
}

func (t *transition) dropDomain(c *catalogpb.DropDomain) *Refusal {
	return t.withDomain(c.GetName(), func(d *Domain) *Refusal {
		if d.Running {
			return refuse(DomainState, "domain '%s' is running; STOP it first", d.Name)
		}
		for key, m := range t.state.models.prefix(d.Name + "\x00") {
			t.state.models = t.state.models.delete(key)
			t.models[key] = ModelEffect{Domain: d.Name, Key: m.Key, Dropped: true}
		}
		t.state.domains = t.state.domains.delete(d.Name)
		t.domains[d.Name] = true
		return errDropped
	})
}

// errDropped tells withDomain that the domain is gone, which is no refusal.
var errDropped = &Refusal{}

func (t *transition) setRunning(c *catalogpb.SetRunning) *Refusal {
	return t.withDomain(c.GetDomain(), func(d *Domain) *Refusal {
		switch {
		case d.Running && c.GetRunning():
			return refuse(DomainState, "domain '%s' is already running", d.Name)
		case !d.Running && !c.GetRunning():
			return refuse(DomainState, "domain '%s' is not running", d.Name)
		}
		d.Running = c.GetRunning()
		d.Runtime = t.index
		if d.Running {
			d.Generation++
		}
		if c.GetFresh() {
			d.Positions = t.index
		}
		return nil
	})
}

// withDomain changes a copy of a domain and stores it unless f refused.
func (t *transition) withDomain(name string, f func(*Domain) *Refusal) *Refusal {
	old, ok := t.state.Domain(name)
	if !ok {
		return refuse(DomainMissing, "domain '%s' does not exist", name)
	}
	d := *old
	switch refused := f(&d); refused {
	case nil:
		t.setDomain(&d)
		return nil
	case errDropped:
		return nil
	default:
		return refused
	}
}

func (t *transition) setDomain(d *Domain) {
	t.state.domains = t.state.domains.set(d.Name, d)
	t.domains[d.Name] = true
}

// reclaim forgets finished executions and moves the fence behind them, so that a
// forgotten reference can never execute again (C4). The fence goes no further: a
// leader whose clock jumped ahead must not refuse clients whose clocks are right.
func (t *transition) reclaim(c *catalogpb.Reclaim) *Refusal {
	for key, x := range t.state.executions.all() {
		if made := created(x.Reference); made < c.GetBefore() && x.Finished < c.GetBefore() {
			t.state.Fence = max(t.state.Fence, made+referenceTick)
			t.state.executions = t.state.executions.delete(key)
		}
	}
	return nil
}

// referenceTick is the resolution of the time in a reference.
const referenceTick = int64(time.Millisecond)

func uuid(b []byte) (u primitives.UUID) {
	copy(u[:], b)
	return u
}

// created returns the Unix nanoseconds of a version 7 UUID.
func created(u primitives.UUID) int64 {
	var ms int64
	for _, b := range u[:6] {
		ms = ms<<8 | int64(b)
	}
	return ms * 1e6
}
