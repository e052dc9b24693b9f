// Package nats joins NATS to the data plane: core subjects and JetStream streams
// as sources, subjects as a sink that either flushes or awaits a stream's
// acknowledgement.
//
// Everything that decides lives here; a [Driver] only translates. Two builds of
// it exist: real/drivers/nats over nats.go and sim/brokers/nats over a model of
// the server, and connectors/contracttest holds them to one behaviour.
//
//	N1  A connection is never repaired. When it is lost its source resumes and
//	    its sink is reopened, on the schedule of the host.
//	N2  A stream position dies with its delivery: nothing is acknowledged on a
//	    connection that did not deliver it.
//	N3  A record above the server's announced limit is rejected before writing.
package nats
