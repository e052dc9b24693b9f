package parse_test

import (
	"errors"
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/render"
	"plexus/nspl/vocab"
)

// code returns the code of the first diagnostic.
func code(err error) ast.Code {
	var d *ast.Diagnostic
	if errors.As(err, &d) {
		return d.Code
	}
	return ""
}

func TestNestingIsBounded(t *testing.T) {
	for name, text := range map[string]string{ //plexus:orderfree independent cases
		"parentheses": strings.Repeat("(", 100_000) + "1",
		"minus":       strings.Repeat("-", 1_000_000) + "1",
		"not":         strings.Repeat("NOT ", 100_000) + "TRUE",
		"calls":       strings.Repeat("f(", 100_000),
		"lists":       strings.Repeat("[", 100_000),
		"case":        strings.Repeat("CASE ", 100_000),
		"if":          strings.Repeat("IF ", 100_000),
		"try_cast":    strings.Repeat("TRY_CAST(", 100_000),
		"in":          strings.Repeat("x IN (", 100_000),
		"plus":        "1" + strings.Repeat(" + 1", 100_000),
		"and":         "a" + strings.Repeat(" AND a", 100_000),
		"or":          "a" + strings.Repeat(" OR a", 100_000),
		"compare":     "a" + strings.Repeat(" = a", 100_000),
		"cast":        "a" + strings.Repeat(" AS U8", 100_000),
		"between":     "a" + strings.Repeat(" BETWEEN a AND a", 100_000),
	} {
		if _, err := parse.Expression(text); code(err) != ast.CodeParse {
			t.Errorf("%s: %v", name, err)
		}
	}
	deepest := strings.Repeat("(", 127) + "1" + strings.Repeat(")", 127)
	if _, err := parse.Expression(deepest); err != nil {
		t.Errorf("127 parentheses: %v", err)
	}
	longest := "a" + strings.Repeat(" OR a", 1024)
	if _, err := parse.Expression(longest); err != nil {
		t.Errorf("1024 operators: %v", err)
	}
	if _, err := parse.Statement("CREATE SCHEMA s (a " + strings.Repeat("VEC<", 100_000)); code(err) != ast.CodeInvalid {
		t.Errorf("types: %v", err)
	}
}

func TestTextIsBounded(t *testing.T) {
	text := strings.Repeat(" ", parse.TextBytesMax)
	if _, err := parse.Statements(text); err != nil {
		t.Errorf("the largest text: %v", err)
	}
	if _, err := parse.Statements(text + " "); code(err) != ast.CodeLex {
		t.Errorf("one byte more: %v", err)
	}
}

func TestInvalidUTF8HasAPlace(t *testing.T) {
	_, err := parse.Statements("CREATE DOMAIN d\xff;")
	var d *ast.Diagnostic
	if !errors.As(err, &d) || d.Code != ast.CodeLex || d.Span != (vocab.Span{Start: 15, End: 16}) {
		t.Fatalf("%v", err)
	}
	if _, err := parse.Statements("CREATE ENDPOINT e ON v PATH '/\uFFFD' TYPE HTTP"); err != nil {
		t.Fatalf("the replacement character is a character: %v", err)
	}
}

func TestByteOrderMarkIsSkipped(t *testing.T) {
	all, err := parse.Statements("\uFEFFSTOP;")
	if err != nil || len(all) != 1 || all[0].Place() != (vocab.Span{Start: 3, End: 7}) {
		t.Fatalf("%v %v", all, err)
	}
}

func TestOneStatement(t *testing.T) {
	if _, err := parse.Statement(";; STOP ;; // done"); err != nil {
		t.Error(err)
	}
	if _, err := parse.Statement("STOP; STOP"); code(err) != ast.CodeTxRequired {
		t.Errorf("two: %v", err)
	}
	if _, err := parse.Statement("  "); code(err) != ast.CodeParse {
		t.Errorf("none: %v", err)
	}
}

func TestSplit(t *testing.T) {
	script := "CREATE DOMAIN d; // not here; nor here\n;\nUSE `d`;CREATE ENDPOINT e ON v PATH $x$/;$;$x$ TYPE HTTP; STOP"
	spans, open, err := parse.Split(script)
	var got []string
	for _, s := range spans {
		got = append(got, script[s.Start:s.End])
	}
	want := []string{"CREATE DOMAIN d", "USE `d`", "CREATE ENDPOINT e ON v PATH $x$/;$;$x$ TYPE HTTP", "STOP"}
	if err != nil || !open || strings.Join(got, "|") != strings.Join(want, "|") {
		t.Fatalf("%q open=%v %v", got, open, err)
	}
	if _, open, _ := parse.Split("STOP; // done"); open {
		t.Error("a terminated script is open")
	}
	if _, _, err := parse.Split("USE 'd"); code(err) != ast.CodeLex {
		t.Errorf("an unterminated string: %v", err)
	}
}

