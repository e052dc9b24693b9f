// Package check holds the static rules that keep the world boundary and the
// layers of the product intact, one analyzer per rule.
//
//	PX001  clock           PX002  tasks          PX003  channels
//	PX004  locks           PX005  sockets        PX006  names
//	PX007  files, process  PX008  map order      PX009  randomness
//	PX010  identity        PX011  replicated apply
//	PX012  encoding        PX013  imports        PX014  errors
//	PX015  output          PX017  waits
//
// PX000 watches the exemptions themselves. A finding is exempted by a comment on
// its line or on the line above:
//
//	//plexus:allow PXnnn <reason>     in packages that allow.txt names
//	//plexus:orderfree <reason>       on a range over a map (PX008)
//
// Where a rule does not hold at all - the real build, tests, the scheduler's own
// files - is the table in scope.go. Generated files are checked for PX013 only.
//
// The package imports the standard library and golang.org/x/tools.
package check
