// Package features holds the acceptance features of Plexus as Gherkin files and
// runs them in one of three worlds:
//
//	go test ./features -world=sim|local|containers -nodes=1,3 -scenarios='~@slow' -seeds=3
//
// The vocabulary of the steps is in package harness. What a world cannot run is
// listed with its reason at the end of the run.
package features
