// Package state is the node's store for what operators must remember across
// restarts. So far that is the state of cursor sources.
//
//	S1  A saved state survives kill -9 and the loss of the machine's cache from
//	    the moment Save returns.
//	S2  Load returns the last saved state or one whose Save had begun, never a
//	    mixture and never nothing where something had been saved: damage is an
//	    error.
//
// Each state has two slots, which are files. A save overwrites the older slot, so
// a torn write leaves the newer one. The package imports primitives and the
// connector contract; it never imports flow or host.
package state
