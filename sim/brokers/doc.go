// Package brokers holds what the models of external systems have in common: a
// ledger outside the nodes, faults as named verbs, and compact frames.
//
// Each model is a program on a simulated host of its own and talks over
// simulated connections, so every fault of hosts and links applies to it. What it
// stores outlives its process, as a replicated store would.
//
//	B1  The ledger says what the system knows: what it stored, delivered and was
//	    told. A loss, a refusal and a redelivery stand in it with their cause.
//	B2  A verb changes what happens next and nothing that happened.
//	B3  Without a verb a model behaves like the real server, which
//	    connectors/contracttest checks step by step.
//
// Frames stand for a protocol whose client library cannot run in the simulator.
// A protocol that the product writes by itself, HTTP, is spoken as it is.
package brokers
