package document

import (
	"encoding/json"
	"testing"
)

func TestRender(t *testing.T) {
	nested := new(Map).Set("relay", Text("r")).Set("capacity", Uint(4)).Set("owner", None()).
		Set("edges", List(new(Map).Set("relay", Text("a")).Set("total", Int(3)).Value())).Set("empty", List())
	cases := []struct {
		value Value
		text  string
		json  string
	}{
		{Text("CREATE RELAY r;"), "CREATE RELAY r;", `"CREATE RELAY r;"`},
		{new(Map).Set(Bare, Text("created relay 'r'")).Set("quiesce level", Text("DYNAMIC")).Value(),
			"created relay 'r'\nquiesce level: DYNAMIC", `{"result":"created relay 'r'","quiesce level":"DYNAMIC"}`},
		{List(new(Map).Set(Name, Text("d")).Set("pace", Text("UNPACED")).Value()), "d pace=UNPACED", `[{"name":"d","pace":"UNPACED"}]`},
		{nested.Value(), "relay: r\ncapacity: 4\nowner: -\nedges:\n  - relay=a total=3\nempty: -",
			`{"relay":"r","capacity":4,"owner":null,"edges":[{"relay":"a","total":3}],"empty":[]}`},
		{new(Map).Set("input", Text("a")).Set("x", Bool(true)).Set("input", Text("b")).Value(),
			"input: a\nx: true\ninput: b", `{"input":["a","b"],"x":true}`},
		{new(Map).Set("raft", new(Map).Set("term", Uint(2)).Value()).Set("domains", List(new(Map).Set(Name, Text("d")).Value())).Value(),
			"[raft]\nraft.term: 2\n[domains]\nd", `{"raft":{"term":2},"domains":[{"name":"d"}]}`},
	}
	for _, c := range cases {
		if got := Render(c.value); got != c.text {
			t.Errorf("text\n%s\nwant\n%s", got, c.text)
		}
		got := JSON(c.value)
		if string(got) != c.json || !json.Valid(got) {
			t.Errorf("JSON %s, want %s", got, c.json)
		}
	}
}
