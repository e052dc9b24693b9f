package fault

import (
	"time"

	"plexus/sim/brokers"
)

// Broker aims faults at the model of an external system.
func Broker(name string, verbs []brokers.Verb) Injector { return &broker{name, verbs} }

type broker struct {
	name  string
	verbs []brokers.Verb
}

// Kinds implements Injector.
func (b *broker) Kinds() []Kind {
	var out []Kind
	for _, v := range b.verbs {
		k := Kind{Class: Class(v.Class), Target: b.name, Per: 10 * time.Second}
		if v.Lasts {
			k.Shortest, k.Longest = 10*time.Millisecond, 10*time.Second
		}
		if v.Counts {
			k.Least, k.Most = 1, 20
		}
		out = append(out, k)
	}
	return out
}

// Apply implements Injector.
func (b *broker) Apply(e Entry) bool {
	for _, v := range b.verbs {
		if v.Class == string(e.Class) {
			v.Apply(e.For, int(e.Amount))
			return true
		}
	}
	return false
}

// Heal implements Injector.
func (b *broker) Heal(e Entry) {
	for _, v := range b.verbs {
		if v.Class == string(e.Class) && v.Heal != nil {
			v.Heal()
		}
	}
}

// HealAll implements Injector.
func (b *broker) HealAll() { brokers.HealAll(b.verbs) }
