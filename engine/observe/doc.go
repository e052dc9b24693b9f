// Package observe is how the engine is seen from outside: metric series, edge
// summaries for DESCRIBE, and the event tap that oracles listen to.
//
// Invariants:
//
//	O1  A task resolves its series when it starts; recording is one atomic update
//	    and never a lookup.
//	O2  Labels come from definitions. No branch key, host, user, message or error
//	    text is ever a label.
//	O3  A nil Tap costs one comparison. Nothing in the engine depends on what a
//	    tap does with an event.
//
// The package blocks on nothing and imports no engine package.
package observe
