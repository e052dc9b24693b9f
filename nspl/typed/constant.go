package typed

import (
	"math"
	"strconv"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/rfc3339"
	"plexus/nspl/vocab"
)

// constant evaluates an element of IN: a literal with '-', NOT and casts. What is
// wrong with it completes "an element of IN …".
func constant(e ast.Expr) (v Literal, kind vocab.Kind, why string) {
	switch e := e.(type) {
	case *ast.IntLit:
		return Literal{Int: e.Value}, vocab.I64, ""
	case *ast.FloatLit:
		return Literal{Float: e.Value}, vocab.F64, ""
	case *ast.StringLit:
		return Literal{Str: e.Value}, vocab.String, ""
	case *ast.BoolLit:
		return Literal{Bool: e.Value}, vocab.Bool, ""
	case *ast.NullLit:
		return v, 0, "cannot be NULL"
	case *ast.Unary:
		return constantUnary(e)
	case *ast.Cast:
		v, kind, why = constant(e.X)
		if why != "" {
			return v, kind, why
		}
		to := e.Type.Kind
		if !castable(kind, to) {
			return v, to, "cannot be cast from " + kind.String() + " to " + to.String()
		}
		v, ok := convert(v, kind, to)
		if !ok {
			return v, to, "does not read as " + to.String()
		}
		return v, to, ""
	}
	return v, 0, "must be a constant"
}

func constantUnary(e *ast.Unary) (v Literal, kind vocab.Kind, why string) {
	v, kind, why = constant(e.X)
	switch {
	case why != "":
	case e.Op == ast.Not && kind == vocab.Bool:
		v.Bool = !v.Bool
	case e.Op == ast.Neg && kind.Float():
		v.Float = -v.Float
	case e.Op == ast.Neg && kind.Signed():
		if v.Int == -1<<(integerBits[kind]-1) {
			return v, kind, "is outside " + kind.String()
		}
		v.Int = -v.Int
	default:
		why = "negates a " + kind.String()
	}
	return v, kind, why
}

// convert casts a constant by the rules that hold for columns.
func convert(v Literal, from, to vocab.Kind) (Literal, bool) {
	switch {
	case from == to:
		return v, true
	case to == vocab.String:
		return Literal{Str: constantText(v, from)}, true
	case from == vocab.String:
		return readConstant(v.Str, to)
	case from == vocab.Bool:
		if v.Bool {
			return number64(1, to), true
		}
		return number64(0, to), true
	case to == vocab.Bool:
		return Literal{Bool: v.Int != 0 || v.Uint != 0 || v.Float != 0}, true
	case from.Float():
		return floatTo(v.Float, to)
	case from == vocab.U64 || from.Integer() && !from.Signed():
		return unsignedTo(v.Uint, to)
	default: // signed integers and DATETIME
		return signedTo(v.Int, to)
	}
}

// number64 is a small whole number of any numeric kind.
func number64(n int64, to vocab.Kind) Literal {
	switch {
	case to.Float():
		return Literal{Float: float64(n)}
	case to.Signed() || to == vocab.Datetime:
		return Literal{Int: n}
	default:
		return Literal{Uint: uint64(n)}
	}
}

func signedTo(n int64, to vocab.Kind) (Literal, bool) {
	switch {
	case to == vocab.F32:
		return Literal{Float: float64(float32(n))}, true
	case to == vocab.F64:
		return Literal{Float: float64(n)}, true
	case to == vocab.Datetime:
		return Literal{Int: n}, true
	case to.Signed():
		unused := 64 - integerBits[to]
		return Literal{Int: n}, n<<unused>>unused == n
	}
	return Literal{Uint: uint64(n)}, n >= 0 && uint64(n)>>(integerBits[to]-1)>>1 == 0
}

func unsignedTo(n uint64, to vocab.Kind) (Literal, bool) {
	switch {
	case to == vocab.F32:
		return Literal{Float: float64(float32(n))}, true
	case to == vocab.F64:
		return Literal{Float: float64(n)}, true
	case to.Signed() || to == vocab.Datetime:
		if n > math.MaxInt64 {
			return Literal{}, false
		}
		return signedTo(int64(n), to)
	}
	return Literal{Uint: n}, n>>(integerBits[to]-1)>>1 == 0
}

func floatTo(f float64, to vocab.Kind) (Literal, bool) {
	switch {
	case to == vocab.F32:
		return Literal{Float: float64(float32(f))}, true
	case to == vocab.F64:
		return Literal{Float: f}, true
	case f >= -0x1p63 && f < 0x1p63: // NaN is neither
		return signedTo(int64(f), to)
	case f >= 0x1p63 && f < 0x1p64 && to == vocab.U64:
		return Literal{Uint: uint64(f)}, true
	}
	return Literal{}, false
}

// constantText is the STRING a constant is cast to.
func constantText(v Literal, from vocab.Kind) string {
	switch {
	case from == vocab.Bool:
		return strconv.FormatBool(v.Bool)
	case from == vocab.Datetime:
		return string(rfc3339.Append(nil, v.Int))
	case from.Float():
		return floatText(v.Float, from)
	case from.Signed():
		return strconv.FormatInt(v.Int, 10)
	}
	return strconv.FormatUint(v.Uint, 10)
}

func floatText(f float64, kind vocab.Kind) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, 'f', -1, 64)), "+")
	case kind == vocab.F32:
		return strconv.FormatFloat(f, 'f', -1, 32)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// Reads reports whether a text converts to a scalar kind, as the cast of a STRING
// does.
func Reads(text string, to vocab.Kind) bool {
	if to == vocab.String {
		return true
	}
	_, ok := readConstant(text, to)
	return ok
}

// readConstant reads a text as a value of another kind.
func readConstant(s string, to vocab.Kind) (Literal, bool) {
	switch {
	case to == vocab.Bool:
		return readBool(s)
	case to == vocab.Datetime:
		n, verdict := rfc3339.Parse([]byte(s))
		return Literal{Int: n}, verdict == rfc3339.OK
	case to.Float():
		return readFloat(s, to)
	case to.Signed():
		n, err := strconv.ParseInt(s, 10, integerBits[to])
		return Literal{Int: n}, err == nil
	}
	if strings.HasPrefix(s, "-") && strings.Trim(s[1:], "0") == "" && len(s) > 1 {
		return Literal{}, true // minus zero
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "+"), 10, integerBits[to])
	return Literal{Uint: n}, err == nil && !strings.HasPrefix(s, "++")
}

func readBool(s string) (Literal, bool) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "t", "tr", "tru", "true", "y", "ye", "yes", "on", "1":
		return Literal{Bool: true}, true
	case "f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0":
		return Literal{}, true
	}
	return Literal{}, false
}

func readFloat(s string, to vocab.Kind) (Literal, bool) {
	if strings.ContainsAny(s, "xX_") { // Go's own spellings
		return Literal{}, false
	}
	bits := 64
	if to == vocab.F32 {
		bits = 32
	}
	f, err := strconv.ParseFloat(s, bits)
	return Literal{Float: f}, err == nil || math.IsInf(f, 0)
}
