package elementary

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// table is every function with the one of package math that it must be close to.
var table = []struct {
	name        string
	ours, peers func(x, y float64) float64
	ulps        uint64 // how far apart they may be
}{
	{"acos", one(Acos), one(math.Acos), 1},
	{"asin", one(Asin), one(math.Asin), 1},
	{"atan", one(Atan), one(math.Atan), 1},
	{"atan2", Atan2, math.Atan2, 1},
	{"cos", one(Cos), one(math.Cos), 1},
	{"sin", one(Sin), one(math.Sin), 1},
	{"tan", one(Tan), one(math.Tan), 1},
	{"exp", one(Exp), one(math.Exp), 1},
	{"log", one(Log), one(math.Log), 1},
	{"log10", one(Log10), one(math.Log10), 2},
	{"log2", one(Log2), one(math.Log2), 2},
	{"pow", Pow, math.Pow, 4},
}

func one(f func(float64) float64) func(x, y float64) float64 {
	return func(x, _ float64) float64 { return f(x) }
}

var extremes = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, 10, 1000, 0.1, math.Pi, -math.Pi / 2, math.E, 1e-300, -1e300, 1 << 53,
	math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022, math.Inf(1), math.Inf(-1), math.NaN(), -745.2, 1e15, 3e9}

// near reports whether two results are at most so many representable numbers apart.
// Where a result is about to overflow, package math has infinities too early.
func near(a, b float64, ulps uint64) bool {
	if math.Abs(a) > 1e307 && math.Abs(b) > 1e307 {
		return math.Signbit(a) == math.Signbit(b)
	}
	if a == b || a != a && b != b {
		return math.Signbit(a) == math.Signbit(b) || a != a
	}
	if math.Signbit(a) != math.Signbit(b) || a != a || b != b {
		return false
	}
	x, y := math.Float64bits(a), math.Float64bits(b)
	return max(x, y)-min(x, y) <= ulps
}

// comparable reports whether package math can be trusted here: its assembly loses
// the exponents of subnormal numbers on some platforms.
func comparable(x float64) bool { return x == 0 || math.Abs(x) >= 0x1p-1022 }

func TestNearPackageMath(t *testing.T) {
	for _, f := range table {
		for _, x := range extremes {
			for _, y := range extremes {
				if !comparable(x) || !comparable(y) {
					continue
				}
				if got, want := f.ours(x, y), f.peers(x, y); !near(got, want, f.ulps) {
					t.Errorf("%s(%v, %v) = %v, package math has %v", f.name, x, y, got, want)
				}
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-100, 100), rapid.Float64Range(0, 2))
		x, y := number.Filter(comparable).Draw(t, "x"), number.Filter(comparable).Draw(t, "y")
		for _, f := range table {
			if got, want := f.ours(x, y), f.peers(x, y); !near(got, want, f.ulps) {
				t.Fatalf("%s(%v, %v) = %v, package math has %v", f.name, x, y, got, want)
			}
		}
	})
}

func TestExact(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"log of the smallest number", Log(5e-324), -744.4400719213812},
		{"log10 of the smallest number", Log10(5e-324), -323.3062153431158},
		{"log2 of the smallest number", Log2(5e-324), -1074},
		{"log10(1000)", Log10(1000), 3},
		{"log10(1e22)", Log10(1e22), 22},
		{"log2(2^40)", Log2(1 << 40), 40},
		{"pow(2, 10)", Pow(2, 10), 1024},
		{"pow(-2, 3)", Pow(-2, 3), -8},
		{"pow(0, 0)", Pow(0, 0), 1},
		{"pow(5e-324, 0.1)", Pow(5e-324, 0.1), 4.670662276233874e-33},
		{"sin of a large number", Sin(1e22), -0.8522008497671888},
		{"exp(1)", Exp(1), math.E},
		{"atan2(1, -1)", Atan2(1, -1), 3 * math.Pi / 4},
	} {
		if !near(c.got, c.want, 1) {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
}

// TestPinned compares the bits of many results with those that were first computed:
// they may never change, on no platform.
func TestPinned(t *testing.T) {
	var b strings.Builder
	for _, f := range table {
		sum := fnv.New64a()
		state := uint64(1)
		for i := range 100_000 {
			state = state*6364136223846793005 + 1442695040888963407
			x := float64(int64(state)>>20) / (1 << 30)
			if i%4 == 0 {
				x = math.Float64frombits(state)
			}
			y := float64(int32(state)) / (1 << 26)
			bits := math.Float64bits(f.ours(x, y))
			if math.Float64frombits(bits) != math.Float64frombits(bits) {
				bits = 0 // which NaN it is does not count
			}
			var raw [8]byte
			for k := range raw {
				raw[k] = byte(bits >> (8 * k))
			}
			sum.Write(raw[:])
		}
		fmt.Fprintf(&b, "%s %016x\n", f.name, sum.Sum64())
	}
	want, err := os.ReadFile("testdata/pinned")
	if err != nil || b.String() != string(want) {
		t.Errorf("%v\ngot\n%swant\n%s", err, b.String(), want)
	}
}

// TestNothingFuses looks for products that the compiler may fuse with a sum.
func TestNothingFuses(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		var path []ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				path = path[:len(path)-1]
				return true
			}
			if x, ok := n.(*ast.BinaryExpr); ok && x.Op == token.MUL && !rounded(path) {
				t.Errorf("%s: a product that is not converted may be fused with a sum", set.Position(x.Pos()))
			}
			path = append(path, n)
			return true
		})
	}
}

// rounded reports whether a product is converted, or part of one or of a quotient,
// given what it stands in.
func rounded(path []ast.Node) bool {
	for len(path) > 0 {
		last := len(path) - 1
		switch p := path[last].(type) {
		case *ast.ParenExpr:
			path = path[:last]
			continue
		case *ast.BinaryExpr:
			return p.Op == token.MUL || p.Op == token.QUO
		case *ast.CallExpr:
			to, ok := p.Fun.(*ast.Ident)
			return ok && to.Name == "float64"
		}
		break
	}
	return false
}

func BenchmarkFunctions(b *testing.B) {
	for _, f := range table {
		b.Run(f.name, func(b *testing.B) {
			x, total := 0.0, 0.0
			for b.Loop() {
				x += 0.37
				total += f.ours(x, 1.5)
			}
			_ = total
		})
	}
}
