// Package http serves the HTTP sides of a node on the operating system: the Connect
// binding of the session protocol, the endpoints of ingestion, and health with
// metrics. Each server implements a small port that engine or connectors/contract
// declare; what a request means is decided there.
//
// A server is bound when Start returns, so that a port in use is an error of the
// start, and Close waits for the requests it answers. The package never imports sim.
package http
