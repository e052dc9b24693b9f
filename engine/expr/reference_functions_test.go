package expr

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math"
	"math/big"
	"math/bits"
	"net/netip"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	"golang.org/x/text/unicode/norm"

	"plexus/engine/elementary"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// realFunctions are those of one number; their values have tests of their own.
var realFunctions = map[string]func(float64) float64{
	"acos": elementary.Acos, "asin": elementary.Asin, "atan": elementary.Atan, "cos": elementary.Cos, "sin": elementary.Sin, "tan": elementary.Tan,
	"exp": elementary.Exp, "ln": elementary.Log, "log2": elementary.Log2, "sqrt": math.Sqrt,
	"degrees": func(x float64) float64 { return x * (180 / math.Pi) }, "radians": func(x float64) float64 { return x * (math.Pi / 180) },
}

var realNames = []string{"acos", "asin", "atan", "cos", "sin", "tan", "exp", "ln", "log2", "sqrt", "degrees", "radians"}

// real is a number of any type as a float64.
func (v value) real(k vocab.Kind) float64 {
	if k.Float() {
		return v.f
	}
	f, _ := new(big.Float).SetInt(v.n).Float64()
	return f
}

// octetCall is the reference of what works with texts beyond textCall, and with
// octets. ok is false for what is not here.
func (r *interpreter) octetCall(e *typed.Expr, args []value) (v value, ok bool) {
	s := args[0].s
	switch e.Func {
	case "like", "ilike":
		return truthValue(likeExpression(args[1].s, e.Func == "ilike").MatchString(s)), true
	case "regexp_like", "regexp_replace", "regexp_substr":
		re, err := regexp.Compile(args[1].s)
		if err != nil {
			return r.fail(InvalidArgument), true
		}
		switch e.Func {
		case "regexp_like":
			return truthValue(re.MatchString(s)), true
		case "regexp_replace":
			return textValue(re.ReplaceAllString(s, args[2].s)), true
		}
		if at := re.FindStringIndex(s); at != nil {
			return textValue(s[at[0]:at[1]]), true
		}
		return null, true
	case "normalize_nfc":
		return textValue(norm.NFC.String(s)), true
	case "bytes_from_utf8":
		return textValue(s), true
	case "bytes_to_utf8":
		if !utf8.ValidString(s) {
			return r.fail(CastFailed), true
		}
		return textValue(s), true
	case "hex_encode":
		return textValue(hex.EncodeToString([]byte(s))), true
	case "hex_decode":
		b, err := hex.DecodeString(s)
		return r.decoded(b, err == nil), true
	case "base64_encode":
		return textValue(base64.StdEncoding.EncodeToString([]byte(s))), true
	case "base64_decode":
		b, err := base64.StdEncoding.DecodeString(s)
		return r.decoded(b, err == nil && base64.StdEncoding.EncodeToString(b) == s), true
	case "sha256":
		sum := sha256.Sum256([]byte(s))
		return textValue(string(sum[:])), true
	case "xxh3_64":
		return value{n: new(big.Int).SetUint64(xxh3.HashString(s))}, true
	case "ip_from_string":
		a, err := netip.ParseAddr(s)
		return r.decoded(a.AsSlice(), err == nil && a.Zone() == ""), true
	case "ip_to_string":
		a, ok := netip.AddrFromSlice([]byte(s))
		if !ok {
			return r.fail(InvalidArgument), true
		}
		return textValue(a.String()), true
	case "is_ip_address":
		a, err := netip.ParseAddr(s)
		return truthValue(err == nil && a.Zone() == ""), true
	}
	return value{}, false
}

func (r *interpreter) decoded(b []byte, ok bool) value {
	if !ok {
		return r.fail(CastFailed)
	}
	return textValue(string(b))
}

// likeExpression writes a pattern of like as a regular expression.
func likeExpression(pattern string, fold bool) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("(?s")
	if fold {
		b.WriteString("i")
	}
	b.WriteString(")^")
	escaped := false
	for _, r := range pattern {
		switch {
		case escaped:
			b.WriteString(regexp.QuoteMeta(string(r)))
			escaped = false
		case r == '\\':
			escaped = true
		case r == '%':
			b.WriteString(".*")
		case r == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	if escaped {
		b.WriteString(`\\`)
	}
	return regexp.MustCompile(b.String() + "$")
}

// calculation is the reference of the functions of numbers beyond numberCall.
func (r *interpreter) calculation(e *typed.Expr, args []value, k vocab.Kind) (v value, ok bool) {
	if f := realFunctions[e.Func]; f != nil {
		return r.finite(f(args[0].real(k)), vocab.F64), true
	}
	switch e.Func {
	case "log":
		if len(args) == 1 {
			return r.finite(elementary.Log10(args[0].real(k)), vocab.F64), true
		}
		return r.finite(logTo(args[0].real(k), args[1].real(e.Args[1].Type.Kind)), vocab.F64), true
	case "pow":
		return r.finite(elementary.Pow(args[0].real(k), args[1].real(e.Args[1].Type.Kind)), vocab.F64), true
	case "atan2":
		return r.finite(elementary.Atan2(args[0].real(k), args[1].real(e.Args[1].Type.Kind)), vocab.F64), true
	case "is_nan":
		return truthValue(args[0].f != args[0].f), true
	case "is_finite":
		return truthValue(args[0].f-args[0].f == 0), true
	case "is_infinite":
		return truthValue(args[0].f == args[0].f && args[0].f-args[0].f != 0), true
	case "bitwise_and":
		return value{n: new(big.Int).And(args[0].n, args[1].n)}, true
	case "bitwise_or":
		return value{n: new(big.Int).Or(args[0].n, args[1].n)}, true
	case "bitwise_xor":
		return value{n: new(big.Int).Xor(args[0].n, args[1].n)}, true
	case "bitwise_not":
		n := new(big.Int).Not(args[0].n)
		if _, high := bounds(k); n.Sign() < 0 && !k.Signed() {
			n.Add(n, high).Add(n, big.NewInt(1))
		}
		return value{n: n}, true
	case "bit_count":
		n := args[0].n
		if n.Sign() < 0 {
			_, high := bounds(k)
			n = new(big.Int).Add(n, new(big.Int).Lsh(new(big.Int).Add(high, big.NewInt(1)), 1))
		}
		return number64(int64(bits.OnesCount64(n.Uint64()))), true
	case "shift_left", "shift_right":
		n := args[1].n
		switch {
		case n.Sign() < 0:
			return r.fail(InvalidArgument), true
		case e.Func == "shift_right":
			return value{n: new(big.Int).Rsh(args[0].n, uint(min(n.Uint64(), 100)))}, true
		}
		return r.checked(new(big.Int).Lsh(args[0].n, uint(min(n.Uint64(), 100))), k), true
	}
	return value{}, false
}
