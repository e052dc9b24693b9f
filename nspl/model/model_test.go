package model_test

import (
	"fmt"
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/model"
)

// TestRefs is M3: what every kind refers to, in written order.
func TestRefs(t *testing.T) {
	tail := " UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR SEND TO e SET x = 1"
	for _, c := range []struct{ text, want string }{
		{"CREATE DOMAIN d", ""},
		{"CREATE SCHEMA s (a U8)", ""},
		{"CREATE WIRE JSON SCHEMA s MODE STRICT (a integer)", ""},
		{"CREATE CODEC c FROM WIRE JSON SCHEMA w TO SCHEMA s", "WIRE JSON SCHEMA w, SCHEMA s"},
		{"CREATE RELAY r SCHEMA s UNBRANCHED", "SCHEMA s"},
		{"CREATE RELAY r SCHEMA s BRANCHED BY b", "SCHEMA s, BRANCH b"},
		{"CREATE CLIENT c TYPE NATS CONFIG {'addr' = 'nats://h:1'}", ""},
		{"CREATE VHOST v h", ""},
		{"CREATE ENDPOINT e ON v PATH '/' TYPE HTTP", "VHOST v"},
		{"CREATE PLACEMENT p FROM a TO b NEUTRAL", ""},
		{"CREATE INGESTOR i FROM HTTP ENDPOINT e MODE NO_ACK SEQUENTIAL ON QUIESCE REJECT RETRY AFTER 1s DECODE USING c TO r" + tail + " ON GENERAL ERROR LOG",
			"ENDPOINT e, CODEC c, RELAY r, RELAY e"},
		{"CREATE INGESTOR i FROM NATS n SUBJECT x QUEUE GROUP g INSTANCES 1 MODE NO_ACK SEQUENTIAL ON QUIESCE DROP DECODE USING c TO r BRANCHED BY b FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG",
			"CLIENT n, CODEC c, RELAY r, BRANCH b"},
		{"CREATE JUNCTION j FROM a, b BRANCHED BY k TO c FLUSH IMMEDIATE ON MESSAGE ERROR SEND TO e SET x = 1 TO d FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
			"RELAY a, RELAY b, BRANCH k, RELAY c, RELAY e, RELAY d"},
		{"CREATE EMITTER o FROM a TO NATS n SUBJECT x MODE NO_ACK RETRY POLICY BACKOFF 1s MAX 1s ENCODE USING c FLUSH IMMEDIATE ON MESSAGE ERROR SEND TO e SET x = 1 ON GENERAL ERROR LOG",
			"RELAY a, CLIENT n, CODEC c, RELAY e"},
		{"CREATE EMITTER o FROM a TO HTTP h METHOD 'GET' PATH '/' MODE ACK RETRY POLICY BACKOFF 1s MAX 1s WITHOUT BODY FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG",
			"RELAY a, CLIENT h"},
	} {
		e, err := model.Parse(c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		var got []string
		for _, r := range e.Refs() {
			got = append(got, r.Kind.String()+" "+r.Name)
			if word := c.text[r.Span.Start:r.Span.End]; word != r.Name {
				t.Errorf("%s: the span of %s covers %q", c.text, r.Name, word)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %v", c.text, got)
		}
	}
}

func TestFaultsNameTheEntity(t *testing.T) {
	_, err := model.Parse("CREATE RELAY branch SCHEMA s UNBRANCHED CAPACITY 0")
	var found ast.Diagnostics
	if all, ok := err.(ast.Diagnostics); ok {
		found = all
	}
	if len(found) != 2 || fmt.Sprint(found[0].Entity) != "RELAY 'branch'" || found[1].Code != ast.CodeInvalid {
		t.Fatalf("%v", err)
	}
}

func TestOnlyDeclarationsAreEntities(t *testing.T) {
	if _, err := model.Parse("STOP"); err == nil {
		t.Error("STOP is an entity")
	}
}

func TestPasswords(t *testing.T) {
	for password, ok := range map[string]bool{"1234567": false, "12345678": true, strings.Repeat("x", 1024): true, strings.Repeat("x", 1025): false} { //plexus:orderfree independent cases
		found := model.CheckPassword(ast.Text{Text: password})
		if (found == nil) != ok || strings.Contains(found.Error(), password) {
			t.Errorf("%d bytes: %v", len(password), found)
		}
	}
}

func TestSubscriptionRate(t *testing.T) {
	for rate, ok := range map[float64]bool{0: true, 1: true, 1.1: false} { //plexus:orderfree independent cases
		_, found := model.LowerSubscription(&ast.CreateSubscription{SampleRate: &ast.Float{Value: rate}})
		if (found == nil) != ok {
			t.Errorf("%v: %v", rate, found)
		}
	}
	if s, _ := model.LowerSubscription(&ast.CreateSubscription{}); s.SampleRate != 1 || s.Dropping {
		t.Errorf("defaults: %+v", s)
	}
}

func TestShownHidesSecrets(t *testing.T) {
	text := "CREATE CLIENT c TYPE REDIS POOL SIZE MIN 0 MAX 1 CONFIG {'addr' = 'redis://ann:hunter2@h:1', 'password' = 'hunter3'}"
	e, err := model.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprintf("%+v", model.Shown(e).(*model.Client).Config)
	if strings.Contains(shown, "hunter") || !strings.Contains(shown, "redis://ann:") {
		t.Error(shown)
	}
	if !strings.Contains(fmt.Sprintf("%+v", e), "hunter3") {
		t.Error("the entity itself was changed")
	}
	if r, _ := model.Parse("CREATE VHOST v h"); model.Shown(r) != r {
		t.Error("other kinds are copied")
	}
}

func TestSchemasAreBounded(t *testing.T) {
	fields := func(n int, kind string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("f%d %s", i, kind)
		}
		return "(" + strings.Join(list, ", ") + ")"
	}
	for _, c := range []struct{ head, kind string }{{"CREATE SCHEMA s ", "U8"}, {"CREATE WIRE JSON SCHEMA s MODE STRICT ", "integer"}} {
		if _, err := model.Parse(c.head + fields(1024, c.kind)); err != nil {
			t.Errorf("1024 fields: %v", err)
		}
		if _, err := model.Parse(c.head + fields(1025, c.kind)); err == nil {
			t.Errorf("%s: 1025 fields are accepted", c.head)
		}
	}
}
