package script_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plexus/engine/script"
	"plexus/nspl/ast"
)

// found lists the findings as line, code and message.
func found(text string, r *script.Result) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%d %s\n", ast.PositionOf(text, f.Span.Start).Line, f.Diagnostic.Error())
	}
	for _, u := range r.Unchecked {
		fmt.Fprintf(&b, "%d unchecked: %s\n", ast.PositionOf(text, u.Span.Start).Line, u.What)
	}
	return b.String()
}

const orders = `CREATE DOMAIN shop; USE shop;
BEGIN;
CREATE SCHEMA order_row (id STRING, amount F64);
CREATE RELAY orders SCHEMA order_row UNBRANCHED;
CREATE RELAY large SCHEMA order_row UNBRANCHED;
CREATE JUNCTION split FROM orders UNBRANCHED TO large INHERIT ALL WHERE amount > 100.0 FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
COMMIT;
START;
`

func TestCheck(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"clean", orders, ""},
		{"several faults", `CREATE RELAY a SCHEMA none UNBRANCHED;
CREATE SCHEMA s (id STRING, id STRING, x I64);
bad statement;
CREATE RELAY b SCHEMA s UNBRANCHED;
USE nowhere;
CREATE SCHEMA z (x I64);
`, `1 ref.missing: RELAY 'a' requires missing SCHEMA 'none'
2 invalid: duplicate field 'id'
3 parse: expected
5 domain.missing: domain 'nowhere' does not exist
`},
		{"a transaction", `BEGIN;
CREATE RELAY r SCHEMA s UNBRANCHED;
CREATE SCHEMA s (id STRING);
CREATE RELAY q SCHEMA missing UNBRANCHED;
CREATE JUNCTION j FROM q UNBRANCHED TO r INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE JUNCTION k FROM r UNBRANCHED TO r SET x = 1 FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
USE other;
COMMIT;
DROP RELAY r; DROP SCHEMA s`, `4 ref.missing: RELAY 'q' requires missing SCHEMA 'missing'
6 expr.missing_set: required output field 'id' is never set
6 expr.unknown_field
7 tx.not_queueable: USE cannot stand in a transaction
`},
		{"control", "COMMIT; BEGIN; BEGIN; REVERT; REVERT; BEGIN", `1 tx.state: no transaction is open; run BEGIN
1 tx.state: a transaction on domain 'default' is open already
1 tx.state: no transaction is open; run BEGIN
1 tx.state: no COMMIT follows this BEGIN: nothing of the transaction is applied
`},
		{"users and nodes", "CREATE USER a WITH PASSWORD 'short'; CREATE USER default WITH PASSWORD 'long enough'; CORDON NODE n1",
			"1 invalid: a password is 8 to 1024 bytes long\n1 exists: USER 'default' already exists\n1 unchecked: CORDON NODE: the nodes of the cluster\n"},
		{"reads", "SHOW CREATE RELAY r; DESCRIBE DOMAIN; CREATE SUBSCRIPTION s TO r", "1 ref.missing: RELAY 'r' does not exist\n1 ref.missing: SUBSCRIPTION 's' requires missing RELAY 'r'\n"},
		{"a running domain", orders + "DROP DOMAIN shop; STOP; STOP;", "9 domain.state: domain 'shop' is running; STOP it first\n9 domain.state: domain 'shop' is not running\n"},
		{"a paced domain", "CREATE PACED DOMAIN p WITH PERIOD 1s SKEW 0s; USE p; START AT '2026-01-01T00:00:00Z' TIME RATE 2.5", "1 unchecked: not available yet: paced domains\n"},
		{"subscriptions", orders + "CREATE UDF big WITH NSPL_1 ARGS (x F64) RETURNS BOOL CODE 'RETURN x > 1.0;'; CREATE SUBSCRIPTION s TO orders BATCH SAMPLE RATE 1.5 WHERE udf::big(amount);\n" +
			"CREATE SUBSCRIPTION t TO orders WHERE COUNT(amount) > 1",
			"9 invalid: BATCH SAMPLE RATE must be 0 to 1\n10 expr.scope\n"},
		{"versions of resources", "CREATE RESOURCE certs; CREATE VHOST v a.example.org WITH TLS certs VERSION LATEST;\nCREATE ENDPOINT e ON v PATH '/' TYPE HTTP",
			"1 unchecked: the content of resource 'certs'\n"},
		{"text that is no token", "CREATE SCHEMA s (a STRING | b);\nCREATE RELAY r SCHEMA s UNBRANCHED;\nUSE 'open;\nCREATE SCHEMA t (id STRING, id STRING);\nSHOW CREATE RELAY é",
			"1 lex: unexpected character '|'\n3 lex: unterminated string\n4 invalid: duplicate field 'id'\n5 lex: unexpected character 'é'\n"},
		{"what follows from a statement that does not parse", `CREATE RELY r SCHEMA s UNBRANCHED;
CREATE SCHEMA s (a STRING) x;
CREATE RELAY q SCHEMA s UNBRANCHED;
CREATE RELAY p SCHEMA t UNBRANCHED;
CREATE JUNCTION j FROM r, p, nowhere UNBRANCHED TO q INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
SHOW CREATE JUNCTION j; DROP RELAY r; ALTER RELAY q SET CAPACITY 2;
CREATE UDF f WITH NSPL_1 ARGS (x I64) RETURNS I64 CODE 'RETURN y;';
CREATE SCHEMA u (a I64); CREATE RELAY v SCHEMA u UNBRANCHED;
CREATE JUNCTION k FROM v UNBRANCHED TO v SET a = udf::f(a), b = 1 FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE PLACEMENT near FROM j TO v REQUIRE COLOCATION;
CREATE PLACEMENT far FROM jj TO v REQUIRE COLOCATION;
`, "1 parse: expected\n2 parse: expected\n4 ref.missing: RELAY 'p' requires missing SCHEMA 't'\n5 ref.missing: JUNCTION 'j' requires missing RELAY 'nowhere'\n7 expr.\n" +
			"11 ref.missing: PLACEMENT 'far' requires missing runtime node 'jj'\n"},
		{"what was declared in the wrong words", `CREATE OR REPLACE SCHEMA a (x I64);
CREATE TEMPORARY SCHEMA b (x I64);
CREATE SCHEMA my-c (x I64);
CREATE RELAY IF NOT EXISTS r SCHEMA a UNBRANCHED;
CREATE OR REPLACE WIRE JSON SCHEMA w MODE STRICT (x number);
CREATE RELAY p SCHEMA a UNBRANCHED; CREATE RELAY q SCHEMA b UNBRANCHED; CREATE RELAY s SCHEMA ` + "`my-c`" + ` UNBRANCHED;
CREATE CODEC c FROM WIRE JSON SCHEMA w TO SCHEMA a;
CREATE JUNCTION j FROM r UNBRANCHED TO p INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE RELAY z SCHEMA my UNBRANCHED;
`, "1 parse: expected\n2 parse: expected\n3 parse: expected\n4 parse: expected\n5 parse: expected\n9 ref.missing: RELAY 'z' requires missing SCHEMA 'my'\n"},
		{"a statement without its end", "CREATE SCHEMA s (a I64)\nCREATE RELAY r SCHEMA s UNBRANCHED;\nCREATE JUNCTION j FROM r UNBRANCHED TO r SET b = 1 FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
			"2 parse: expected ;\n3 expr.missing_set\n3 expr.unknown_field\n"},
		{"what was to be dropped", "CREATE SCHEMA s (a I64); CREATE RELAY r SCHEMA s UNBRANCHED;\nDROP RELAY r CASCADE;\nDROP SCHEMA s;\nCREATE RELAY r SCHEMA s UNBRANCHED;\nCREATE SCHEMA s (a I64);\n" +
			"CREATE RELAY r SCHEMA t UNBRANCHED; DROP RELAY r; SHOW CREATE RELAY r;\n",
			"2 parse: expected\n6 ref.missing: RELAY 'r' does not exist\n"},
		{"a domain that is not there", "USE shp;\nCREATE RELAY r SCHEMA s UNBRANCHED;\nCREATE SCHEMA t (id STRING, id STRING);\nSTART AT NOW; DROP RELAY x;\nUSE shp;\nCREATE SCHEMA u (id I64); CREATE RELAY w SCHEMA u UNBRANCHED;\n" +
			"CREATE JUNCTION k FROM w UNBRANCHED TO w SET b = 1 FLUSH IMMEDIATE ON MESSAGE ERROR LOG;\nUSE default; CREATE RELAY r SCHEMA s UNBRANCHED",
			"1 domain.missing: domain 'shp' does not exist\n3 invalid: duplicate field 'id'\n7 expr.missing_set\n7 expr.unknown_field\n8 ref.missing: RELAY 'r' requires missing SCHEMA 's'\n"},
		{"a domain that failed", "CREATE DOMAIN shop WITH x;\nUSE shop; CREATE RELAY r SCHEMA s UNBRANCHED;\nUSE 'shop; \nCREATE RELAY r SCHEMA s UNBRANCHED;\nCREATE DOMAIN shop; USE shop now;\nCREATE RELAY r SCHEMA s UNBRANCHED;",
			"1 parse: expected\n2 ref.missing: RELAY 'r' requires missing SCHEMA 's'\n3 lex: unterminated\n5 parse: expected\n6 ref.missing: RELAY 'r' requires\n"},
		{"a transaction that does not parse", "BEGIN NOW;\nCREATE RELAY r SCHEMA s UNBRANCHED;\nCREATE SCHEMA s (a I64);\nCOMMIT NOW; SHOW CREATE RELAY r;\nREVERT;", "1 parse: expected\n4 parse: expected\n5 tx.state\n"},
		{"users", "CREATE USER a WITH PASSWORD;\nALTER USER a SET PASSWORD 'long enough';\nDROP USER a; DROP USER b", "1 parse: expected\n3 ref.missing: USER 'b' does not exist\n"},
		{"faults of a transaction", `CREATE SCHEMA s (a I64); CREATE RELAY r SCHEMA s UNBRANCHED; CREATE RELAY o SCHEMA s UNBRANCHED; CREATE JUNCTION j FROM r UNBRANCHED TO o SET a = input.a FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
BEGIN;
CREATE RELAY x SCHEMA none UNBRANCHED;
CREATE RELAY y SCHEMA nothing UNBRANCHED;
ALTER SCHEMA s ADD FIELD b I64, DROP FIELD a;
CREATE RELAY z SCHEMA s UNBRANCHED;
DROP RELAY r;
COMMIT;
SHOW CREATE RELAY z`, "3 ref.missing: RELAY 'x' requires missing SCHEMA 'none'\n4 ref.missing: RELAY 'y' requires missing SCHEMA 'nothing'\n" +
			"5 expr.unknown_field: JUNCTION 'j': \n5 expr.missing_set: JUNCTION 'j': \n7 in_use: RELAY 'r' is used by JUNCTION 'j'\n"},
		{"several that break", orders + "ALTER SCHEMA order_row DROP FIELD amount, ADD FIELD total F64;\nCREATE JUNCTION more FROM orders UNBRANCHED TO large SET amount = input.amount, id = input.id FLUSH IMMEDIATE ON MESSAGE ERROR LOG;\nALTER SCHEMA order_row ADD FIELD x F64",
			"9 expr.unknown_field: JUNCTION 'split'\n11 expr.missing_set: JUNCTION 'more': \n"},
		{"an open string", "USE default;\nSHOW CREATE RELAY 'x", "2 lex: unterminated string\n"},
	} {
		got := found(c.text, script.Check(script.File{Name: "x", Text: c.text}))
		want := strings.Split(strings.TrimSuffix(c.want, "\n"), "\n")
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		same := len(want) == len(lines)
		for i := range lines {
			same = same && strings.HasPrefix(lines[i], want[i])
		}
		if !same {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestFiles checks several files as one script, and both forms of the report.
func TestFiles(t *testing.T) {
	files := []script.File{
		{Name: "a.nspl", Text: "CREATE SCHEMA s (id STRING);"},
		{Name: "b.nspl", Text: "// ü\nCREATE RELAY r SCHEMA t UNBRANCHED;"},
	}
	r := script.Check(files...)
	const text = `b.nspl:2:23: ref.missing: RELAY 'r' requires missing SCHEMA 't'
CREATE RELAY r SCHEMA t UNBRANCHED;
                      ^
`
	if got := r.Text(files, script.NoColours); !strings.HasPrefix(got, text) {
		t.Errorf("got\n%s", got)
	}
	if got := r.Text(files, script.Terminal); !strings.Contains(got, "\x1b[31mref.missing:\x1b[0m") {
		t.Errorf("got\n%q", got)
	}
	got, err := r.JSON(files)
	const want = `{"findings":[{"file":"b.nspl","line":2,"column":23,"end_line":2,"end_column":24,"start":28,"end":29,"code":"ref.missing",`
	if err != nil || !strings.HasPrefix(string(got), want) {
		t.Errorf("got %s (%v)", got, err)
	}
	if strings.Contains(script.Check(script.File{Text: "CREATE USER a WITH PASSWORD 'hunter'"}).Text([]script.File{{Text: "CREATE USER a WITH PASSWORD 'hunter'"}}, script.NoColours), "hunter") {
		t.Error("a password is shown")
	}
}

// TestExamples checks that the examples of the repository have no findings.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.nspl")
	if err != nil || len(files) == 0 {
		t.Skip("no examples")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := found(string(text), script.Check(script.File{Name: file, Text: string(text)})); got != "" {
			t.Errorf("%s:\n%s", file, got)
		}
	}
}
