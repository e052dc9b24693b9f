package ast

// CreateDomain is CREATE DOMAIN. Pace is nil for an unpaced one; without PLACEMENT
// the policy is NEUTRAL.
type CreateDomain struct {
	Create
	Pace      *Pace
	Placement Policy
}

// AlterDomain is ALTER DOMAIN SET PLACEMENT, for the selected domain.
type AlterDomain struct {
	Head
	Placement Policy
}

// Pace is WITH PERIOD … SKEW ….
type Pace struct{ Period, Skew Duration }

// Use is USE: a client selects the domain of its next statements.
type Use struct {
	Head
	Domain Name
}

// ListDomains is LIST DOMAINS.
type ListDomains struct{ Head }
