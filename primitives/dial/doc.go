// Package dial opens connections to hosts: it joins the node's resolver and its
// sockets under one budget.
//
//	L1  Lookup and attempts together end by the deadline.
//	L2  The shares of sequential attempts add up to at most what was left.
//	L3  At most one connection of a dial survives; the others are closed.
//	L4  A lookup is asked for once per dial; trying again is the caller's policy.
//
// TLS and handshakes are the caller's, within what is left of the same deadline.
// The package imports primitives only.
package dial
