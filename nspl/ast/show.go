package ast

import "plexus/nspl/vocab"

// Format is the FORMAT a reading statement ends in.
type Format uint8

// The formats.
const (
	FormatText Format = iota
	FormatJSON
)

// ShowCreate is SHOW CREATE kind name.
type ShowCreate struct {
	Head
	Kind   vocab.EntityKind
	Name   Name
	Format Format
}

// Listing is what a SHOW without a name lists.
type Listing uint8

// The listings.
const (
	ListIngestors Listing = iota
	ListClusterStatus
	ListUsers
	ListPlacements
	ListTransactions
	ListUDFs
)

var listingNames = [...]string{"INGESTORS", "CLUSTER STATUS", "USERS", "PLACEMENTS", "TRANSACTIONS", "UDFS"}

// String returns the words after SHOW.
func (l Listing) String() string { return listingNames[l] }

// Show is SHOW INGESTORS and its like.
type Show struct {
	Head
	What   Listing
	Format Format
}
