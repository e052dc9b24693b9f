package main

import (
	"context"
	"strings"
	"testing"

	"plexus/engine/session/document"
	"plexus/engine/session/sessionpb"
)

// answer is a session that knows one reply.
type answer struct{ reply *sessionpb.ExecuteReply }

func (a answer) Execute(context.Context, string) (*sessionpb.ExecuteReply, error) {
	return a.reply, nil
}

func node(name, role, availability string, cordoned bool) document.Value {
	return new(document.Map).Set(document.Name, document.Text(name)).Set("role", document.Text(role)).
		Set("incarnation", document.Uint(2)).Set("availability", document.Text(availability)).
		Set("terminating", document.Bool(false)).Set("cordoned", document.Bool(cordoned)).
		Set("endpoints", document.Text("http://127.0.0.1:1")).Value()
}

func work(kind, name string, owner document.Value) document.Value {
	return new(document.Map).Set("domain", document.Text("demo")).Set("kind", document.Text(kind)).
		Set("name", document.Text(name)).Set("owner", owner).Set("replicas", document.None()).Value()
}

func TestStatusIsATable(t *testing.T) {
	status := new(document.Map).
		Set("cluster", new(document.Map).Set("id", document.Text("default")).Value()).
		Set("members", document.List(node("node-1", "voter", "live", false), node("node-2", "voter", "unavailable", true))).
		Set("raft", new(document.Map).Set("current_leader", document.Text("node-1")).Set("term", document.Uint(7)).Set("applied", document.Uint(90)).Value()).
		Set("domains", document.List(new(document.Map).Set(document.Name, document.Text("demo")).
			Set("status", document.Text("Running")).Set("pace", document.Text("UNPACED")).Value())).
		Set("schedule", document.List(work("ingestor", "feed", document.Text("node-1")), work("window_processor", "sums", document.None()))).
		Set("warnings", document.List(document.Text("node-2 owns nothing"))).Value()
	var out strings.Builder
	p := &program{terminal: &terminal{out: &out, err: &out}, options: &options{Format: "text"}}
	reply := &sessionpb.ExecuteReply{Disposition: sessionpb.Disposition_COMPLETED, Document: status}
	if code := p.showStatus(context.Background(), answer{reply}); code != statusDone {
		t.Errorf("status %d", code)
	}
	want := `cluster default   leader node-1   term 7   applied 90

NODE    ROLE    STATE                  OWNS  INCARNATION  ENDPOINTS
node-1  leader  live                   1     2            http://127.0.0.1:1
node-2  voter   unavailable, cordoned  0     2            http://127.0.0.1:1

DOMAIN  STATUS   PACE
demo    running  UNPACED

DOMAIN  KIND              NAME  OWNER       REPLICAS
demo    ingestor          feed  node-1      -
demo    window processor  sums  unassigned  -

warning: node-2 owns nothing
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}

func TestTablesAlignColouredCells(t *testing.T) {
	painted := table{head: []string{"A", "B"}}
	painted.add(style(true).state("live"), "x")
	painted.add("unavailable", "y")
	var b strings.Builder
	painted.write(&b)
	want := "\nA            B\n\x1b[32mlive\x1b[0m         x\nunavailable  y\n"
	if b.String() != want {
		t.Errorf("%q", b.String())
	}
}
