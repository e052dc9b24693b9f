// Package certificates makes the authority of a private cluster and the node
// certificates under it, for evaluation and for clusters without an authority of
// their own.
//
// A node certificate is valid for client and server use, names its node with
// exactly one URI, plexus://cluster/<cluster>/node/<node>, and covers the hosts
// under which peers dial the node. Keys are Ed25519 and leave the package only as
// the PEM text that was asked for.
//
// The package imports the standard library only.
package certificates
