//go:build !planted

package main

// mutantCommands is empty: this build has no planted defects.
type mutantCommands struct{}
