// Package exchange delivers batches between the nodes of a cluster.
package exchange
