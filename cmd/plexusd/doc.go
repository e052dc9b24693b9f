// Command plexusd runs one Plexus node. With no flag it founds a cluster of one in
// ./plexus-data, listens on loopback only and needs nothing else.
//
//	plexusd [flags]           run until SIGINT or SIGTERM
//	plexusd config [flags]    print the effective settings and where they come from
//	plexusd tls ...           make certificates for a private cluster
//	plexusd version           print the version
//
// Exit status: 0 stopped as asked, 1 the node could not start, was forced to stop
// or lost its storage, 2 a flag, variable or line of the file cannot be used. A
// second signal ends the process at once.
package main
