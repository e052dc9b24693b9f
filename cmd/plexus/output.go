package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"plexus/engine/session/document"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
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

// print writes the reply to one statement of a text in the chosen form and
// returns the exit status.
func (p *program) print(statement part, text string, reply *sessionpb.ExecuteReply) int {
	if p.options.Format == "json" {
		p.printJSON(resultOf(statement.text, reply))
	}
	shown := strings.TrimRight(reply.GetText(), "\n")
	if reply.GetDisposition() == sessionpb.Disposition_COMPLETED {
		if p.options.Format == "text" && shown != "" {
			fmt.Fprintln(p.out, shown)
		}
		return statusDone
	}
	if found := placed(reply, statement.start); found != nil {
		shown = strings.TrimRight(found.Explain(text), "\n")
	}
	if shown == "" {
		shown = strings.TrimSpace(reply.GetDisposition().String() + " " + reply.GetDetail())
	}
	fmt.Fprintln(p.err, shown)
	return statusFailed
}

func (p *program) printJSON(r result) {
	line, err := json.Marshal(r)
	if err != nil {
		fmt.Fprintf(p.err, "plexus: %v\n", err)
		return
	}
	fmt.Fprintf(p.out, "%s\n", line)
}

// placed returns the faults of a reply with their places moved from the statement
// to the text that it begins in at an offset, so that lines count from the start of
// a file; nil where the reply gives no place.
func placed(reply *sessionpb.ExecuteReply, start int) ast.Diagnostics {
	var found ast.Diagnostics
	for _, d := range reply.GetDiagnostics() {
		if !d.GetHasSpan() {
			return nil
		}
		one := ast.Errorf(ast.Code(d.GetCode()), vocab.Span{Start: start + int(d.GetStart()), End: start + int(d.GetEnd())}, "%s", d.GetMessage())
		one.Hint = d.GetHint()
		found = append(found, one)
	}
	return found
}

// refusal is the JSON form of a text that does not parse; it was not sent.
func refusal(err error) result {
	r := result{
		Disposition: sessionpb.Disposition_FAILED.String(),
		Document:    json.RawMessage("null"),
		Diagnostics: []diagnosticJSON{},
	}
	var many ast.Diagnostics
	var one *ast.Diagnostic
	if errors.As(err, &one) && !errors.As(err, &many) {
		many = ast.Diagnostics{one}
	}
	for _, d := range many {
		j := diagnosticJSON{Code: string(d.Code), Message: d.Message, Hint: d.Hint}
		if d.Span != (vocab.Span{}) {
			start, end := uint64(d.Span.Start), uint64(d.Span.End)
			j.Start, j.End = &start, &end
		}
		r.Diagnostics = append(r.Diagnostics, j)
	}
	return r
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
