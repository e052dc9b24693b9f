package primitives

import (
	"cmp"
	"slices"
)

// SortedKeys returns the keys of m in ascending order: the only way effects may
// follow a map.
func SortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m { //plexus:orderfree sorted below
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
