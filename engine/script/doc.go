// Package script checks scripts of NSPL without a cluster: it carries out what their
// statements do to the definitions, from an empty cluster on, with the parser and
// the planner that a node uses, and collects every fault.
//
//	K1  A script without findings, run statement by statement on a new cluster, is
//	    refused nothing but what the result lists as unchecked.
//	K2  After a fault the check goes on. What only fails because something before
//	    it failed is not reported again; what is wrong in itself is.
//	K3  Statements are accepted and refused as a node does that is given them one by
//	    one, and the time a script takes grows with its length.
//
// The package is pure: it reads no file and asks no network.
package script
