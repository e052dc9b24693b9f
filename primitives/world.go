package primitives

import "log/slog"

// World is what one node sees of the universe. It is injected, never selected
// by a build tag; the nodes of one simulated cluster each hold their own, with
// their own clock skew, address, disk and entropy.
type World interface {
	Clock() Clock
	Tasks() Tasks
	Net() Net
	Resolver() Resolver
	Entropy() Entropy
	Files() Files
	Log() *slog.Logger
}
