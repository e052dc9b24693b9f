package vocab

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// JSONStep is one step of a JSON path: a member, or with IsIndex an element.
type JSONStep struct {
	IsIndex bool
	Member  string
	Index   uint32
}

// jsonStepsMax bounds the steps of a path.
const jsonStepsMax = 64

// JSONPath reads $ and its steps: .ident, ["any name"] and [n].
func JSONPath(text string) ([]JSONStep, error) {
	if !strings.HasPrefix(text, "$") {
		return nil, badPath(text, 0)
	}
	var steps []JSONStep
	for at := 1; at < len(text); {
		if len(steps) == jsonStepsMax {
			return nil, fmt.Errorf("invalid JSON path '%s': more than %d steps at byte %d", text, jsonStepsMax, at)
		}
		step, n := jsonStep(text[at:])
		if n == 0 {
			return nil, badPath(text, at)
		}
		steps = append(steps, step)
		at += n
	}
	return steps, nil
}

func badPath(text string, at int) error {
	return fmt.Errorf("invalid JSON path '%s' at byte %d", text, at)
}

// jsonStep reads one step; n is 0 if there is none.
func jsonStep(s string) (step JSONStep, n int) {
	switch {
	case s[0] == '.':
		for n = 1; n < len(s) && (letter(s[n]) || n > 1 && s[n] >= '0' && s[n] <= '9'); n++ {
		}
		if n == 1 {
			return step, 0
		}
		return JSONStep{Member: s[1:n]}, n
	case strings.HasPrefix(s, `["`):
		end := quotedEnd(s[1:]) + 1
		if end < 2 || end >= len(s) || s[end] != ']' {
			return step, 0
		}
		if json.Unmarshal([]byte(s[1:end]), &step.Member) != nil {
			return step, 0
		}
		return step, end + 1
	case s[0] == '[':
		end := strings.IndexByte(s, ']')
		if end < 2 || s[1] == '0' && end > 2 || s[1] < '0' || s[1] > '9' {
			return step, 0
		}
		i, err := strconv.ParseUint(s[1:end], 10, 64)
		if err != nil || i > math.MaxUint32 {
			return step, 0
		}
		return JSONStep{IsIndex: true, Index: uint32(i)}, end + 1
	}
	return step, 0
}

// quotedEnd returns where a JSON string at the begin of s ends, or -1.
func quotedEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

func letter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' }
