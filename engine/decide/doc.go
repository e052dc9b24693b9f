// Package decide turns the definitions of a domain into decisions: is a
// candidate graph valid, what does a statement change, which node executes what,
// and which [Revision] does a node execute. Everything here is a pure function of
// its arguments.
//
//	D1  A candidate that [Candidate.Validate] accepted can be planned, scheduled and
//	    compiled; the stages find their faults in order and report one entity.
//	    A batch on definitions that are sound is judged by what it touches, with the
//	    verdict that judging everything would give.
//	D2  [Schedule] brings a domain's assignment in line with its definitions and the
//	    cluster. Committed, it stands: asked again, there is nothing to do.
//	D3  [Relocate] and [Evacuate] change the assignment of their members only, and
//	    move hard groups whole.
//	D4  A [Boundary] names every relay through which records could still reach what
//	    moves, except those that only what moves fills.
//	D5  The identity of a transition occurs once: it is derived from the schedule
//	    that it replaces, the operator and both nodes.
//
// Rules and graphs become pairs and groups in engine/placement, nodes are chosen
// in engine/schedule; this package gives them the definitions and takes the result
// back into the words of the catalog.
//
// It never imports a World, flow, host or a concrete connector.
package decide
