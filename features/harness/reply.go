package harness

import (
	"encoding/json"
	"strconv"

	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// ReplyTo reads the answer to the statements as every client would show it.
func ReplyTo(statements string, r *sessionpb.ExecuteReply) Reply {
	reply := Reply{
		Disposition: r.GetDisposition().String(),
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
	}
	if reply.Refusal == "" {
		reply.Refusal = reply.Disposition + " " + r.GetDetail() + " " + reply.Text
	}
	return reply
}

// plainDocument turns a document into JSON's terms: maps, lists and scalars.
func plainDocument(d *sessionpb.Document) any {
	switch v := d.GetValue().(type) {
	case *sessionpb.Document_Map:
		object := map[string]any{}
		for _, member := range v.Map.GetMembers() {
			object[member.GetKey()] = plainDocument(member.GetValue())
		}
		return object
	case *sessionpb.Document_List:
		items := make([]any, 0, len(v.List.GetItems()))
		for _, item := range v.List.GetItems() {
			items = append(items, plainDocument(item))
		}
		return items
	case *sessionpb.Document_Scalar:
		return plainScalar(v.Scalar)
	default:
		return nil
	}
}

func plainScalar(s *sessionpb.Scalar) any {
	switch v := s.GetValue().(type) {
	case *sessionpb.Scalar_Text:
		return v.Text
	case *sessionpb.Scalar_Integer:
		return json.Number(strconv.FormatInt(v.Integer, 10))
	case *sessionpb.Scalar_Unsigned:
		return json.Number(strconv.FormatUint(v.Unsigned, 10))
	case *sessionpb.Scalar_Float:
		return json.Number(strconv.FormatFloat(v.Float, 'g', -1, 64))
	case *sessionpb.Scalar_Boolean:
		return v.Boolean
	default:
		return nil
	}
}
