package vocab

import (
	"math"
	"strconv"
	"strings"
)

// units are the spellings of a duration's parts.
var units = [...]struct {
	spellings string
	nanos     uint64
}{
	{"ns nsec nsecs", 1},
	{"us usec usecs", 1e3},
	{"ms msec msecs", 1e6},
	{"s sec secs second seconds", 1e9},
	{"m min mins minute minutes", 60e9},
	{"h hr hrs hour hours", 3600e9},
	{"d day days", 86400e9},
	{"w week weeks", 604800e9},
}

func unitNanos(spelling string) (uint64, bool) {
	for _, u := range units {
		for rest := u.spellings; rest != ""; {
			var one string
			one, rest, _ = strings.Cut(rest, " ")
			if one == spelling {
				return u.nanos, true
			}
		}
	}
	return 0, false
}

// DurationUnit reports whether a word is the unit of a duration.
func DurationUnit(spelling string) bool {
	_, ok := unitNanos(spelling)
	return ok
}

// unitEnd returns where the first digit stands.
func unitEnd(word string) int {
	for i := range len(word) {
		if digit(word[i]) {
			return i
		}
	}
	return len(word)
}

// DurationNanos reads a spelling without white space, as 1h30m; bad says what is wrong
// with it.
func DurationNanos(text string) (total uint64, bad string) {
	for text != "" {
		i := 0
		for i < len(text) && (digit(text[i]) || text[i] == '.') {
			i++
		}
		if strings.Contains(text[:i], ".") {
			return 0, "fraction"
		}
		n, err := strconv.ParseUint(text[:i], 10, 64)
		if err != nil {
			return 0, "number out of range"
		}
		text = text[i:]
		if text == "" {
			return 0, "missing unit"
		}
		i = unitEnd(text)
		nanos, ok := unitNanos(text[:i])
		if !ok {
			return 0, "unknown unit"
		}
		if n > 0 && (nanos > math.MaxUint64/n || n*nanos > math.MaxUint64-total) {
			return 0, "longer than 18446744073709551615 ns"
		}
		total += n * nanos
		text = text[i:]
	}
	return total, ""
}

func digit(b byte) bool { return b >= '0' && b <= '9' }
