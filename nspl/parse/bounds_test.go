package parse_test

import (
	"fmt"
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
)

// bounds are the rules whose text is too long for a golden case: the greatest that
// is accepted, and what one more is told.
var bounds = []struct {
	name  string
	text  func(n int) string
	most  int
	fault string
}{
	{"fields of a schema", func(n int) string { return "CREATE SCHEMA s (" + numbered(n, "f%d U8", ", ") + ")" }, 1024,
		"invalid: a schema has at most 1024 fields, not 1025"},
	{"fields of a wire schema", func(n int) string {
		return "CREATE WIRE JSON SCHEMA s MODE STRICT (" + numbered(n, "f%d STRING", ", ") + ")"
	}, 1024, "invalid: a schema has at most 1024 fields, not 1025"},
	{"a side of a placement", func(n int) string { return "CREATE PLACEMENT p FROM " + numbered(n, "n%d", ", ") + " TO x NEUTRAL" }, 256,
		"invalid: a side of a placement has at most 256 names"},
	{"VALUES", func(n int) string {
		return "CREATE EMITTER e FROM a TO POSTGRES db INSERT TO TABLE t VALUES {" + numbered(n, "'c%d' = 1", ", ") +
			"} MODE ACK RETRY POLICY BACKOFF 1s MAX 1s BATCH MAX MESSAGES 1 MAX SIZE 1B FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG"
	}, 1024, "invalid: VALUES has at most 1024 entries"},
	{"PARTITIONS", func(n int) string {
		return "CREATE INGESTOR i FROM IGGY c STREAM s TOPIC t PARTITIONS (" + numbered(n, "%d", ", ") + ") START FIRST " + cursorTail
	}, 1000, "invalid: PARTITIONS has at most 1000 members"},
	{"PARALLEL MAX", func(n int) string {
		return fmt.Sprintf("CREATE EMITTER e FROM a TO KAFKA k TOPIC t MODE ACK PARALLEL MAX %d ACK TIMEOUT 1s RETRY POLICY BACKOFF 1s MAX 1s "+
			"ENCODE USING c FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG", n)
	}, 1 << 20, "invalid: PARALLEL MAX must be at most 1048576"},
	{"a program of a codec", func(n int) string {
		return "CREATE CODEC c FROM JSON TO SCHEMA s WITH JAQ TRANSFORMATIONS ON INGESTION '." + strings.Repeat(" ", n-1) + "'"
	}, 64 << 10, "invalid: ON INGESTION program is longer than 65536 bytes"},
	{"a program of a handshake", func(n int) string {
		return "CREATE SIGNALING PROTOCOL p FORMAT JSON ON CONNECT SEND JAQ '." + strings.Repeat(" ", n-1) + "' TIMEOUT 1s"
	}, 64 << 10, "invalid: SEND JAQ program is longer than 65536 bytes"},
	{"the code of a UDF", func(n int) string {
		return "CREATE UDF f WITH NSPL_1 ARGS (a U8) RETURNS U8 CODE $$RETURN a;" + strings.Repeat(" ", n-9) + "$$"
	}, 64 << 10, "invalid: CODE must be at most 64 KiB"},
	{"the tests of a UDF", func(n int) string {
		return "CREATE UDF f WITH WASM_1 ARGS (a U8) RETURNS U8 USING RESOURCE r VERSION 1 FILE 'f' EXPORT 'f' MAX FUEL 1 MAX MEMORY 64KiB TESTS $$" +
			strings.Repeat(" ", n-28) + "TEST 'a' { CASE (1) FAILS; }$$"
	}, 64 << 10, "invalid: TESTS must be at most 64 KiB"},
	{"the name of a queue", func(n int) string {
		return "CREATE INGESTOR i FROM RABBITMQ r QUEUE " + strings.Repeat("q", n) + " MODE ACK SEQUENTIAL ACK TIMEOUT 5s RETRY POLICY BACKOFF 1s MAX 1s " + rowTail
	}, 255, "invalid: QUEUE '" + strings.Repeat("q", 60) + "…' must not be longer than 255 bytes"},
	{"a topic of Kafka", func(n int) string {
		return "CREATE INGESTOR i FROM KAFKA k TOPIC " + strings.Repeat("t", n) + " OFFSET BY DOMAIN MODE NO_ACK PARALLEL " + rowTail
	}, 249, "invalid: TOPIC '" + strings.Repeat("t", 60) + "…' must be 1 to 249 letters, digits, '.', '_' or '-', and not '.' or '..'"},
	{"the path of a request", func(n int) string {
		return "CREATE EMITTER e FROM a TO HTTP h METHOD 'PUT' PATH '/" + strings.Repeat("p", n-1) + "' MODE ACK RETRY POLICY BACKOFF 1s MAX 1s " +
			"WITHOUT BODY FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG"
	}, 8192, "invalid: PATH '/" + strings.Repeat("p", 59) + "…' must not be longer than 8192 bytes"},
	{"the method of a request", func(n int) string {
		return "CREATE EMITTER e FROM a TO HTTP h METHOD '" + strings.Repeat("M", n) + "' PATH '/' MODE ACK RETRY POLICY BACKOFF 1s MAX 1s " +
			"WITHOUT BODY FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG"
	}, 64, "invalid: METHOD '" + strings.Repeat("M", 60) + "…' must be 1 to 64 characters of an HTTP token"},
	{"a password", func(n int) string { return "CREATE USER u WITH PASSWORD '" + strings.Repeat("p", n) + "'" }, 1024,
		"invalid: a password is 8 to 1024 bytes long"},
	{"a hostname", func(n int) string { return "CREATE VHOST v " + strings.Repeat("h", n) }, 253, "invalid: a hostname is at most 253 bytes long"},
	{"a name", func(n int) string { return "USE " + strings.Repeat("n", n) }, 128, "invalid: a name is at most 128 characters long"},
	{"a name in backticks", func(n int) string { return "USE `" + strings.Repeat("n", n) + "`" }, 128,
		"lex: a name in backticks is 1 to 128 letters, digits or any of _ . ~ -"},
	{"the digits of an F64", func(n int) string { return filtered(strings.Repeat("1", n) + ".0") }, 309, "expr.invalid_literal: number is outside the range of F64"},
	{"operators in a row", func(n int) string { return filtered("a" + strings.Repeat(" OR a", n)) }, 1024, "parse: more than 1024 operators in a row"},
	{"comparisons in a row", func(n int) string { return filtered("a" + strings.Repeat(" = a", n)) }, 1024, "parse: more than 1024 operators in a row"},
	{"sets in a row", func(n int) string { return filtered("a" + strings.Repeat(" IN (a)", n)) }, 1024, "parse: more than 1024 operators in a row"},
	{"casts in a row", func(n int) string { return filtered("a" + strings.Repeat(" AS U8", n)) }, 1024, "parse: more than 1024 operators in a row"},
	{"levels of parentheses", func(n int) string { return filtered(strings.Repeat("(", n-1) + "a" + strings.Repeat(")", n-1)) }, 128,
		"parse: nesting exceeds 128 levels"},
	{"levels of a type", func(n int) string {
		return "CREATE SCHEMA s (a " + strings.Repeat("VEC<", n-1) + "U8" + strings.Repeat(">", n-1) + ")"
	}, 16,
		"invalid: a type nests at most 16 levels deep"},
	{"steps of a JSON path", func(n int) string { return filtered("JSON_EXISTS(doc, '$" + strings.Repeat(".a", n) + "')") }, 64,
		"parse: invalid JSON path '$" + strings.Repeat(".a", 65) + "': more than 64 steps at byte 129"},
	{"bytes of a text", func(n int) string { return "STOP;" + strings.Repeat(" ", n-5) }, 4 << 20, "lex: statement text exceeds 4 MiB"},
}

