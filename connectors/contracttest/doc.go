// Package contracttest keeps the broker models honest: one suite per protocol,
// run against the model in the simulator and against the real driver with a real
// server in the same process.
//
// A step drives the connector through its contract and looks at the server from
// outside, so both builds must agree on every answer, and on what a lost
// connection, a refusal and an expired wait mean. The package is tests only.
package contracttest
