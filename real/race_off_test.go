//go:build !race

package real_test

const raced = false
