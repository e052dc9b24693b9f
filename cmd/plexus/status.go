package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"plexus/engine/session/document"
	"plexus/engine/session/sessionpb"
)

type statusCommand struct{}

const showStatus = "SHOW CLUSTER STATUS"

func (c *statusCommand) run(ctx context.Context, p *program) int {
	session, err := p.connect(ctx, nil)
	if err != nil {
		return p.statusOf(ctx, err)
	}
	status := p.showStatus(ctx, session)
	if err := session.Close(ctx); err != nil && status == statusDone {
		return p.statusOf(ctx, err)
	}
	return status
}

// showStatus prints the cluster as tables, or as the document for machines.
func (p *program) showStatus(ctx context.Context, session executor) int {
	reply, err := session.Execute(ctx, showStatus)
	if err != nil {
		return p.statusOf(ctx, err)
	}
	if p.options.Format == "json" || reply.GetDisposition() != sessionpb.Disposition_COMPLETED {
		return p.print(part{text: showStatus}, showStatus, reply)
	}
	fmt.Fprint(p.out, p.statusTables(reply.GetDocument()))
	return statusDone
}

// executor is the part of a session that statements need.
type executor interface {
	Execute(ctx context.Context, text string) (*sessionpb.ExecuteReply, error)
}

// statusTables renders the document of SHOW CLUSTER STATUS for a person.
func (p *program) statusTables(status *sessionpb.Document) string {
	var b strings.Builder
	style := styleOf(p.out)
	cluster, raft := member(status, "cluster"), member(status, "raft")
	leader := field(raft, "current_leader")
	fmt.Fprintf(&b, "cluster %s   leader %s   term %s   applied %s\n",
		style.bold(field(cluster, "id")), style.bold(leader), field(raft, "term"), field(raft, "applied"))

	owned := map[string]int{}
	for _, a := range items(member(status, "schedule")) {
		owned[field(a, "owner")]++
	}
	nodes := table{head: []string{"NODE", "ROLE", "STATE", "OWNS", "INCARNATION", "ENDPOINTS"}}
	for _, m := range items(member(status, "members")) {
		name := field(m, "name")
		role := field(m, "role")
		if name == leader {
			role = "leader"
		}
		nodes.add(name, role, style.state(nodeState(m)), fmt.Sprint(owned[name]), field(m, "incarnation"), field(m, "endpoints"))
	}
	nodes.write(&b)

	domains := table{head: []string{"DOMAIN", "STATUS", "PACE"}}
	for _, d := range items(member(status, "domains")) {
		domains.add(field(d, "name"), style.state(strings.ToLower(field(d, "status"))), field(d, "pace"))
	}
	domains.write(&b)

	work := table{head: []string{"DOMAIN", "KIND", "NAME", "OWNER", "REPLICAS"}}
	for _, a := range items(member(status, "schedule")) {
		owner := field(a, "owner")
		if owner == "-" {
			owner = style.state("unassigned")
		}
		work.add(field(a, "domain"), strings.ReplaceAll(field(a, "kind"), "_", " "), field(a, "name"), owner, field(a, "replicas"))
	}
	work.write(&b)

	for _, w := range items(member(status, "warnings")) {
		fmt.Fprintf(&b, "\n%s %s\n", style.state("warning:"), scalar(w))
	}
	return b.String()
}

// nodeState is one word for what a person wants to know of a node.
func nodeState(m *sessionpb.Document) string {
	state := field(m, "availability")
	switch {
	case field(m, "terminating") == "true" && state != "unavailable": // it is not gone yet
		return "terminating"
	case field(m, "cordoned") == "true":
		return state + ", cordoned"
	}
	return state
}

// table aligns columns of text that may hold escape sequences.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write prints the table after an empty line; a table without rows is left out.
func (t *table) write(b *strings.Builder) {
	if len(t.rows) == 0 {
		return
	}
	width := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			width[i] = max(width[i], shownWidth(cell))
		}
	}
	b.WriteByte('\n')
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-shownWidth(cell)+2))
			}
		}
		b.WriteByte('\n')
	}
}

// shownWidth counts the characters of a cell without its colours.
func shownWidth(cell string) int {
	for {
		start := strings.Index(cell, "\x1b[")
		if start < 0 {
			return utf8.RuneCountInString(cell)
		}
		end := strings.IndexByte(cell[start:], 'm')
		if end < 0 {
			return utf8.RuneCountInString(cell)
		}
		cell = cell[:start] + cell[start+end+1:]
	}
}

// style colours text on a terminal and leaves it alone elsewhere.
type style bool

func styleOf(out io.Writer) style {
	file, ok := out.(interface{ Fd() uintptr })
	return style(ok && term.IsTerminal(int(file.Fd())))
}

func (s style) paint(code, text string) string {
	if !s {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string { return s.paint("1", text) }

// state colours a state by how good it is.
func (s style) state(text string) string {
	switch text {
	case "live", "available", "running":
		return s.paint("32", text)
	case "unavailable", "unassigned":
		return s.paint("31", text)
	}
	return s.paint("33", text)
}

// member returns a member of a map, nil where there is none.
func member(d *sessionpb.Document, key string) *sessionpb.Document {
	for _, m := range d.GetMap().GetMembers() {
		if m.GetKey() == key {
			return m.GetValue()
		}
	}
	return nil
}

func items(d *sessionpb.Document) []*sessionpb.Document { return d.GetList().GetItems() }

// field returns a member as text, "-" where there is none.
func field(d *sessionpb.Document, key string) string { return scalar(member(d, key)) }

// scalar returns a value as text.
func scalar(d *sessionpb.Document) string {
	if d == nil {
		return "-"
	}
	return document.Render(d)
}
