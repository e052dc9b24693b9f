package parse_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/internal/goldentest"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/vocab"
)

// families are the statement families of the language, each with a file of golden
// cases.
var families = strings.Fields(`
	domain alter_domain user alter_user schema alter_schema wire alter_wire codec branch relay alter_relay
	resource upload rebind client vhost endpoint signaling hashmap lookup udf placement alter_placement
	source ingestor alter_ingestor junction alter_junction deduplicator alter_deduplicator reorderer alter_reorderer
	reingestor alter_reingestor generator alter_generator correlator window inferencer wasm sink emitter alter_emitter
	drop reset show_create show describe describe_transaction describe_relocation describe_backup
	lifecycle transaction selection subscription clock node relocate backup restore
	lexical expression cast conditional function scope construction`)

// casesMin is how many accepted and how many refused cases a family has.
const casesMin = 10

// TestFamilies: every family shows what it accepts and what it refuses. The cases
// that are accepted differ in their text; those that are refused break different
// rules.
func TestFamilies(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden cases")
	}
	for _, family := range families {
		if !slices.Contains(files, filepath.Join("testdata/golden", family)) {
			t.Errorf("%s has no golden cases", family)
		}
	}
	for _, file := range files {
		family := filepath.Base(file)
		accepted, refused := countCases(t, file)
		switch {
		case family == "hints":
			if len(refused) < casesMin {
				t.Errorf("hints: %d refused cases, at least %d are wanted", len(refused), casesMin)
			}
		case !slices.Contains(families, family):
			t.Errorf("%s is no family", family)
		case len(accepted) < casesMin, len(refused) < casesMin:
			t.Errorf("%s: %d accepted and %d refused cases, at least %d of each are wanted", family, len(accepted), len(refused), casesMin)
		}
	}
}

// countCases returns the different texts that a file shows as accepted, and the
// different messages of those it shows as refused.
func countCases(t *testing.T, file string) (accepted, refused map[string]bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	accepted, refused = map[string]bool{}, map[string]bool{}
	for _, c := range goldentest.Cases(t, file, string(data)) {
		fault := ""
		for line := range strings.SplitSeq(c.Output, "\n") {
			if strings.HasPrefix(line, "error at ") || strings.HasPrefix(line, "error: ") {
				_, fault, _ = strings.Cut(line, ": ") // the place is no difference
				break
			}
		}
		if fault != "" {
			refused[fault] = true
		} else {
			accepted[c.Input] = true
		}
	}
	return accepted, refused
}

// TestFaultsHaveHints: whoever gets a fault of the grammar is told a way on.
func TestFaultsHaveHints(t *testing.T) {
	for _, text := range everyInput(t) {
		_, err := parse.Statements(text)
		var d *ast.Diagnostic
		if errors.As(err, &d) && (d.Code == ast.CodeParse || d.Code == ast.CodeLex) && d.Hint == "" && strings.HasPrefix(d.Message, "expected ") {
			t.Errorf("no hint for %s\n%s", text, d.Explain(text))
		}
	}
}

// TestKindsHaveCases: the accepted cases hold every type of statement, and of the
// statements about a kind every kind.
func TestKindsHaveCases(t *testing.T) {
	seen := map[string]bool{}
	for _, text := range everyInput(t) {
		all, err := parse.Statements(text)
		if err != nil {
			continue
		}
		for _, s := range all {
			seen[ast.Words(s)] = true
			seen[reflect.TypeOf(s).Elem().Name()] = true
			if c, ok := s.(*ast.ShowCreate); ok {
				seen["SHOW CREATE "+c.Kind.String()] = true
			}
		}
	}
	want := strings.Fields("ListDomains Begin Commit Revert Start Stop Use ShowState Lookup Clock UploadResource RebindResource ResetWASM AlterUser AlterDomain " +
		"Backup Restore DescribeBackup DescribeTransaction DescribeRelocation Relocate NodeControl CreateSubscription DeleteSubscription")
	want = append(want, "ATTACH DOMAIN CLOCK", "DETACH DOMAIN CLOCK", "CORDON NODE", "UNCORDON NODE", "DRAIN NODE", "DROP NODE", "BACKUP CLUSTER", "BACKUP DOMAIN",
		"RESTORE CLUSTER", "RESTORE DOMAIN", "DESCRIBE DOMAIN")
	for _, l := range ast.Listings() {
		want = append(want, "SHOW "+l.String())
	}
	for _, kind := range vocab.EntityKinds() {
		want = append(want, "CREATE "+kind.String())
		if kind != vocab.EntityResource {
			want = append(want, "DROP "+kind.String())
		}
		if kind > vocab.EntityUser {
			want = append(want, "SHOW CREATE "+kind.String())
		}
		for _, verb := range []string{"ALTER ", "DESCRIBE "} {
			if _, err := parse.Statement(verb + kind.String() + " x"); !unexpectedKind(err, kind) {
				want = append(want, verb+kind.String())
			}
		}
	}
	for _, words := range want {
		if !seen[words] {
			t.Errorf("no accepted case of %s", words)
		}
	}
}

// unexpectedKind reports whether a statement was refused at the word of its kind.
func unexpectedKind(err error, kind vocab.EntityKind) bool {
	var d *ast.Diagnostic
	if !errors.As(err, &d) {
		return false
	}
	first, _, _ := strings.Cut(kind.String(), " ")
	return strings.HasSuffix(d.Message, "found "+first) || strings.HasSuffix(d.Message, "found JSON")
}

// everyInput returns the inputs of all golden cases that hold statements.
func everyInput(t *testing.T) (texts []string) {
	for _, c := range goldentest.All(t, "testdata/golden") {
		if c.Command != "expr" {
			texts = append(texts, c.Input)
		}
	}
	return texts
}

// checked returns what is wrong with a statement that declares nothing, as far as
// the statement alone tells.
func checked(s ast.Statement) ast.Diagnostics {
	switch s := s.(type) {
	case *ast.CreateUser:
		return model.CheckPassword(s.Password)
	case *ast.AlterUser:
		return model.CheckPassword(s.Password)
	case *ast.CreateSubscription:
		_, found := model.LowerSubscription(s)
		return found
	case *ast.RebindResource:
		return model.CheckUsages(s.For)
	}
	return nil
}
