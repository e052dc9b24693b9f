// Package http is the simulated build of the node's HTTP endpoint listener, and
// the caller of endpoints: HTTP/1.1 over simulated connections.
//
// Framing is net/http's own reading of requests and responses; net/http's servers
// and clients, which start goroutines and read clocks, are not used. real/http is
// the other build of the listener.
package http
