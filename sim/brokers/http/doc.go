// Package http is a model of an HTTP server that takes records: it speaks
// HTTP/1.1 on the simulated network, so the product reaches it as it would reach
// any other.
//
//	T1  A request is in the ledger before it is answered; an incomplete one is not.
//	T2  Every connection carries one request.
package http
