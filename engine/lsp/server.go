package lsp

import (
	"encoding/json"
	"slices"

	"plexus/nspl/format"
)

// Server answers the messages of one editor. Its methods are called by one task.
type Server struct {
	documents   []*document // the one that changed last first
	initialized bool
	shutdown    bool
}

// NewServer returns a server without documents.
func NewServer() *Server { return &Server{} }

// Handle takes one message and returns the answers and notifications it causes.
// When the editor asks the server to exit, done is true and clean tells whether it
// announced that.
func (s *Server) Handle(body []byte) (out [][]byte, done, clean bool) {
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return [][]byte{encode(failure{"2.0", json.RawMessage("null"), rpcError{parseError, "the message is no JSON-RPC"}})}, false, false
	}
	if m.Method == "exit" && m.ID == nil {
		return nil, true, s.shutdown
	}
	if m.ID == nil { // a notification, or an answer to nothing
		return s.notify(&m), false, false
	}
	result, failed := s.request(&m)
	if failed != nil {
		return [][]byte{encode(failure{"2.0", *m.ID, *failed})}, false, false
	}
	return [][]byte{encode(answer{"2.0", *m.ID, result})}, false, false
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil { // nothing of this package fails to encode, but an id of the editor may
		b, _ = json.Marshal(failure{"2.0", json.RawMessage("null"), rpcError{invalidRequest, "the answer cannot be encoded"}})
	}
	return b
}

// request answers a request.
func (s *Server) request(m *message) (result any, failed *rpcError) {
	switch {
	case m.Method == "initialize":
		s.initialized = true
		return capabilities, nil
	case !s.initialized:
		return nil, &rpcError{notInitialized, "initialize comes first"}
	case s.shutdown:
		return nil, &rpcError{invalidRequest, "the server shuts down"}
	case m.Method == "shutdown":
		s.shutdown = true
		return nil, nil
	}
	answer, known := map[string]func(*document, int) any{
		"textDocument/completion": s.completion,
		"textDocument/hover":      s.hover,
		"textDocument/definition": s.definition,
		"textDocument/formatting": func(d *document, _ int) any { return s.formatting(d) },
	}[m.Method]
	if !known {
		return nil, &rpcError{methodNotFound, "no method " + m.Method}
	}
	var p documentParams
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return nil, &rpcError{invalidParams, "the parameters of " + m.Method + " do not decode"}
	}
	d := s.find(p.TextDocument.URI)
	if d == nil {
		return nil, &rpcError{invalidParams, "document " + p.TextDocument.URI + " is not open"}
	}
	return answer(d, d.offset(p.Position)), nil
}

// notify takes a notification. What does not decode, or is not known, changes
// nothing.
func (s *Server) notify(m *message) [][]byte {
	var p documentParams
	if !s.initialized || json.Unmarshal(m.Params, &p) != nil {
		return nil
	}
	uri := p.TextDocument.URI
	switch m.Method {
	case "textDocument/didOpen":
		return s.open(newDocument(uri, p.TextDocument.Text))
	case "textDocument/didChange":
		d := s.find(uri)
		if d == nil {
			return nil
		}
		text := d.text
		for i, change := range p.ContentChanges {
			if i > 0 {
				d = newLines(uri, text)
			}
			if change.Range == nil {
				text = change.Text
				continue
			}
			start := d.offset(change.Range.Start)
			text = text[:start] + change.Text + text[max(start, d.offset(change.Range.End)):]
		}
		return s.open(newDocument(uri, text))
	case "textDocument/didClose":
		s.documents = slices.DeleteFunc(s.documents, func(d *document) bool { return d.uri == uri })
		return [][]byte{encode(notification{"2.0", "textDocument/publishDiagnostics", published{uri, []diagnostic{}}})}
	}
	return nil
}

func (s *Server) find(uri string) *document {
	for _, d := range s.documents {
		if d.uri == uri {
			return d
		}
	}
	return nil
}

// open puts a document in the place of an older one and publishes what is wrong
// with it.
func (s *Server) open(d *document) [][]byte {
	s.documents = slices.DeleteFunc(s.documents, func(old *document) bool { return old.uri == d.uri })
	s.documents = slices.Insert(s.documents, 0, d)
	list := []diagnostic{}
	for _, f := range d.checked.Findings {
		text := f.Brief()
		if f.Hint != "" {
			text += "\n" + f.Hint
		}
		list = append(list, diagnostic{d.span(f.Span), severityError, string(f.Code), "plexus", text})
	}
	for _, u := range d.checked.Unchecked {
		list = append(list, diagnostic{d.span(u.Span), severityInformation, "unchecked", "plexus", "not checked here: " + u.What})
	}
	return [][]byte{encode(notification{"2.0", "textDocument/publishDiagnostics", published{d.uri, list}})}
}

// formatting returns the edit that writes the document in its canonical form, and
// none for a text that does not parse.
func (s *Server) formatting(d *document) any {
	formatted, err := format.Text(d.text)
	if err != nil || formatted == d.text {
		return []textEdit{}
	}
	return []textEdit{{span{position{}, d.position(len(d.text))}, formatted}}
}

// capabilities is the answer to initialize.
var capabilities = struct {
	Capabilities any `json:"capabilities"`
	Info         any `json:"serverInfo"`
}{
	struct {
		Encoding   string `json:"positionEncoding"`
		Sync       any    `json:"textDocumentSync"`
		Completion any    `json:"completionProvider"`
		Hover      bool   `json:"hoverProvider"`
		Definition bool   `json:"definitionProvider"`
		Formatting bool   `json:"documentFormattingProvider"`
	}{
		"utf-16",
		struct {
			OpenClose bool `json:"openClose"`
			Change    int  `json:"change"` // incremental
		}{true, 2},
		struct {
			Triggers []string `json:"triggerCharacters"`
		}{[]string{" ", ".", ":", "(", "`", ","}},
		true, true, true,
	},
	struct {
		Name string `json:"name"`
	}{"plexus"},
}
