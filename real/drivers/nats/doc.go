// Package nats is the nats.go side of the NATS connector's driver port.
//
// It dials through the World, so that one resolver and one budget rule apply,
// and turns off everything the library would repeat by itself: reconnects, retries
// of publishes, lookups. Nothing here classifies or decides.
package nats
