package host

import "testing"

// Reading a header allocates nothing, however many rows do it.
func TestHeaderRows(t *testing.T) {
	rows := headerRows{{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}, {Name: "b", Value: "3"}}, nil}
	name := []byte("b")
	allocs := testing.AllocsPerRun(100, func() {
		if value, present := rows.Header(0, name, 0); value != "2" || !present {
			t.Error("not the first value of the name")
		}
		if value, present := rows.Header(0, name, 1); value != "3" || !present {
			t.Error("not the second value of the name")
		}
		if _, present := rows.Header(0, name, 2); present {
			t.Error("a third value")
		}
		if _, present := rows.Header(1, name, 0); present {
			t.Error("a header of another row")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
