package script_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plexus/engine/script"
	"plexus/nspl/ast"
	"plexus/nspl/format"
	"plexus/nspl/parse"
)

const marker = "S3cr3tPw0rd"

// shown is all that a check and a refused format say of a text.
func shown(t interface{ Fatal(...any) }, text string) string {
	file := script.File{Name: "x.nspl", Text: text}
	r := script.Check(file)
	data, err := r.JSON([]script.File{file})
	if err != nil {
		t.Fatal(err)
	}
	said := r.Text([]script.File{file}, script.NoColours) + string(data)
	var faults ast.Diagnostics
	if _, err := format.Text(text); errors.As(err, &faults) {
		said += file.Explain(faults, script.NoColours)
	}
	if _, err := parse.Statements(text); err != nil {
		said += err.Error()
	}
	return said
}

func leaks(said, secret string) bool {
	return strings.Contains(strings.ToLower(said), strings.ToLower(secret))
}

func TestSecretsAreNotShown(t *testing.T) {
	for _, text := range []string{
		"CREATE USER ann WITH PASSWORD: S3cr3tPw0rd;",
		"ALTER USER ann SET PASSWORD TO S3cr3tPw0rd;",
		"CREATE USER ann WITH PASSWORD // c\n S3cr3tPw0rd;",
		"CREATE USER ann WITH PASSWORD // it's\n 'S3cr3tPw0rd' x;",
		"CREATE USER ann IDENTIFIED BY S3cr3tPw0rd;",
		"ALTER USER ann SET PASSWRD S3cr3tPw0rd;",
		"CREATE USER ann WITH PASSWORD 'S3cr3tPw0rd' S3cr3tPw0rd;",
		"CREATE USER ann WITH PASSWORD 'a\nSTART S3cr3tPw0rd';",
		"CREATE USER ann WITH PASSWORD 'a\nUSE S3cr3tPw0rd;\n';",
		"CREATE USER ann WITH PASSWORD a;S3cr3tPw0rd;",
		"CREATE USER ann-S3cr3tPw0rd WITH PASSWORD 'x';",
		"CREATE CLIENT c TYPE NATS CONFIG { addr: S3cr3tPw0rd };",
		"CREATE CLIENT c TYPE NATS CONFIG { S3cr3tPw0rd };",
		"CREATE CLIENT c TYPE NATS CONFIG { 'addr' = {{S3cr3tPw0rd}} };",
		"CREATE CLIENT c TYPE NATS CONFIG { 'addr' = $S3cr3tPw0rd$x };",
		"CREATE CLIENT c TYPE NATS CONFIG { 'addr' = $S3cr3tPw0rd-$x };",
		"CREATE CLIENT c TYPE NATS CONFIG {\n 'addr' = 'x', 'USE' = \nUSE S3cr3tPw0rd };",
		"CREATE CLIENT c TYPE NATS CONFIG { 'addr' = 'x'\n;\n password = S3cr3tPw0rd };",
		"CREATE CLIENT c TYPE NATS CONFIG { 'addr' = 'x' };\nCREATE CLIENT d TYPE NATS CONFIG { 'addr' = 'x', 'token' = S3cr3tPw0rd, 'nope' = S3cr3tPw0rd };",
		"CREATE CLIENT c TYPE NATS WITH ('addr' = 'x', password = S3cr3tPw0rd );",
		"CREATE CLIENT c TYPE REDIS POOL SIZE MIN 99999999999999999999 MAX 8 CONFIG { 'addr' = S3cr3tPw0rd, S3cr3tPw0rd };",
		"ALTER CLIENT c SET password = S3cr3tPw0rd;",
		"SET PASSWORD FOR ann = S3cr3tPw0rd;",
	} {
		said := shown(t, text)
		if leaks(said, marker) {
			t.Errorf("%s\nshows the secret:\n%s", text, said)
		}
		if !strings.Contains(said, "x.nspl:") {
			t.Errorf("%s\nhas no fault", text)
		}
	}
	// A number that is a value is hidden as words are.
	for _, text := range []string{
		"CREATE CLIENT c TYPE NATS CONFIG { 'addr' = 'nats://h', timeout_ms = 2577 };",
		"CREATE CLIENT c TYPE NATS CONFIG { 'addr' = 2577 };",
		"CREATE CLIENT c TYPE NATS CONFIG { timeout_ms = 2577",
		"CREATE CLIENT c TYPE KAFKA CONFIG { 'bootstrap.servers' = 'h:1', 'timeout_ms' = 2577 };",
	} {
		if said := shown(t, text); leaks(said, "2577") {
			t.Errorf("%s\nshows the value:\n%s", text, said)
		}
	}
}

