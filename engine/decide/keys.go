package decide

import (
	"math/big"

	"plexus/nspl/ast"
	"plexus/nspl/rfc3339"
	"plexus/nspl/vocab"
)

// CheckKey checks the literals of one branch key: every field of the key schema
// exactly once, each with a value of its type.
func CheckKey(schema *vocab.Schema, values []ast.KeyValue, at vocab.Span) (found ast.Diagnostics) {
	given := make([]bool, len(schema.Fields))
	for _, v := range values {
		i := schema.Index(v.Name.Text)
		switch {
		case i < 0:
			found = append(found, ast.Errorf(ast.CodeInvalid, v.Name.Span, "the branch key has no field '%s'", v.Name.Text))
			continue
		case given[i]:
			found = append(found, ast.Errorf(ast.CodeInvalid, v.Name.Span, "field '%s' is listed twice", v.Name.Text))
		case !fits(v.Value, schema.Fields[i].Type.Kind):
			found = append(found, ast.Errorf(ast.CodeInvalid, v.Value.Span, "field '%s' requires a %s literal", v.Name.Text, schema.Fields[i].Type))
		}
		given[i] = true
	}
	for i, ok := range given {
		if !ok {
			found = append(found, ast.Errorf(ast.CodeInvalid, at, "field '%s' of the branch key is missing", schema.Fields[i].Name))
		}
	}
	return found
}

// fits reports whether a literal is a value of a scalar kind. A DATETIME is
// written as text.
func fits(l ast.Literal, k vocab.Kind) bool {
	switch {
	case k == vocab.String:
		return l.Kind == ast.LiteralString
	case k == vocab.Bool:
		return l.Kind == ast.LiteralBool
	case k == vocab.Datetime:
		_, verdict := rfc3339.Parse([]byte(l.Text))
		return l.Kind == ast.LiteralString && verdict == rfc3339.OK
	case k.Float():
		return l.Kind == ast.LiteralFloat || l.Kind == ast.LiteralInteger
	case k.Integer():
		n, ok := new(big.Int).SetString(l.Text, 10)
		low, high := integerRange(k)
		return l.Kind == ast.LiteralInteger && ok && n.Cmp(low) >= 0 && n.Cmp(high) <= 0
	}
	return false
}

func integerRange(k vocab.Kind) (low, high *big.Int) {
	bits := map[vocab.Kind]uint{vocab.U8: 8, vocab.I8: 8, vocab.U16: 16, vocab.I16: 16, vocab.U32: 32, vocab.I32: 32, vocab.U64: 64, vocab.I64: 64}[k]
	one := big.NewInt(1)
	if !k.Signed() {
		return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, bits), one)
	}
	half := new(big.Int).Lsh(one, bits-1)
	return new(big.Int).Neg(half), new(big.Int).Sub(half, one)
}
