package session

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"plexus/engine/catalog"
	"plexus/engine/session/document"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// Codes of refusals that only a session makes.
const (
	codeNotQueueable   ast.Code = "tx.not_queueable"
	codeTxState        ast.Code = "tx.state"
	codeTxLimit        ast.Code = "tx.limit"
	codeTxStale        ast.Code = "tx.stale"
	codeUnauthorized   ast.Code = "unauthorized"
	codeSessionRefused ast.Code = "session.refused"
	codeDomainMissing  ast.Code = "domain.missing"
)

// diagnostics returns what an error of the language holds.
func diagnostics(err error) ast.Diagnostics {
	var list ast.Diagnostics
	var one *ast.Diagnostic
	switch {
	case errors.As(err, &list):
		return list
	case errors.As(err, &one):
		return ast.Diagnostics{one}
	}
	return ast.Diagnostics{{Code: ast.CodeInvalid, Message: err.Error()}}
}

// failed is the reply to a statement with faults. Spans point into the text of
// this request.
func (q *request) failed(found ast.Diagnostics) *sessionpb.ExecuteReply {
	return failedIn(q.text, q.domain, found)
}

func (q *request) fail(code ast.Code, at ast.Statement, format string, args ...any) *sessionpb.ExecuteReply {
	return q.failed(ast.Diagnostics{ast.Errorf(code, at.Place(), format, args...)})
}

func failedIn(text, domain string, found ast.Diagnostics) *sessionpb.ExecuteReply {
	reply := &sessionpb.ExecuteReply{
		Origin: sessionpb.Origin_EXECUTED, Disposition: sessionpb.Disposition_FAILED,
		Text: strings.TrimSuffix(found.Explain(text), "\n"),
	}
	for _, d := range found {
		one := &sessionpb.Diagnostic{Code: string(d.Code), Message: d.Message, Hint: d.Hint, Domain: domain}
		if d.Span != (vocab.Span{}) {
			one.HasSpan, one.Start, one.End = true, uint64(d.Span.Start), uint64(d.Span.End)
		}
		if d.Entity.Kind != 0 {
			one.Kind, one.Entity = d.Entity.Kind.String(), d.Entity.Name
		}
		reply.Diagnostics = append(reply.Diagnostics, one)
	}
	return reply
}

// refused is the reply to a command that the catalog refused.
func refused(r *catalog.Refusal) *sessionpb.ExecuteReply {
	return failedIn("", "", ast.Diagnostics{{Code: ast.Code(r.Code), Message: r.Message}})
}

// completed is the reply to a statement that changed nothing persistent.
func completed(statement ast.Statement, v document.Value) *sessionpb.ExecuteReply {
	text := document.Render(v)
	return &sessionpb.ExecuteReply{
		Origin: sessionpb.Origin_EXECUTED, Disposition: sessionpb.Disposition_COMPLETED,
		Document: v, Text: text,
		Statements: []*sessionpb.StatementOutcome{{Statement: ast.Words(statement), Text: text}},
	}
}

// line is a document of one reported line.
func line(format string, args ...any) document.Value {
	return new(document.Map).Set(document.Bare, document.Text(fmt.Sprintf(format, args...))).Value()
}

// facts adds reported lines, one for each fact.
func facts(m *document.Map, text string) {
	for one := range strings.SplitSeq(text, "\n") {
		m.Set(document.Bare, document.Text(one))
	}
}

func isBegin(statement ast.Statement) bool {
	_, ok := statement.(*ast.Begin)
	return ok
}

var errReference = errors.New("not a version 7 UUID")

// parseReference reads the 36-character form of a version 7 UUID.
func parseReference(text string) (u primitives.UUID, err error) {
	digits := strings.ReplaceAll(text, "-", "")
	if len(text) != 36 || len(digits) != 32 {
		return u, errReference
	}
	if _, err := hex.Decode(u[:], []byte(digits)); err != nil || u.String() != strings.ToLower(text) || u[6]>>4 != 7 {
		return primitives.UUID{}, errReference
	}
	return u, nil
}

// referenceTime is when a version 7 UUID was made, in Unix nanoseconds.
func referenceTime(u primitives.UUID) (at int64) {
	for _, b := range u[:6] {
		at = at<<8 | int64(b)
	}
	return at * 1e6
}
