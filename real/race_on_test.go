//go:build race

package real_test

// raced says that the race detector is on, under which pools drop at random.
const raced = true
