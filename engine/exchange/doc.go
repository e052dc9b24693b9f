// Package exchange delivers batches between the nodes of a cluster.
//
// A batch of a relay is encoded once into a [Body] and offered on a [Channel]. The
// receiver reserves room, takes the body, lets the graph admit or refuse it, and
// reports the outcome of its rows one by one. Both halves are pure cores, the
// sender and the receiver: instants come in, what to ask and to tell comes out.
// Thin tasks of [Exchange] feed them over a [Port].
//
//	sender                          receiver
//	offer ── grant? ──────────────▶ room? ── held: asked again, hinted
//	      ◀───────────── granted ──
//	body ─────────────────────────▶ received ─▶ decoded ─▶ Receiver.Accept
//	      ◀───────────── outcome ──                        one verdict
//	shares ◀────── rows, progress ── watch                 rows end
//
// Invariants:
//
//	E1  A delivery identity (run, incarnation, sequence) has one verdict: admitted,
//	    rejected or cancelled. Receiver.Accept gives it where admission and
//	    cancellation meet.
//	E2  An identity is used for one content. A repeat of it is harmless, another
//	    content under it is refused.
//	E3  A channel has at most one delivery between its identity and its verdict, and
//	    admissions of a channel follow its sequence.
//	E4  What the receiver decided stays decided for as long as anything could repeat
//	    the question: a newer incarnation of a channel fences the older ones.
//	E5  Only the process that took a delivery resolves its rows, under the position
//	    and generation they are registered with.
//	E6  What may have been seen by a process that is gone is indeterminate: its open
//	    rows fail and it is never sent again.
//	E7  Missing room holds a delivery and refuses nothing.
//	E8  Silence and stalls are counted in sweeps that happened, never in time.
//	E9  Bytes, rows, watermarks and shares belong together; every byte of a body is
//	    checked before an array is made of it.
//
// Nothing here is persisted. The package imports ack, batch, interconnect, observe
// and primitives; it never imports flow, control or a connector.
package exchange
