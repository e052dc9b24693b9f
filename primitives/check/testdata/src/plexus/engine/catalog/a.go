package catalog

import (
	"log/slog"

	"plexus/primitives"
)

type refused struct {
	w primitives.World // want `PX011: primitives.World`
	l *slog.Logger     // want `PX011: slog.Logger`
}

func refusedFloats(a, b float64) bool { return a < b*2 } // want `PX011: floating point` `PX011: floating point`

type accepted struct {
	at primitives.Instant
	id primitives.UUID
}

func acceptedIntegers(m map[string]int, a, b int) bool { return len(primitives.SortedKeys(m)) < a*b }
