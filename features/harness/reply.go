package harness

import (
	"bytes"
	"encoding/json"

	"plexus/engine/session/document"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// ReplyTo reads the answer to the statements as every client would show it.
func ReplyTo(statements string, r *sessionpb.ExecuteReply) Reply {
	reply := Reply{
		Disposition: r.GetDisposition().String(),
		Reference:   r.GetExecutionReference(),
		Origin:      r.GetOrigin().String(),
		Text:        r.GetText(),
		Document:    plainDocument(r.GetDocument()),
	}
	if reply.Completed() {
		return reply
	}
	for _, d := range r.GetDiagnostics() {
		one := ast.Diagnostic{Code: ast.Code(d.GetCode()), Message: d.GetMessage(), Hint: d.GetHint()}
		if d.GetHasSpan() {
			one.Span = vocab.Span{Start: int(d.GetStart()), End: int(d.GetEnd())}
		}
		reply.Refusal += one.Explain(statements)
		fault := Fault{Code: d.GetCode()}
		if d.GetEntity() != "" {
			fault.Entity = d.GetKind() + " '" + d.GetEntity() + "'"
		}
		reply.Faults = append(reply.Faults, fault)
	}
	if reply.Refusal == "" {
		reply.Refusal = reply.Disposition + " " + r.GetDetail() + " " + reply.Text
	}
	return reply
}

// plainDocument turns a document into JSON's terms.
func plainDocument(d *sessionpb.Document) any {
	if d == nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(document.JSON(d)))
	decoder.UseNumber()
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		return err.Error()
	}
	return plain
}