// TestKindsReadBack: every kind that a statement can drop or show by keyword is
// written by the keyword it is read by.
func TestKindsReadBack(t *testing.T) {
	for _, k := range vocab.EntityKinds() {
		s, err := parse.Statement("DROP " + strings.ToLower(k.String()) + " x")
		if k == vocab.EntityResource {
			if err == nil {
				t.Errorf("%s can be dropped", k)
			}
			continue
		}
		if err != nil || s.(*ast.Drop).Kind != k {
			t.Errorf("%s: %v", k, err)
		}
	}
}

func TestClasses(t *testing.T) {
	for text, want := range map[string]ast.Class{ //plexus:orderfree independent cases
		"CREATE DOMAIN d":                    ast.ClusterAdmin,
		"DROP DOMAIN d":                      ast.ClusterAdmin,
		"DROP USER u":                        ast.ClusterAdmin,
		"CREATE VHOST v localhost":           ast.ModelMutation,
		"DROP RELAY r":                       ast.ModelMutation,
		"START":                              ast.DomainLifecycle,
		"STOP":                               ast.DomainLifecycle,
		"SHOW INGESTORS":                     ast.ReadOnly,
		"DESCRIBE DOMAIN":                    ast.ReadOnly,
		"CREATE SUBSCRIPTION s TO r":         ast.SessionLocal,
		"BEGIN":                              ast.TxControl,
		"USE d":                              ast.ClientLocal,
		"ALTER USER u SET PASSWORD 'abcdef'": ast.ClusterAdmin,
		"DROP NODE n":                        ast.ClusterAdmin,
		"DRAIN NODE n":                       ast.ClusterAdmin,
		"RELOCATE RELAY r ONTO NODE n FOLLOW PREFERENCES":            ast.ClusterAdmin,
		"DESCRIBE RELOCATION RELAY r ONTO NODE n FOLLOW PREFERENCES": ast.ReadOnly,
		"CREATE PLACEMENT p FROM a TO b NEUTRAL":                     ast.ModelMutation,
		"ALTER PLACEMENT p DROP RANK":                                ast.ModelMutation,
		"ALTER DOMAIN SET PLACEMENT NEUTRAL":                         ast.DomainLifecycle,
		"DESCRIBE TRANSACTION":                                       ast.ReadOnly,
	} {
		s, err := parse.Statement(text)
		if err != nil || ast.ClassOf(s) != want {
			t.Errorf("%s: class %v, %v", text, ast.ClassOf(s), err)
		}
	}
}

// TestBesideTransaction: what a session may ask while it holds a transaction.
func TestBesideTransaction(t *testing.T) {
	for text, want := range map[string]bool{ //plexus:orderfree independent cases
		"SHOW TRANSACTIONS":    true,
		"DESCRIBE TRANSACTION": true,
		"SHOW PLACEMENTS":      false,
		"DESCRIBE DOMAIN":      false,
	} {
		s, err := parse.Statement(text)
		if err != nil || ast.BesideTransaction(s) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

const benchmarkText = `CREATE NATS STREAM INGESTOR meter_feed
  FROM NATS grid STREAM meters CONSUMER plexus INSTANCES 2 MODE ACK PARALLEL MAX 512 BATCH TIMEOUT 50ms ACK TIMEOUT 30s RETRY POLICY BACKOFF 200ms MAX 10s ON QUIESCE SUSPEND
  DECODE USING reading_codec
  TIMESTAMP AT measured_at
  FILTER WHERE input.kwh >= 0.0 AND contains(input.site, 'n') AND NOT (input.kwh BETWEEN 3.0 AND 4.0)
  TO readings
    INHERIT ALL EXCEPT vendor_blob
    SET region = coalesce(read_header('region'), 'unknown'),
        band = CASE WHEN kwh > 50.0 THEN 'over' WHEN kwh > 40.0 THEN 'near' ELSE 'normal' END
    UNBRANCHED
    FLUSH EACH 200ms MAX BATCH SIZE 1MiB
    ON MESSAGE ERROR SEND TO reading_errors SET ref = error.reference,
                                                why = error.message
  ON GENERAL ERROR LOG;`

func BenchmarkStatement(b *testing.B) {
	b.SetBytes(int64(len(benchmarkText)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse.Statement(benchmarkText); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkModel(b *testing.B) {
	b.SetBytes(int64(len(benchmarkText)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := model.Parse(benchmarkText); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	e, err := model.Parse(benchmarkText)
	if err != nil {
		b.Fatal(err)
	}
	if render.Entity(e) != benchmarkText {
		b.Fatal("the text is not canonical")
	}
	b.SetBytes(int64(len(benchmarkText)))
	b.ReportAllocs()
	for b.Loop() {
		render.Entity(e)
	}
}
