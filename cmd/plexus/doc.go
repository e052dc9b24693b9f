// Command plexus is the command line client of a Plexus node: it runs statements
// from an argument, a file or a prompt, streams the rows of subscriptions, and
// tells scripts by its exit status how it went.
//
//	0  every statement completed
//	1  a statement failed
//	2  usage, an unreadable file, or text that does not parse: nothing was sent
//	3  the node cannot be reached or refuses the credentials
//	4  the outcome is unknown; the execution reference is printed
//	5  interrupted by a signal while a statement was outstanding
//
// Results go to standard output, everything else to standard error.
package main
