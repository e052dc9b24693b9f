// Package http is the sink entity HTTP REQUEST: one request per record, on a
// fresh HTTP/1.1 connection each, answered by the final response head.
//
// Writer and head parser are in-tree, over contract.Stream, so the same bytes go
// out in both builds; there is no driver.
//
//	H1  Requests go out in order; at most one awaits its final head.
//	H2  A retry status, and every failure, ends the write: this request and the
//	    later ones stay with the host.
//	H3  A head that is malformed or too large has no status.
//	H4  The response body is never awaited.
package http
