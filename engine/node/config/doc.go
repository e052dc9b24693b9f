// Package config is the configuration of one node: a table of settings, each
// with its flag, default, meaning and reader, and the four places a value may
// come from. A flag wins over PLEXUS_<FLAG>, that over a line of the file, that
// over the default.
//
//	K1  An unknown key, a duplicate and a value that does not read are errors that
//	    name the place: the flag, the variable, or file and line.
//	K2  The text of a value reads back as the same value.
//
// The package is pure: arguments, environment and file content are handed in.
package config
