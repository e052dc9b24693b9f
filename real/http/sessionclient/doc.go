// Package sessionclient reaches nodes by the Connect binding of the session
// protocol. It is apart from the servers of package real/http so that programs
// which only talk to nodes stay small.
package sessionclient
