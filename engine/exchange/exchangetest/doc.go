// Package exchangetest is what deliveries between nodes are tested with: nodes that
// send each other batches over the product's interconnect, small graphs that take
// them in and end their rows in pieces, and a ledger that knows every row. The
// product does not use it.
package exchangetest