// The ends of statements that a bound is not about.
const (
	rowTail    = "ON QUIESCE SUSPEND DECODE USING c TO r INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG"
	cursorTail = "MAX ROWS 1 EVERY 1s MODE ACK SEQUENTIAL ACK TIMEOUT 5s RETRY POLICY BACKOFF 1s MAX 1s " + rowTail
)

func filtered(condition string) string {
	return "CREATE JUNCTION j FROM a FILTER WHERE " + condition + " UNBRANCHED TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG"
}

// numbered writes a form for each number from 0 on.
func numbered(n int, form, joint string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(form, i)
	}
	return strings.Join(list, joint)
}

func TestBounds(t *testing.T) {
	for _, b := range bounds {
		if faults := verdict(b.text(b.most)); len(faults) > 0 {
			t.Errorf("%s: %d is refused: %.200s", b.name, b.most, faults[0])
		}
		faults := verdict(b.text(b.most + 1))
		if len(faults) != 1 || faults[0] != b.fault {
			t.Errorf("%s: %d is told %.300q, not %.300q", b.name, b.most+1, faults, b.fault)
		}
	}
}

// verdict returns what a text is told, as far as each of its statements alone
// tells.
func verdict(text string) (faults []string) {
	all, err := parse.Statements(text)
	if err != nil {
		return []string{err.Error()}
	}
	for _, s := range all {
		found := checked(s)
		if d, ok := s.(ast.Declaration); ok {
			_, found = model.Lower(d)
		}
		for _, one := range found {
			faults = append(faults, one.Error())
		}
	}
	return faults
}
