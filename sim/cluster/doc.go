// Package cluster puts nodes of the product, and the external systems they talk
// to, on simulated machines: whatever runs a node in the simulator, a campaign or
// an acceptance scenario, starts it here.
//
//	C1  A node is the production code: engine/node over the world of its host, with
//	    models behind the connectors' ports. Nothing of it is replaced.
//	C2  A process starts with nothing but its disk; what watches it starts anew
//	    with it.
//	C3  A cluster is founded by its first node, once. What nodes know of each other
//	    are names of machines and ports.
//
// It knows neither faults nor what must hold.
package cluster
