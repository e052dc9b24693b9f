package decide

import (
	"strconv"
	"strings"
	"testing"
)

// TestTextLimits: statements that are right but for their size, and the largest ones
// that are accepted. Golden files would be too long for them.
func TestTextLimits(t *testing.T) {
	const source = "CREATE INGESTOR i FROM NATS c STREAM s CONSUMER x MODE ACK PARALLEL MAX %d BATCH TIMEOUT 1s ACK TIMEOUT 5s RETRY POLICY BACKOFF 1s MAX 2s " +
		"ON QUIESCE SUSPEND DECODE USING k TO r INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG"
	fields := func(n int) string {
		return "CREATE SCHEMA s (f0 U8" + many(n-1, func(i string) string { return ", f" + i + " U8" }) + ")"
	}
	for _, c := range []struct {
		name string
		text func(n int) string
		max  int // -1: the largest is not built
		want string
	}{
		{"operators in a row", func(n int) string {
			return "CREATE UDF f WITH NSPL_1 ARGS (a I64) RETURNS I64 CODE 'RETURN a" + strings.Repeat(" + a", n) + ";'"
		}, 1024, "parse: more than 1024 operators in a row"},
		{"a program", func(n int) string {
			return "CREATE CODEC c FROM JSON TO SCHEMA s WITH JAQ TRANSFORMATIONS ON INGESTION '" + strings.Repeat(" ", n-1) + ".'"
		}, 64 << 10, "invalid: ON INGESTION program is longer than 65536 bytes"},
		{"code", func(n int) string {
			const code = "RETURN a;"
			return "CREATE UDF f WITH NSPL_1 ARGS (a I64) RETURNS I64 CODE '" + code + strings.Repeat(" ", n-len(code)) + "'"
		}, 64 << 10, "invalid: CODE must be at most 64 KiB"},
		{"steps of a JSON path", func(n int) string {
			return "CREATE UDF f WITH NSPL_1 ARGS (a STRING) RETURNS BOOL CODE \"RETURN JSON_EXISTS(a, '$" + strings.Repeat(".x", n) + "');\""
		}, 64, "parse: invalid JSON path"},
		{"fields", fields, 1024, "invalid: a schema has at most 1024 fields, not 1025"},
		{"an acknowledgement window", func(n int) string { return strings.Replace(source, "%d", strconv.Itoa(n), 1) }, 1 << 20,
			"invalid: PARALLEL MAX must be at most 1048576"},
		{"an empty acknowledgement window", func(int) string { return strings.Replace(source, "%d", "0", 1) }, -1,
			"invalid: PARALLEL MAX must be greater than zero"},
		{"functions of a program that differ between machines", func(int) string {
			return "CREATE CODEC c FROM JSON TO SCHEMA s WITH JAQ TRANSFORMATIONS ON INGESTION '.' ON EMITTING '.a | sin'"
		}, -1, "invalid: ON EMITTING program: 'sin' is not available"},
	} {
		if c.max >= 0 && !accepts(t, c.text(c.max)) {
			t.Errorf("%s: %d are refused", c.name, c.max)
		}
		if got := run("", c.text(c.max+1)); !strings.HasPrefix(got, c.want) && !strings.HasPrefix(got, "statement 0\n"+c.want) {
			t.Errorf("%s: got %.300s", c.name, got)
		}
	}
}

func many(n int, text func(i string) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(text(strconv.Itoa(i + 1)))
	}
	return b.String()
}
