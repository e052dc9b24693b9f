package ast

import "plexus/nspl/vocab"

// NodeVerb is what a statement does to a cluster node.
type NodeVerb uint8

// The verbs.
const (
	NodeCordon NodeVerb = iota
	NodeUncordon
	NodeDrain
	NodeDrop
)

var nodeVerbNames = [...]string{"CORDON", "UNCORDON", "DRAIN", "DROP"}

// String returns the keyword.
func (v NodeVerb) String() string { return nodeVerbNames[v] }

// NodeControl is CORDON NODE, UNCORDON NODE, DRAIN NODE or DROP NODE.
type NodeControl struct {
	Head
	Verb NodeVerb
	Node Text
}

// RuntimeNode names an entity that executes by its kind and name.
type RuntimeNode struct {
	Kind vocab.EntityKind
	Name Name
}

// Preferences says what a relocation does with the partners that placement
// preferences name.
type Preferences uint8

// The strategies.
const (
	FollowPreferences Preferences = iota
	IgnorePreferences
)

var preferencesNames = [...]string{"FOLLOW", "IGNORE"}

// String returns the keyword before PREFERENCES.
func (p Preferences) String() string { return preferencesNames[p] }

// Relocation is what is to move where. Either Nodes is set, or From and To, which
// select the corridors between them.
type Relocation struct {
	Nodes       []RuntimeNode
	From, To    []RuntimeNode
	Onto        Text
	Preferences Preferences
	For         []PreferencesFor
}

// PreferencesFor is FOR … (FOLLOW | IGNORE) PREFERENCES.
type PreferencesFor struct {
	Nodes       []RuntimeNode
	Preferences Preferences
	Span        vocab.Span
}

// Relocate is RELOCATE.
type Relocate struct {
	Head
	Relocation
}

// DescribeRelocation is DESCRIBE RELOCATION: what RELOCATE would do.
type DescribeRelocation struct {
	Head
	Relocation
	Format Format
}
