package px008

func refusedInTestsToo(m map[string]int) {
	for range m { // want `PX008: range over a map`
	}
}
