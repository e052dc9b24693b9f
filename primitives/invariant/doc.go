// Package invariant holds the assertions of the product: conditions that only
// our own mistakes can break. They are always on.
//
// [That] panics with a [Violation]; the simulated build turns it into a failed
// run, the daemon ends with its text. [Sometimes] marks rare branches that
// campaigns must reach; their report lists those never hit.
package invariant
