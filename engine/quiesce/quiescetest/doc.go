// Package quiescetest is what holds and handoffs are tested with: a small
// request/response transport over the sockets of a World, and a domain whose work
// moves between nodes. Neither is used by the product.
package quiescetest
