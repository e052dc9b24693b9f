// Package host drives connectors: source loops, the intake of HTTP endpoints and
// emitter tasks. It owns every protocol between the data plane and an external
// system: what is requested, acknowledged, retried, retained, and when.
//
// The rules are step cores without a clock: [backoff], [quiesceBuffer],
// [packing], [checkOutcome]. Thin tasks around them wait and call connectors.
//
//	H1  One task drives one instance or one sink; a keepalive helper only
//	    refreshes roots.
//	H2  A position is acknowledged after every root of its batch succeeded, and
//	    the batch counts as outstanding until the source confirmed it.
//	H3  What a sink did not answer is offered again, byte for byte, before
//	    anything prepared later.
//	H4  A row resolves once. A confirmed or rejected payload is never offered
//	    again.
//	H5  State of a cursor source is durable before its source commits.
//	H6  Nothing is reported delivered by a cancellation.
//	H7  A connector that does not open leaves its operator present, showing why,
//	    and retrying.
//
// It imports flow, codec, expr, ack, decide, observe, state and the connector
// contract. It never imports control, a concrete connector, real or sim.
package host
