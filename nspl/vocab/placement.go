package vocab

// PlacementPolicy says how the members of a placement rule, or the connected
// operators of a domain, should stand to each other.
type PlacementPolicy uint8

// The policies. Neutral is the default.
const (
	PlacementNeutral PlacementPolicy = iota
	PlacementRequireColocation
	PlacementPreferColocation
	PlacementSuggestSeparation
)

var placementPolicyNames = [...]string{"NEUTRAL", "REQUIRE COLOCATION", "PREFER COLOCATION", "SUGGEST SEPARATION"}

// String returns the keywords.
func (p PlacementPolicy) String() string { return placementPolicyNames[p] }

// PlacementPolicies lists every policy.
func PlacementPolicies() []PlacementPolicy {
	return []PlacementPolicy{PlacementNeutral, PlacementRequireColocation, PlacementPreferColocation, PlacementSuggestSeparation}
}
