package catalog

import (
	"fmt"

	"plexus/engine/catalog/catalogpb"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
	"plexus/primitives/planted"
)

// changeModels applies the changes of one batch together, or none (CP-3).
func (t *transition) changeModels(c *catalogpb.ChangeModels, lease uint64) *Refusal {
	d, ok := t.state.Domain(c.GetDomain())
	if !ok {
		return refuse(DomainMissing, "domain '%s' does not exist", c.GetDomain())
	}
	if refused := t.leased(d, lease); refused != nil {
		return refused
	}
	if d.Definition != c.GetExpected() && d.Definition != t.index {
		return stale("domain '%s' changed while the statement was being planned", d.Name)
	}
	models := t.state.models
	effects := map[string]ModelEffect{}
	for i, change := range c.GetChanges() {
		if i > 0 && planted.Active(planted.HalfBatch) {
			break
		}
		kind, ok := entityKind(change.GetKind())
		if !ok {
			return refuse(Invalid, "unknown kind '%s'", change.GetKind())
		}
		key := Key{Kind: kind, Name: change.GetName()}
		_, exists := models.get(modelKey(d.Name, key))
		switch op := change.GetOp(); {
		case op == catalogpb.ModelChange_CREATE && exists:
			return refuse(Exists, "%s already exists", key)
		case op != catalogpb.ModelChange_CREATE && !exists:
			return refuse(RefMissing, "%s does not exist", key)
		case op == catalogpb.ModelChange_DROP:
			models = models.delete(modelKey(d.Name, key))
			effects[modelKey(d.Name, key)] = ModelEffect{Domain: d.Name, Key: key, Dropped: true}
		default:
			m, err := newModel(d.Name, key, change.GetText(), t.index)
			if err != nil {
				return refuse(Invalid, "%v", err)
			}
			models = models.set(modelKey(d.Name, key), m)
			dropped := effects[modelKey(d.Name, key)].Dropped
			effects[modelKey(d.Name, key)] = ModelEffect{Domain: d.Name, Key: key, Created: true, Dropped: dropped}
		}
	}
	t.state.models = models
	for key, effect := range effects { //plexus:orderfree copied into another map
		t.models[key] = effect
	}
	t.prune(d)
	changed := *d
	changed.Definition, changed.Runtime = t.index, t.index
	t.setDomain(&changed)
	return nil
}

// newModel parses the canonical text: the only place where stored text becomes
// structure.
func newModel(domain string, key Key, text string, revision uint64) (*Model, error) {
	definition, err := model.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s of domain '%s': %w", ErrModel, key, domain, err)
	}
	if definition.Kind() != key.Kind || definition.EntityName() != key.Name {
		return nil, fmt.Errorf("%w: %s of domain '%s' holds the text of another model", ErrModel, key, domain)
	}
	return &Model{
		Domain: domain, Key: key, Text: text, Definition: definition, Revision: revision, references: model.References(definition),
	}, nil
}

// entityKind reads the keywords of a domain-owned kind.
func entityKind(words string) (vocab.EntityKind, bool) {
	for kind := vocab.EntitySchema; kind <= vocab.EntityEmitter; kind++ {
		if kind.String() == words {
			return kind, true
		}
	}
	return 0, false
}
