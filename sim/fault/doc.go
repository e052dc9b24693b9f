// Package fault says what goes wrong in a run. A [Plan] is a list of timed
// entries, drawn up front from the seed for a profile; a [Controller] applies it
// to the hosts, the network, the name server and the brokers of a simulation.
//
//	F1  A plan is data: it prints, marshals and shrinks by losing entries, and
//	    losing one changes no other.
//	F2  An entry that lasts ends by itself; Heal ends everything at once.
//	F3  Every class counts how often it took effect.
//
// A class draws from its own stream, so switching one off shifts no other.
package fault
