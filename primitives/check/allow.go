package check

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed allow.txt
var allowText string

// Allowed is what allow.txt allows.
var Allowed = parseAllow(allowText)

// AllowList names the packages that may have exemptions, with their recorded
// number, and the libraries that may run inside the engine and the simulator.
type AllowList struct {
	Packages  map[string]int
	libraries []string
}

func parseAllow(text string) *AllowList {
	a := &AllowList{Packages: map[string]int{}}
	number := 0
	for line := range strings.Lines(text) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		malformed := func() { panic(fmt.Sprintf("allow.txt:%d: %s", number, strings.TrimSpace(line))) }
		switch fields[0] {
		case "package":
			if len(fields) != 3 {
				malformed()
			}
			n, err := strconv.Atoi(fields[2])
			if err != nil {
				malformed()
			}
			a.Packages[fields[1]] = n
		case "library":
			if len(fields) < 3 {
				malformed()
			}
			a.libraries = append(a.libraries, fields[1])
		default:
			malformed()
		}
	}
	return a
}

func (a *AllowList) has(pkg string) bool {
	_, ok := a.Packages[pkg]
	return ok
}

// isLeaf reports whether an import belongs to a listed library.
func (a *AllowList) isLeaf(importPath string) bool {
	for _, l := range a.libraries {
		if within(importPath, l+"/...") {
			return true
		}
	}
	return false
}
