// Package placement says what the placement rules of a domain mean for its
// graph: which pairs of operators each rule claims, which rule wins a pair, which
// operators must share a node, and which would rather share or avoid one.
//
//	PL1  A rule claims the pairs inside its corridors: for each f in FROM and t in
//	     TO, f ≠ t, every two operators that lie on a way from f to t. A member
//	     paired with itself is no pair and claims nothing.
//	PL2  A claimed pair belongs to the strongest tier that claims it: rank 1, 2,
//	     ..., no rank. How strong the policy itself is does not matter.
//	PL3  Two policies in the winning tier of a pair are a conflict. What a stronger
//	     tier overrides cannot be in conflict.
//	PL4  The domain's default holds for directly connected pairs that no rule
//	     claims, and for nothing else.
//	PL5  Hard groups are the connected components of the pairs that must share a
//	     node. Equal inputs give equal results: operators are visited in the order
//	     of the graph, rules by tier and name.
//
// The package is pure. It imports nspl/vocab and the standard library; never the
// catalog, which knows more than a graph.
package placement
