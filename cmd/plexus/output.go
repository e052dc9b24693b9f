package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"plexus/engine/session/document"
	"plexus/engine/session/sessionpb"
)

// result is the JSON form of one statement's reply.
type result struct {
	Statement   string           `json:"statement"`
	Disposition string           `json:"disposition"`
	Reference   string           `json:"execution_reference"`
	Document    json.RawMessage  `json:"document"`
	Diagnostics []diagnosticJSON `json:"diagnostics"`
}

type diagnosticJSON struct {
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Start   *uint64 `json:"start,omitempty"` // byte offsets into the statement
	End     *uint64 `json:"end,omitempty"`
	Hint    string  `json:"hint,omitempty"`
	Kind    string  `json:"kind,omitempty"`
	Entity  string  `json:"entity,omitempty"`
	Domain  string  `json:"domain,omitempty"`
}

// print writes the reply in the chosen form and returns the exit status.
func (p *program) print(statement string, reply *sessionpb.ExecuteReply) int {
	completed := reply.GetDisposition() == sessionpb.Disposition_COMPLETED
	if p.options.Format == "json" {
		line, err := json.Marshal(resultOf(statement, reply))
		if err != nil {
			fmt.Fprintf(p.err, "plexus: %v\n", err)
			return statusFailed
		}
		fmt.Fprintf(p.out, "%s\n", line)
	}
	text := strings.TrimRight(reply.GetText(), "\n")
	switch {
	case !completed:
		if text == "" {
			text = strings.TrimSpace(reply.GetDisposition().String() + " " + reply.GetDetail())
		}
		fmt.Fprintln(p.err, text)
		return statusFailed
	case p.options.Format == "text" && text != "":
		fmt.Fprintln(p.out, text)
	}
	return statusDone
}

func resultOf(statement string, reply *sessionpb.ExecuteReply) result {
	r := result{
		Statement:   head(statement, reply),
		Disposition: reply.GetDisposition().String(),
		Reference:   reply.GetExecutionReference(),
		Document:    json.RawMessage("null"),
		Diagnostics: []diagnosticJSON{},
	}
	if reply.GetDocument() != nil {
		r.Document = document.JSON(reply.GetDocument())
	}
	for _, d := range reply.GetDiagnostics() {
		one := diagnosticJSON{
			Code: d.GetCode(), Message: d.GetMessage(), Hint: d.GetHint(),
			Kind: d.GetKind(), Entity: d.GetEntity(), Domain: d.GetDomain(),
		}
		if d.GetHasSpan() {
			start, end := d.GetStart(), d.GetEnd()
			one.Start, one.End = &start, &end
		}
		r.Diagnostics = append(r.Diagnostics, one)
	}
	return r
}

// head names the statement without its content, which may hold a password.
func head(statement string, reply *sessionpb.ExecuteReply) string {
	if outcomes := reply.GetStatements(); len(outcomes) > 0 && outcomes[0].GetStatement() != "" {
		return outcomes[0].GetStatement()
	}
	words := strings.Fields(statement)
	return strings.ToUpper(strings.TrimRight(strings.Join(words[:min(2, len(words))], " "), ";"))
}
