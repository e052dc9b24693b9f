// Command plexus-sim runs whole simulated clusters: one seed, a campaign of many,
// a replay of a failure.
package main