// Statements that are no secrets are shown, and so is what has its form.
func TestWhatIsNoSecretIsShown(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"CREATE CLIENT q TYPE NATS CONFIG { 'nope' = 'x' };", "CONFIG { 'nope' = '*' };"},
		{"CREATE USER a WITH PASSWORD 'x';", "WITH PASSWORD '*';"},
		{"CREATE JUNCTION j FROM r FILTER WHERE input.passengers = 'north' TO;", "'north' TO;"},
		{"CREATE CLIENT SCHEMA INGESTOR i FROM nope;", "FROM nope;"},
		{"CREATE CLIENT q TYPE NATS CONFIG { 'addr' 'x' };\nCREATE RELAY r SCHEM x;", "CREATE RELAY r SCHEM x;"},
	} {
		if said := shown(t, c.text); !strings.Contains(said, c.want) {
			t.Errorf("%s\nis not shown:\n%s", c.text, said)
		}
	}
}

// secretStatements are the statements of users and clients of the golden cases, cut
// into tokens, with the marker for each secret.
func secretStatements(t *testing.T) (all [][]string) {
	for _, name := range []string{"user", "alter_user", "client"} {
		data, err := os.ReadFile(filepath.Join("../../nspl/parse/testdata/golden", name))
		if err != nil {
			t.Fatal(err)
		}
		for one := range strings.SplitSeq(string(data), "\nparse\n") {
			text, _, _ := strings.Cut(strings.TrimPrefix(one, "parse\n"), "\n----\n")
			if _, err := parse.Statements(text); err != nil {
				continue
			}
			var tokens []string
			hidden := false
			for _, k := range parse.Tokens(text) {
				word := text[k.Span.Start:k.Span.End]
				if k.Role == parse.RoleComment {
					continue
				}
				if k.Role == parse.RoleString && hidden {
					word = "'" + marker + "'"
				}
				hidden = strings.EqualFold(word, "PASSWORD") || word == "="
				tokens = append(tokens, word)
			}
			if slices.Contains(tokens, "'"+marker+"'") {
				all = append(all, tokens)
			}
		}
	}
	if len(all) < 20 {
		t.Fatalf("%d statements", len(all))
	}
	return all
}

// TestBrokenSecrets breaks statements of users and clients around the words that tell
// of a secret.
func TestBrokenSecrets(t *testing.T) {
	all := secretStatements(t)
	rapid.Check(t, func(t *rapid.T) {
		tokens := slices.Clone(rapid.SampledFrom(all).Draw(t, "tokens"))
		clause := slices.IndexFunc(tokens, func(s string) bool { return strings.EqualFold(s, "PASSWORD") || strings.EqualFold(s, "CONFIG") })
		if strings.EqualFold(tokens[0], "CREATE") && (tokens[1] == "USER" || tokens[1] == "CLIENT") && rapid.Bool().Draw(t, "head") {
			clause = 2 // the head and its name: all behind it may break
		}
		if rapid.Bool().Draw(t, "bare") {
			for i := range tokens {
				tokens[i] = strings.ReplaceAll(tokens[i], "'"+marker+"'", marker)
			}
		}
		others := []string{"=", ":", "{", "}", "(", ",", "'", `"`, "$", "$$", "`", "TO", "BY", "IS", "x", "7", "-", "?", "FOR", "SET", "MOUNT", "//\n", "é", "{{", "'\n"}
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			at := rapid.IntRange(0, len(tokens)-1).Draw(t, "at")
			if at == clause || clause == 2 && at < 2 || strings.Contains(tokens[at], marker) {
				continue
			}
			word := rapid.SampledFrom(others).Draw(t, "word")
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				if clause == 2 && at == 2 {
					continue
				}
				tokens = slices.Delete(tokens, at, at+1)
				if at < clause {
					clause--
				}
			case 1:
				if clause == 2 && at <= 2 {
					continue
				}
				tokens = slices.Insert(tokens, at, word)
				if at <= clause {
					clause++
				}
			default:
				tokens[at] = word
			}
		}
		text := strings.Join(tokens, " ")
		if said := shown(t, text); leaks(said, marker) {
			t.Fatalf("%s\nshows the secret:\n%s", text, said)
		}
	})
}
