package catalog

import (
	"slices"

	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
	"plexus/primitives/planted"
)

// Result is what a command did.
type Result struct {
	Index uint64
	// Refused is set when a step was refused: then no step applied.
	Refused *Refusal
	// Known is set when the reference of a new command was known before: nothing
	// applied now, and this is what it stands for.
	Known *Execution
}

// Effects names what a command changed, in name order, for those who follow the
// state.
type Effects struct {
	Domains []string // whose runtime revision changed, removed ones included
	Models  []ModelEffect
	Nodes   []string // whose records changed, removed ones included
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
	e.Nodes = union(e.Nodes, o.Nodes)
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

// Apply returns the state after the command at a log index.
func (s *State) Apply(index uint64, c *catalogpb.Command) (*State, Result, Effects) {
	before := *s
	before.Applied = index
	before.HighWater = max(before.HighWater, c.GetAt())
	result := Result{Index: index}
	x := c.GetExecution()
	if x != nil && before.admit(x, &result) {
		return &before, result, Effects{}
	}
	after := before
	t := transition{
		state: &after, index: index,
		domains: map[string]bool{}, models: map[string]ModelEffect{}, nodes: map[string]bool{},
	}
	for i, step := range c.GetSteps() {
		if refused := t.step(step); refused != nil {
			refused.Step = i
			result.Refused = refused
			if !planted.Active(planted.KeepHalf) {
				after, t = before, transition{} // C2
			}
			break
		}
	}
	if x != nil {
		after.record(index, x, result.Refused)
	}
	return &after, result, t.effects()
}

// transition is one command in progress.
type transition struct {
	state   *State
	index   uint64
	domains map[string]bool
	models  map[string]ModelEffect // by key of the state
	nodes   map[string]bool
}

// effects lists what changed, in name order (C1).
func (t *transition) effects() Effects {
	e := Effects{Domains: primitives.SortedKeys(t.domains), Nodes: primitives.SortedKeys(t.nodes)}
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
	case *catalogpb.Step_AlterDomain:
		return t.alterDomain(body.AlterDomain, step.GetLease())
	case *catalogpb.Step_DropDomain:
		return t.dropDomain(body.DropDomain, step.GetLease())
	case *catalogpb.Step_ChangeModels:
		return t.changeModels(body.ChangeModels, step.GetLease())
	case *catalogpb.Step_CreateResource:
		return t.createResource(body.CreateResource, step.GetLease())
	case *catalogpb.Step_RecordVersion:
		return t.recordVersion(body.RecordVersion, step.GetLease())
	case *catalogpb.Step_SetRunning:
		return t.setRunning(body.SetRunning, step.GetLease())
	case *catalogpb.Step_SetSchedule:
		return t.setSchedule(body.SetSchedule, step.GetLease())
	case *catalogpb.Step_AcquireLease:
		return t.acquireLease(body.AcquireLease)
	case *catalogpb.Step_ReleaseLease:
		return t.releaseLease(body.ReleaseLease)
	case *catalogpb.Step_AddNode:
		return t.addNode(body.AddNode)
	case *catalogpb.Step_UpdateNode:
		return t.updateNode(body.UpdateNode)
	case *catalogpb.Step_PromoteNode:
		return t.promoteNode(body.PromoteNode)
	case *catalogpb.Step_RemoveNode:
		return t.removeNode(body.RemoveNode)
	case *catalogpb.Step_CordonNode:
		return t.cordonNode(body.CordonNode)
	case *catalogpb.Step_CompleteHandoff:
		return t.completeHandoff(body.CompleteHandoff)
	case *catalogpb.Step_SetLimits:
		return t.setLimits(body.SetLimits)
	default:
		return t.transactionStep(step)
	case *catalogpb.Step_Reclaim:
		return t.reclaim(body.Reclaim)
	}
}

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
