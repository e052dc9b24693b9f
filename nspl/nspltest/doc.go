// Package nspltest makes texts of NSPL for benchmarks and tests: realistic ones of
// any size, the same in every run.
//
// A script is valid as a whole: it checks without a finding from an empty cluster.
// For tests only; it must never import the engine.
package nspltest
