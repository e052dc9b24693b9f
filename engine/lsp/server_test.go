package lsp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"plexus/engine/lsp"
)

// editor speaks with a server.
type editor struct {
	t      *testing.T
	server *lsp.Server
	id     int
}

func newEditor(t *testing.T) *editor {
	e := &editor{t: t, server: lsp.NewServer()}
	if got := e.ask("initialize", `{}`); !strings.Contains(got, `"positionEncoding":"utf-16"`) {
		t.Fatalf("initialize: %s", got)
	}
	return e
}

// ask sends a request and returns its result.
func (e *editor) ask(method, params string) string {
	e.t.Helper()
	e.id++
	out, _, _ := e.server.Handle(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, e.id, method, params))
	var a struct {
		ID     int
		Result json.RawMessage
		Error  json.RawMessage
	}
	if len(out) != 1 {
		e.t.Fatalf("%s: %d answers", method, len(out))
	}
	if err := json.Unmarshal(out[0], &a); err != nil || a.ID != e.id {
		e.t.Fatalf("%s: %s (%v)", method, out[0], err)
	}
	return string(a.Result) + string(a.Error)
}

// tell sends a notification and returns what it causes.
func (e *editor) tell(method, params string) string {
	out, _, _ := e.server.Handle(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
	return string(bytes.Join(out, []byte("\n")))
}

func (e *editor) open(uri, text string) string {
	quoted, _ := json.Marshal(text)
	return e.tell("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":%q,"text":%s}}`, uri, quoted))
}

// at is the parameters of a question about a place.
func at(uri string, line, character int) string {
	return fmt.Sprintf(`{"textDocument":{"uri":%q},"position":{"line":%d,"character":%d}}`, uri, line, character)
}

const shop = `CREATE SCHEMA order_row (id STRING, amount F64 OPTIONAL);
CREATE RELAY orders SCHEMA order_row UNBRANCHED;
CREATE RELAY large SCHEMA order_row UNBRANCHED;
CREATE JUNCTION split FROM orders WHERE coalesce(input.amount, 0.0) > 1.0 UNBRANCHED
  TO large INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
`

func TestSession(t *testing.T) {
	e := newEditor(t)
	if got := e.open("file:///a.nspl", shop); !strings.Contains(got, `"diagnostics":[]`) {
		t.Errorf("a clean document: %s", got)
	}
	for _, c := range []struct{ name, method, params, want string }{
		{"definition of a relay", "textDocument/definition", at("file:///a.nspl", 3, 29), `"start":{"line":1,"character":13}`},
		{"definition of a field", "textDocument/definition", at("file:///a.nspl", 3, 58), `"start":{"line":0,"character":36}`},
		{"definition of nothing", "textDocument/definition", at("file:///a.nspl", 3, 2), `[]`},
		{"hover on a relay", "textDocument/hover", at("file:///a.nspl", 3, 29), `CREATE RELAY orders SCHEMA order_row UNBRANCHED CAPACITY 1;`},
		{"hover on a field", "textDocument/hover", at("file:///a.nspl", 3, 58), `amount F64 OPTIONAL`},
		{"hover on a function", "textDocument/hover", at("file:///a.nspl", 3, 42), `coalesce(value`},
		{"hover on a keyword", "textDocument/hover", at("file:///a.nspl", 1, 8), `create_relay`},
		{"hover on nothing", "textDocument/hover", at("file:///a.nspl", 99, 0), `null`},
		{"formatting", "textDocument/formatting", at("file:///a.nspl", 0, 0), `"newText":"CREATE SCHEMA order_row (\n  id STRING,`},
		{"an unknown method", "textDocument/rename", at("file:///a.nspl", 0, 0), `-32601`},
		{"an unknown document", "textDocument/hover", at("file:///b.nspl", 0, 0), `-32602`},
		{"no parameters", "textDocument/hover", `[]`, `-32602`},
	} {
		if got := e.ask(c.method, c.params); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	// A second document sees the names of the first.
	e.open("file:///b.nspl", "CREATE JUNCTION j FROM ")
	if got := e.ask("textDocument/completion", at("file:///b.nspl", 0, 23)); !strings.Contains(got, `"label":"orders"`) {
		t.Errorf("completion: %s", got)
	}
	if got := e.tell("textDocument/didClose", `{"textDocument":{"uri":"file:///b.nspl"}}`); !strings.Contains(got, `"diagnostics":[]`) {
		t.Errorf("close: %s", got)
	}
	if got := e.ask("shutdown", `{}`); got != "null" {
		t.Errorf("shutdown: %s", got)
	}
	if got := e.ask("textDocument/hover", at("file:///a.nspl", 0, 0)); !strings.Contains(got, "-32600") {
		t.Errorf("after shutdown: %s", got)
	}
	if _, done, clean := e.server.Handle([]byte(`{"jsonrpc":"2.0","method":"exit"}`)); !done || !clean {
		t.Error("exit did not end the server cleanly")
	}
}

// broken is a document with faults of every sort: one that is no token, a statement
// without its end, a declaration that does not parse, and a string that stays open.
const broken = `CREATE SCHEMA row (id STRING, amount F64) | x;
CREATE SCHEMA order_row (id STRING, amount F64 OPTIONAL);
CREATE RELAY orders SCHEMA order_row UNBRANCHED
CREATE RELAY large SCHEMA order_row UNBRANCHED;
CREATE RELAY small SCHEM order_row;
CREATE CLIENT c TYPE REDIS POOL SIZE MIN 1 MAX 2 CONFIG {'addr' = 'redis://h:1};
CREATE JUNCTION split FROM large WHERE coalesce(input.amount, 0.0) > 1.0 UNBRANCHED
  TO small INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE JUNCTION next FROM large WHERE input.
`

// TestBroken answers in a document with faults as in one without.
func TestBroken(t *testing.T) {
	e := newEditor(t)
	got := e.open("u", broken)
	var told struct {
		Params struct {
			Diagnostics []struct {
				Range struct{ Start struct{ Line, Character int } }
				Code  string
			}
		}
	}
	if err := json.Unmarshal([]byte(got), &told); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, d := range told.Params.Diagnostics {
		list = append(list, fmt.Sprintf("%d:%d %s", d.Range.Start.Line, d.Range.Start.Character, d.Code))
	}
	if want := "0:42 lex|3:0 parse|4:19 parse|5:66 lex|9:0 parse"; strings.Join(list, "|") != want {
		t.Errorf("diagnostics: %s", strings.Join(list, "|"))
	}
	for _, c := range []struct{ name, method, params, want string }{
		{"definition behind faults", "textDocument/definition", at("u", 6, 29), `"start":{"line":3,"character":13}`},
		{"definition of a field", "textDocument/definition", at("u", 6, 57), `"start":{"line":1,"character":36}`},
		{"definition that does not parse", "textDocument/definition", at("u", 7, 7), `"start":{"line":4,"character":13}`},
		{"definition from where it does not parse", "textDocument/definition", at("u", 4, 27), `[]`},
		{"hover behind faults", "textDocument/hover", at("u", 6, 29), `CREATE RELAY large SCHEMA order_row UNBRANCHED`},
		{"hover in the first line", "textDocument/hover", at("u", 0, 8), `create_schema`},
		{"hover on a type behind faults", "textDocument/hover", at("u", 6, 42), `coalesce(value`},
		{"fields behind faults", "textDocument/completion", at("u", 8, 44), `"label":"amount"`},
		{"names behind faults", "textDocument/completion", at("u", 8, 26), `"label":"small"`},
		{"keywords behind a statement without its end", "textDocument/completion", at("u", 3, 14), `[]`},
		{"schemas behind a statement without its end", "textDocument/completion", at("u", 3, 27), `"label":"order_row"`},
	} {
		if got := e.ask(c.method, c.params); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	// What is repaired is as if it had never been broken.
	for _, change := range []string{
		`{"range":{"start":{"line":0,"character":41},"end":{"line":0,"character":45}},"text":""}`,
		`{"range":{"start":{"line":2,"character":47},"end":{"line":2,"character":47}},"text":";"}`,
		`{"range":{"start":{"line":4,"character":19},"end":{"line":4,"character":34}},"text":"SCHEMA order_row UNBRANCHED"}`,
		`{"range":{"start":{"line":5,"character":78},"end":{"line":5,"character":78}},"text":"'"}`,
		`{"range":{"start":{"line":8,"character":0},"end":{"line":9,"character":0}},"text":""}`,
	} {
		got = e.tell("textDocument/didChange", `{"textDocument":{"uri":"u"},"contentChanges":[`+change+`]}`)
	}
	if !strings.Contains(got, `"diagnostics":[]`) {
		t.Errorf("after the repair: %s", got)
	}
}

// TestLarge is that diagnostics of 1,000 lines come in good time, with room for a
// machine that is busy; BenchmarkChange measures it.
func TestLarge(t *testing.T) {
	e := newEditor(t)
	if got := e.open("u", lines(1000, 0)); !strings.Contains(got, `"diagnostics":[]`) {
		t.Fatal(got)
	}
	fastest := time.Hour
	for range 5 {
		began := time.Now()
		if out, _, _ := e.server.Handle(edited(500, "// a comment\n")); len(out) != 1 {
			t.Fatal("no diagnostics")
		}
		fastest = min(fastest, time.Since(began))
	}
	if fastest > time.Second {
		t.Errorf("diagnostics took %v", fastest)
	}
}

// TestPositions changes a text with characters of one, two and four bytes in UTF-8.
func TestPositions(t *testing.T) {
	e := newEditor(t)
	e.open("u", "// äö𝄞\nCREATE RELAY r SCHEMA s UNBRANCHED; // 𝄞 x\n")
	// Behind the clef, which is two units.
	e.tell("textDocument/didChange", `{"textDocument":{"uri":"u"},"contentChanges":[
		{"range":{"start":{"line":0,"character":7},"end":{"line":1,"character":0}},"text":" é\n/*"},
		{"range":{"start":{"line":1,"character":0},"end":{"line":1,"character":2}},"text":""}]}`)
	got := e.tell("textDocument/didChange", `{"textDocument":{"uri":"u"},"contentChanges":[
		{"range":{"start":{"line":1,"character":39},"end":{"line":1,"character":41}},"text":"é"}]}`)
	if !strings.Contains(got, `"range":{"start":{"line":1,"character":22},"end":{"line":1,"character":23}},"severity":1,"code":"ref.missing"`) {
		t.Errorf("diagnostics: %s", got)
	}
	got = e.ask("textDocument/formatting", `{"textDocument":{"uri":"u"}}`)
	if !strings.Contains(got, `// äö𝄞 é\nCREATE RELAY r SCHEMA s UNBRANCHED CAPACITY 1; // é x\n`) {
		t.Errorf("text: %s", got)
	}
}

// TestBeforeInitialize refuses what comes too early.
func TestBeforeInitialize(t *testing.T) {
	e := &editor{t: t, server: lsp.NewServer()}
	if got := e.ask("textDocument/hover", at("a", 0, 0)); !strings.Contains(got, "-32002") {
		t.Error(got)
	}
	if got := e.open("a", "bad"); got != "" {
		t.Error(got)
	}
	if _, done, clean := e.server.Handle([]byte(`{"method":"exit"}`)); !done || clean {
		t.Error("exit without shutdown is clean")
	}
}

// TestServe runs a stream with garbage in it.
func TestServe(t *testing.T) {
	frame := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	in := frame(`{"id":1,"method":"initialize","params":{}}`) + "Nonsense: 1\r\n\r\n" + frame("{") + "Content-Length: -3\r\n\r\n" +
		frame(`{"id":2,"method":"shutdown"}`) + frame(`{"method":"exit"}`)
	var out strings.Builder
	status, err := lsp.Serve(strings.NewReader(in), &out)
	if status != 0 || err != nil || strings.Count(out.String(), "Content-Length: ") != 5 || strings.Count(out.String(), "-32700") != 3 {
		t.Errorf("%d %v %s", status, err, out.String())
	}
	if status, err := lsp.Serve(strings.NewReader("Content-Length: 5\r\n\r\n{"), &out); status != 1 || err != nil {
		t.Errorf("a stream that breaks off: %d %v", status, err)
	}
}

// FuzzMessage is L1 and L3.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"a"},"position":{"line":-1,"character":9}}}`))
	f.Add([]byte(`{"method":"textDocument/didChange","params":{"textDocument":{"uri":"a"},"contentChanges":[{"range":{"start":{"line":3},"end":{"line":0}},"text":"x"}]}}`))
	f.Add([]byte(`[1]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		e := &editor{t: t, server: lsp.NewServer()}
		e.ask("initialize", "{}")
		e.open("a", shop)
		out, _, _ := e.server.Handle(body)
		var m struct{ ID *json.RawMessage }
		if json.Unmarshal(body, &m) == nil && m.ID != nil && len(out) != 1 {
			t.Errorf("%d answers to %s", len(out), body)
		}
	})
}
