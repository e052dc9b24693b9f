// Package protocol holds scenarios of single protocols between nodes: their
// participants run on simulated machines, and what surrounds them in the product
// is played by the test.
//
// It imports sim and the packages of the protocols; never the whole engine.
package protocol
