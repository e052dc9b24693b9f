package goldentest

// Random is a seeded sequence of numbers for tests that walk through the language.
type Random uint64

// IntN returns a number from 0 to n-1.
func (r *Random) IntN(n int) int {
	*r += 0x9e3779b97f4a7c15
	x := uint64(*r)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int((x ^ x>>31) % uint64(n))
}
