package ast_test

import (
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

func TestExcerptsMaskSecrets(t *testing.T) {
	const secret = "hunter2SECRET"
	for _, text := range []string{
		"ALTER USER default SET PASSWORD 'hunter2SECRET' x;",
		`CREATE USER a WITH PASWORD "hunter2SECRET";`,
		"CREATE IF NOT EXISTS USER a $q$hunter2SECRET$q$;",
		"CREATE CLIENT q TYPE REDIS CONFIG { 'addr' = 'redis://u:hunter2SECRET@h/0', 'nope' = '1' };",
		"CREATE CLIENT q TYPE NATS { 'addr' = 'nats://u:hunter2SECRET@h",
		"ALTER USER default SET PASSWORD 'hunter2SECRET",
		"CREATE CLIENT q TYPE REDIS CONFIG {'password' hunter2SECRET};",
		"CREATE CLIENT q TYPE REDIS CONFIG {'password' = hunter2SECRET, 'nope' = 1};",
		"CREATE CLIENT q TYPE REDIS CONFIG ( 'password' = hunter2SECRET );",
		"CREATE USER b WITH PASSWORD hunter2SECRET;",
		"CREATE USER b WITH PASSWORD x-hunter2SECRET.y;",
		"ALTER USER b PASSWORD hunter2SECRET",
		"STOP; CREATE USER b WITH PASSWORD 'hunter2SECRET'; STOP;",
		"USE 'd; STOP;\nCREATE USER b WITH PASSWORD 'hunter2SECRET';",
	} {
		d := ast.Errorf(ast.CodeParse, vocab.Span{Start: 0, End: 5}, "refused")
		if got := d.Explain(text); strings.Contains(got, secret) {
			t.Errorf("the excerpt shows a secret:\n%s", got)
		}
	}
}

func TestExcerptsKeepWhatIsNoSecret(t *testing.T) {
	text := "CREATE CLIENT q TYPE REDIS CONFIG { 'nope' = 'näh' };"
	d := ast.Errorf(ast.CodeInvalid, vocab.Span{Start: 36, End: 42}, "unknown key")
	want := "error at line 1, column 37: invalid: unknown key\n" +
		"CREATE CLIENT q TYPE REDIS CONFIG { 'nope' = '****' };\n" +
		"                                    ^^^^^^\n"
	if got := d.Explain(text); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	script := "CREATE CLIENT q TYPE NATS CONFIG { 'addr' = 'x' };\nCREATE JUNCTION j FROM r FILTER WHERE input.shop = 'north' TO;"
	d = ast.Errorf(ast.CodeParse, vocab.Span{Start: 102, End: 109}, "refused")
	if got := d.Explain(script); !strings.Contains(got, "'north'") {
		t.Errorf("a statement without secrets is masked:\n%s", got)
	}
	plain := "CREATE JUNCTION j FROM r FILTER WHERE input.user = 'bob' TO;"
	d = ast.Errorf(ast.CodeParse, vocab.Span{Start: 57, End: 59}, "refused")
	if got := d.Explain(plain); !strings.Contains(got, "'bob'") {
		t.Errorf("a literal without secrets is masked:\n%s", got)
	}
}
