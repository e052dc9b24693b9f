package ast

// CreateDomain is CREATE DOMAIN. Pace is nil for an unpaced one.
type CreateDomain struct {
	Create
	Pace *Pace
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
