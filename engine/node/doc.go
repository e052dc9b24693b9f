// Package node builds one node of the product from a World, settings, a table of
// connectors and listeners, starts it in order and stops it in order. The daemon
// and the simulator build nodes the same way; only what they pass differs.
//
//	D1  Nothing executes before runtime admission.
//	D2  What a domain executes follows the committed state: a revision that cannot
//	    be installed is retried, and shown, until it can or a newer one replaces
//	    it.
//	D3  Stop ends intake first, then what was admitted, then the control plane; the
//	    data directory is released last.
//
// The package imports every other engine package and the connector contract. It
// never imports a connector, real or sim.
package node
