// Package decide turns the definitions of a domain into decisions: is a
// candidate graph valid, what does a statement change, and which [Revision] does
// a node execute. Everything here is a pure function of its arguments.
//
// It never imports a World, flow, host or a concrete connector.
package decide
