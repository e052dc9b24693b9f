package parse

import (
	"math"
	"strconv"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// takeName takes the name that stands here.
func (p *parser) takeName() ast.Name {
	text, span := p.text(p.at), p.span(p.at)
	if p.kind() == tokenQuoted {
		text = text[1 : len(text)-1]
	}
	if len(text) > nameBytesMax {
		p.refuse(ast.CodeInvalid, span, "a name is at most %d characters long", nameBytesMax)
	}
	p.at++
	return ast.Name{Text: strings.ToLower(text), Span: span}
}

// uint takes a whole number.
func (p *parser) uint() ast.Uint {
	if p.kind() != tokenNumber {
		p.want(p.at, "whole number")
		p.fail()
	}
	n, err := strconv.ParseUint(p.text(p.at), 10, 64)
	if err != nil {
		p.refuseWith(ast.Errorf(ast.CodeInvalid, p.span(p.at), "invalid integer '%s'", ast.Shown(p.text(p.at))).
			WithHint("a whole number from 0 through 18446744073709551615 stands here"))
	}
	p.at++
	return ast.Uint{Value: n, Span: p.span(p.at - 1)}
}

// number takes a number with or without a fraction.
func (p *parser) number() ast.Float {
	if p.kind() != tokenNumber {
		p.want(p.at, "number")
		p.fail()
	}
	f, err := strconv.ParseFloat(p.text(p.at), 64)
	if err != nil {
		p.refuse(ast.CodeInvalid, p.span(p.at), "invalid number '%s'", ast.Shown(p.text(p.at)))
	}
	p.at++
	return ast.Float{Value: f, Span: p.span(p.at - 1)}
}

// string takes a string of any form.
func (p *parser) string() ast.Text { return p.stringOf("string") }

// stringOf takes a string that holds something of a form.
func (p *parser) stringOf(what string) ast.Text {
	if p.kind() != tokenString {
		p.want(p.at, what)
		p.fail()
	}
	p.at++
	return ast.Text{Text: unquote(p.text(p.at - 1)), Span: p.span(p.at - 1)}
}

// unquote strips the delimiters of a string token.
func unquote(text string) string {
	n := 1
	if text[0] == '$' {
		n = strings.IndexByte(text[1:], '$') + 2
	}
	return text[n : len(text)-n]
}

// duration takes one or more pairs of whole number and unit. A word token can
// hold a unit, further digits and units, as in 1h30m.
func (p *parser) duration() ast.Duration {
	first := p.at
	if p.kind() != tokenNumber {
		p.want(p.at, "duration")
		p.fail()
	}
	var spelling strings.Builder
	pending := false // a number waits for its unit
	for {
		if pending && p.kind() == tokenWord {
			word := p.text(p.at)
			if !p.touches() && !startsWithUnit(word) {
				break
			}
			spelling.WriteString(word)
			pending = digit(word[len(word)-1])
		} else if !pending && p.kind() == tokenNumber {
			spelling.WriteString(p.text(p.at))
			pending = true
		} else {
			break
		}
		p.at++
	}
	d := ast.Duration{Text: spelling.String(), Span: p.since(first)}
	var bad string
	if d.Nanos, bad = vocab.DurationNanos(d.Text); bad != "" {
		p.refuseWith(ast.Errorf(ast.CodeInvalid, d.Span, "invalid duration '%s': %s", ast.Shown(d.Text), bad).WithHint("%s", durationHint(d.Text, bad)))
	}
	return d
}

// durationHint says how a duration that was refused is written.
func durationHint(text, bad string) string {
	switch bad {
	case "missing unit":
		return "write its unit: " + text + "ms, " + text + "s or " + text + "m"
	case "fraction":
		return "write whole numbers and smaller units, for example 1500ms or 1m30s"
	case "unknown unit":
		return "units are ns, us, ms, s, m, h, d and w"
	}
	return "the longest is about 584 years"
}

// touches reports whether the current token follows the one before it without
// white space.
func (p *parser) touches() bool {
	return p.at > 0 && p.tokens[p.at-1].end == p.tokens[p.at].start
}

func startsWithUnit(word string) bool {
	i := strings.IndexAny(word, "0123456789")
	if i < 0 {
		i = len(word)
	}
	return vocab.DurationUnit(word[:i])
}

// sizeUnits are the units of byte sizes in upper case.
var sizeUnits = [...]struct {
	name  string
	bytes uint64
}{
	{"B", 1}, {"KB", 1e3}, {"KIB", 1 << 10}, {"MB", 1e6}, {"MIB", 1 << 20}, {"GB", 1e9}, {"GIB", 1 << 30}, {"TB", 1e12}, {"TIB", 1 << 40},
}

// size takes a whole number with a unit of bytes.
func (p *parser) size() ast.Size {
	first := p.at
	if p.kind() != tokenNumber {
		p.want(p.at, "byte size")
		p.fail()
	}
	text := p.text(p.at)
	p.at++
	if p.kind() == tokenWord && (p.touches() || sizeUnit(p.text(p.at)) > 0) {
		text += p.text(p.at)
		p.at++
	}
	s := ast.Size{Size: vocab.Size{Text: text}, Span: p.since(first)}
	i := 0
	for i < len(text) && digit(text[i]) {
		i++
	}
	n, err := strconv.ParseUint(text[:i], 10, 64)
	unit := sizeUnit(text[i:])
	if err != nil || unit == 0 || n > math.MaxUint64/unit {
		p.refuseWith(ast.Errorf(ast.CodeInvalid, s.Span, "invalid byte size '%s'", ast.Shown(text)).
			WithHint("a byte size is a whole number and one of B, KB, KiB, MB, MiB, GB, GiB, TB, TiB, at most 18446744073709551615 bytes"))
	}
	s.Bytes = n * unit
	return s
}

func sizeUnit(word string) uint64 {
	for _, u := range sizeUnits {
		if foldEqual(word, u.name) {
			return u.bytes
		}
	}
	return 0
}

// external takes a name of the outside world: bare, in backticks or as a string.
func (p *parser) external() ast.Text {
	var t ast.Text
	switch p.kind() {
	case tokenString:
		t = p.string()
	case tokenQuoted:
		text := p.text(p.at)
		t = ast.Text{Text: text[1 : len(text)-1], Span: p.span(p.at)}
		p.at++
	case tokenWord, tokenNumber:
		first := p.at
		t = p.joined()
		p.foreignName = [2]int{first, p.at}
	default:
		p.expecting(p.at, Expectation{Text: "external name", Class: ClassExternal})
		p.fail()
	}
	if t.Text == "" {
		p.refuse(ast.CodeInvalid, t.Span, "an external name must not be empty")
	}
	return t
}

// joined takes words and numbers joined by '.' and '-' without white space.
func (p *parser) joined() ast.Text {
	first := p.at
	p.at++
	for p.touches() && (p.kind() == '.' || p.kind() == '-') {
		next := p.tokens[p.at+1]
		if next.kind != tokenWord && next.kind != tokenNumber || next.start != p.tokens[p.at].end {
			break
		}
		p.at += 2
	}
	span := p.since(first)
	return ast.Text{Text: p.src[span.Start:span.End], Span: span}
}

// hostname takes a host name and lower-cases it.
func (p *parser) hostname() ast.Text {
	if k := p.kind(); k != tokenWord && k != tokenNumber {
		p.want(p.at, "hostname")
		p.fail()
	}
	h := p.joined()
	if len(h.Text) > HostBytesMax {
		p.refuse(ast.CodeInvalid, h.Span, "a hostname is at most %d bytes long", HostBytesMax)
	}
	h.Text = strings.ToLower(h.Text)
	return h
}

// scalars are the kinds a type can name, with the spellings that casts take
// besides.
var scalars = [...]struct {
	name, alias string
	kind        vocab.Kind
}{
	{"U8", "UINT8", vocab.U8}, {"I8", "INT8", vocab.I8}, {"U16", "UINT16", vocab.U16}, {"I16", "INT16", vocab.I16},
	{"U32", "UINT32", vocab.U32}, {"I32", "INT32", vocab.I32}, {"U64", "UINT64", vocab.U64}, {"I64", "INT64", vocab.I64},
	{"F32", "FLOAT32", vocab.F32}, {"F64", "FLOAT64", vocab.F64}, {"BOOL", "BOOLEAN", vocab.Bool},
	{"STRING", "UTF8", vocab.String}, {"BYTES", "", vocab.Bytes}, {"DATETIME", "", vocab.Datetime},
}

// scalar takes a scalar type. Casts also take the spellings of other languages.
func (p *parser) scalar(cast bool) (vocab.Type, bool) {
	for _, s := range scalars {
		if p.is(p.at, s.name) || cast && s.alias != "" && p.is(p.at, s.alias) {
			p.mark(p.at, p.at+1, RoleType)
			p.at++
			return vocab.Scalar(s.kind), true
		}
	}
	if !p.detailed {
		p.want(p.at, "type")
	}
	for _, s := range scalars {
		p.possible(ClassKeyword, s.name)
	}
	return vocab.Type{}, false
}

// castType takes the target of a cast.
func (p *parser) castType() ast.Type {
	if p.is(p.at, "VEC") || p.is(p.at, "ARRAY") {
		p.refuseWith(ast.Errorf(ast.CodeUnsupportedCast, p.span(p.at), "a cast cannot make a list").
			WithHint("[a, b] makes a list, JSON_VALUE(doc, '$.a' AS VEC<I64>) reads one"))
	}
	t, ok := p.scalar(true)
	if !ok {
		p.fail()
	}
	return ast.Type{Type: t, Span: p.span(p.at - 1)}
}

// typ takes a type.
func (p *parser) typ() ast.Type {
	first := p.at
	t := p.typeIn(1)
	return ast.Type{Type: t, Span: p.since(first)}
}

func (p *parser) typeIn(depth int) vocab.Type {
	if depth > typeNestingMax {
		p.refuse(ast.CodeInvalid, p.span(p.at), "a type nests at most %d levels deep", typeNestingMax)
	}
	if t, ok := p.scalar(false); ok {
		return t
	}
	p.possible(ClassKeyword, "ARRAY", "VEC")
	array := p.is(p.at, "ARRAY")
	if !array && !p.is(p.at, "VEC") {
		p.fail()
	}
	p.mark(p.at, p.at+1, RoleType)
	p.at++
	p.expectMark('<')
	elem := p.typeIn(depth + 1)
	if !array {
		p.expectMark('>')
		return vocab.VecOf(elem)
	}
	p.expectMark(',')
	sizes := list(p, p.arrayLength)
	p.expectMark('>')
	t := vocab.ArrayOf(elem, sizes...)
	if depth+typeDepth(t)-1 > typeNestingMax {
		p.refuse(ast.CodeInvalid, p.span(p.at-1), "a type nests at most %d levels deep", typeNestingMax)
	}
	return t
}

// typeDepth counts the constructors of a type.
func typeDepth(t vocab.Type) int {
	n := 1
	for t.Elem != nil {
		n, t = n+1, *t.Elem
	}
	return n
}

func (p *parser) arrayLength() uint32 {
	n := p.uint()
	if n.Value < 1 || n.Value > math.MaxInt32 {
		p.refuse(ast.CodeInvalid, n.Span, "array length must be 1 to %d", math.MaxInt32)
	}
	return uint32(n.Value)
}
