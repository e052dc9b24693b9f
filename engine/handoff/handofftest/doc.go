// Package handofftest is what ownership changes are tested with: a replicated
// schedule that is played by the test, operators with a state that can be told
// apart, and the nodes that run them with the product's holds, handoffs, staging
// and stores. The product does not use it.
package handofftest
