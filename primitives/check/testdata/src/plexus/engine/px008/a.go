package px008

import (
	"maps"
	"reflect"
	"slices"
)

func refused(m map[string]int) (list []string) {
	for k := range m { // want `PX008: range over a map`
		list = append(list, k)
	}
	for k := range maps.Keys(m) { // want `PX008: maps.Keys unsorted`
		list = append(list, k)
	}
	_ = reflect.ValueOf(m).MapKeys()    // want `PX008: reflect.Value.MapKeys`
	return slices.Collect(maps.Keys(m)) // want `PX008: maps.Keys unsorted`
}

func accepted(m map[string]int) (sum int) {
	for _, n := range m { //plexus:orderfree a sum
		sum += n
	}
	//plexus:orderfree deletes
	for k := range m {
		delete(m, k)
	}
	for range slices.Sorted(maps.Keys(m)) {
	}
	return sum + len(maps.Clone(m))
}
