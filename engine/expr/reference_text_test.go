package expr

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"plexus/nspl/rfc3339"
	"plexus/nspl/vocab"
)

func textCall(name string, args []value) value {
	s := args[0].s
	runes := []rune(s)
	integer := func(i int) int {
		const far = 1 << 30 // beyond every text
		if !args[i].n.IsInt64() {
			return far
		}
		return int(max(min(args[i].n.Int64(), far), -far))
	}
	switch name {
	case "lower":
		return textValue(cases.Lower(language.Und).String(s))
	case "upper":
		return textValue(cases.Upper(language.Und).String(s))
	case "initcap":
		var b strings.Builder
		word := false
		for _, r := range runes {
			letter := unicode.IsLetter(r) || unicode.IsDigit(r)
			switch {
			case !letter:
				b.WriteRune(r)
			case word:
				b.WriteString(cases.Lower(language.Und).String(string(r)))
			default:
				b.WriteString(cases.Upper(language.Und).String(string(r)))
			}
			word = letter
		}
		return textValue(b.String())
	case "trim", "btrim":
		return textValue(strings.TrimSpace(s))
	case "ltrim":
		return textValue(strings.TrimLeftFunc(s, unicode.IsSpace))
	case "rtrim":
		return textValue(strings.TrimRightFunc(s, unicode.IsSpace))
	case "length", "char_length":
		return number64(int64(utf8.RuneCountInString(s)))
	case "octet_length":
		return number64(int64(len(s)))
	case "bit_length":
		return number64(int64(8 * len(s)))
	case "ascii":
		if len(runes) == 0 {
			return number64(0)
		}
		return number64(int64(runes[0]))
	case "left", "right":
		n := integer(1)
		if n < 0 {
			n = max(len(runes)+n, 0)
		}
		n = min(n, len(runes))
		if name == "left" {
			return textValue(string(runes[:n]))
		}
		return textValue(string(runes[len(runes)-n:]))
	case "substr":
		start := min(max(integer(1), 1)-1, len(runes))
		end := len(runes)
		if len(args) > 2 {
			end = min(start+max(integer(2), 0), len(runes))
		}
		return textValue(string(runes[start:end]))
	case "repeat":
		return textValue(strings.Repeat(s, max(integer(1), 0)))
	case "replace":
		return textValue(strings.ReplaceAll(s, args[1].s, args[2].s))
	case "reverse":
		for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
			runes[i], runes[j] = runes[j], runes[i]
		}
		return textValue(string(runes))
	case "translate":
		to := []rune(args[2].s)
		var out []rune
		for _, r := range runes {
			k := strings.IndexRune(args[1].s, r)
			switch {
			case k < 0:
				out = append(out, r)
			default:
				if k = utf8.RuneCountInString(args[1].s[:k]); k < len(to) {
					out = append(out, to[k])
				}
			}
		}
		return textValue(string(out))
	case "lpad", "rpad":
		n, fill := max(integer(1), 0), []rune(args[2].s)
		if n <= len(runes) || len(fill) == 0 {
			return textValue(string(runes[:min(n, len(runes))]))
		}
		var padding []rune
		for i := range n - len(runes) {
			padding = append(padding, fill[i%len(fill)])
		}
		if name == "lpad" {
			return textValue(string(append(padding, runes...)))
		}
		return textValue(string(append(runes, padding...)))
	case "split_part":
		parts := []string{s}
		if args[1].s != "" {
			parts = strings.Split(s, args[1].s)
		}
		if i := integer(2); i >= 1 && i <= len(parts) {
			return textValue(parts[i-1])
		}
		return textValue("")
	case "strpos":
		k := strings.Index(s, args[1].s)
		if k < 0 {
			return number64(0)
		}
		return number64(int64(utf8.RuneCountInString(s[:k])) + 1)
	case "md5":
		return textValue(fmt.Sprintf("%x", md5.Sum([]byte(s))))
	case "contains":
		return truthValue(strings.Contains(s, args[1].s))
	case "starts_with":
		return truthValue(strings.HasPrefix(s, args[1].s))
	case "ends_with":
		return truthValue(bytes.HasSuffix([]byte(s), []byte(args[1].s)))
	}
	panic("no reference for " + name)
}

func castValue(v value, from, to vocab.Kind) (value, bool) {
	if from == to {
		return v, true
	}
	switch {
	case from == vocab.String:
		return parseValue(v.s, to)
	case to == vocab.String:
		return textValue(format(v, from)), true
	case from == vocab.Bool:
		one := int64(0)
		if v.b {
			one = 1
		}
		return value{n: big.NewInt(one), f: float64(one)}, true
	case to == vocab.Bool && from.Float():
		return truthValue(v.f != 0), true
	case to == vocab.Bool:
		return truthValue(v.n.Sign() != 0), true
	case to.Float() && from.Float():
		if to == vocab.F32 {
			return value{f: float64(float32(v.f))}, true
		}
		return v, true
	case to.Float():
		if to == vocab.F32 {
			f, _ := new(big.Rat).SetInt(v.n).Float32()
			return value{f: float64(f)}, true
		}
		f, _ := new(big.Rat).SetInt(v.n).Float64()
		return value{f: f}, true
	case from.Float():
		if math.IsNaN(v.f) || math.IsInf(v.f, 0) {
			return null, false
		}
		n, _ := big.NewFloat(v.f).Int(nil)
		return value{n: n}, fitsKind(n, to)
	default:
		return v, fitsKind(v.n, to)
	}
}

func format(v value, k vocab.Kind) string {
	switch {
	case k == vocab.Bool:
		return strconv.FormatBool(v.b)
	case k == vocab.Datetime:
		return string(rfc3339.Append(nil, v.n.Int64()))
	case k.Float():
		size := 64
		if k == vocab.F32 {
			size = 32
		}
		if math.IsInf(v.f, 0) {
			return strings.TrimPrefix(strings.ToLower(fmt.Sprint(v.f)), "+")
		}
		return strconv.FormatFloat(v.f, 'f', -1, size)
	default:
		return v.n.String()
	}
}

func parseValue(s string, to vocab.Kind) (value, bool) {
	switch {
	case to == vocab.Bool:
		switch strings.ToLower(strings.TrimSpace(s)) {
		case "t", "tr", "tru", "true", "y", "ye", "yes", "on", "1":
			return truthValue(true), true
		case "f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0":
			return truthValue(false), true
		}
		return null, false
	case to == vocab.Datetime:
		n, verdict := rfc3339.Parse([]byte(s))
		return number64(n), verdict == rfc3339.OK
	case to.Float():
		size := 64
		if to == vocab.F32 {
			size = 32
		}
		if strings.ContainsAny(s, "xXpP_") {
			return null, false
		}
		f, err := strconv.ParseFloat(strings.ToLower(s), size)
		if err != nil && !math.IsInf(f, 0) {
			return null, false
		}
		return value{f: f}, true
	default:
		n, ok := new(big.Int).SetString(strings.TrimPrefix(s, "+"), 10)
		if !ok || strings.ContainsAny(s, "_") || strings.HasPrefix(s, "+-") {
			return null, false
		}
		return value{n: n}, fitsKind(n, to)
	}
}
