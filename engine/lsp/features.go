package lsp

import (
	"fmt"
	"slices"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/complete"
	"plexus/nspl/grammar"
	"plexus/nspl/parse"
	"plexus/nspl/render"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// catalog is what the open documents declare where an offset of one stands.
func (s *Server) catalog(d *document, offset int) workspace {
	list := []*document{d}
	for _, other := range s.documents {
		if other != d {
			list = append(list, other)
		}
	}
	return workspace{list, d.domainAt(offset)}
}

// itemKinds are the kinds of the protocol.
var itemKinds = [...]int{
	complete.KindReference: 18, complete.KindField: 5, complete.KindKeyword: 14, complete.KindFunction: 3, complete.KindUDF: 3,
	complete.KindPunctuation: 24, complete.KindLiteral: 12, complete.KindName: 1, complete.KindLocalPath: 17,
}

func (s *Server) completion(d *document, offset int) any {
	list := completionList{Items: []completionItem{}}
	for i, one := range complete.At(d.text, offset, s.catalog(d, offset)).Suggestions {
		if one.Edit.Text == "" || one.Kind == complete.KindLocalPath {
			continue // only a person can think of it
		}
		edit := textEdit{d.span(vocab.Span{Start: one.Edit.Start, End: one.Edit.End}), one.Edit.Text}
		list.Items = append(list.Items, completionItem{
			one.Display, itemKinds[one.Kind], one.Detail, fmt.Sprintf("%05d", i), strings.TrimLeft(one.Edit.Text, " `"), edit,
		})
	}
	return list
}

// tokenAt returns the token that an offset stands in, or right behind.
func (d *document) tokenAt(offset int) (token parse.Token, before string, ok bool) {
	for _, t := range parse.Tokens(d.text) {
		if t.Span.Start <= offset && offset <= t.Span.End && t.Role != parse.RoleMark && t.Role != parse.RoleComment {
			start, _ := parse.Tail(d.text[:t.Span.Start])
			return t, d.text[min(start, t.Span.Start):t.Span.Start], true
		}
	}
	return parse.Token{}, "", false
}

// nameOf is what a token means as a name.
func nameOf(text string) string { return strings.ToLower(strings.Trim(text, "`")) }

// reference returns the entity that the token at an offset names.
func (s *Server) reference(d *document, t parse.Token, before string) (definition, bool) {
	w := s.catalog(d, t.Span.Start)
	name := nameOf(d.text[t.Span.Start:t.Span.End])
	r := parse.Expected(before)
	if r.At < len(before) {
		return definition{}, false
	}
	for _, e := range r.Expected {
		if e.Class != parse.ClassReference {
			continue
		}
		for _, kind := range e.To.Kinds {
			if found, ok := w.define(kind, name); ok {
				return found, true
			}
		}
	}
	for i := range d.checked.Statements { // where it is declared
		if x, ok := d.checked.Statements[i].Parsed.(ast.Declaration); ok && x.Declared().Name.Span == t.Span {
			return d.define(d.checked.Statements[i].Domain, x.Declares(), name)
		}
	}
	return definition{}, false
}

// field returns where the schema of a field declares it.
func (s *Server) field(d *document, t parse.Token) (location, string, bool) {
	w := s.catalog(d, t.Span.Start)
	name := nameOf(d.text[t.Span.Start:t.Span.End])
	at := complete.At(d.text[:t.Span.End], t.Span.End, w)
	detail, field := "", false
	for _, one := range at.Suggestions {
		if one.Kind == complete.KindField && (one.Display == name || strings.HasSuffix(one.Display, "."+name)) {
			detail, field = one.Detail, true
		}
	}
	if !field {
		return location{}, "", false
	}
	for _, other := range w.documents {
		for i := range other.checked.Statements {
			x, ok := other.checked.Statements[i].Parsed.(*ast.CreateSchema)
			if !ok {
				continue
			}
			for _, f := range x.Fields {
				if f.Name.Text == name && strings.HasPrefix(detail, f.Type.String()) && s.used(d, t, w, x.Name.Text) {
					return location{other.uri, other.span(f.Name.Span)}, detail, true
				}
			}
		}
	}
	return location{}, detail, true
}

// used reports whether the statement around a token reads a schema: itself, or
// through what it refers to.
func (s *Server) used(d *document, t parse.Token, w workspace, schema string) bool {
	for i := range d.checked.Statements {
		x := d.checked.Statements[i].Parsed
		if x.Place().Start > t.Span.Start || t.Span.End > x.Place().End {
			continue
		}
		declared, ok := x.(ast.Declaration)
		if !ok {
			return true
		}
		found, ok := w.define(declared.Declares(), declared.Declared().Name.Text)
		if !ok || found.entity == nil {
			return true
		}
		for _, ref := range found.entity.Refs() {
			if ref.Kind == vocab.EntitySchema && ref.Name == schema {
				return true
			}
			through, ok := w.define(ref.Kind, ref.Name)
			if !ok || through.entity == nil {
				continue
			}
			for _, inner := range through.entity.Refs() {
				if inner.Kind == vocab.EntitySchema && inner.Name == schema {
					return true
				}
			}
		}
		return false
	}
	return true // the statement is not complete yet
}

func (s *Server) definition(d *document, offset int) any {
	t, before, ok := d.tokenAt(offset)
	if !ok || t.Role != parse.RoleName {
		return []location{}
	}
	if found, ok := s.reference(d, t, before); ok {
		return []location{{found.document.uri, found.document.span(found.name)}}
	}
	if at, _, ok := s.field(d, t); ok && at.URI != "" {
		return []location{at}
	}
	return []location{}
}

func (s *Server) hover(d *document, offset int) any {
	t, before, ok := d.tokenAt(offset)
	if !ok {
		return nil
	}
	text := d.text[t.Span.Start:t.Span.End]
	value := ""
	switch t.Role {
	case parse.RoleFunction:
		if signature := typed.Signature(ast.CanonicalFunction(strings.ToLower(text))); signature != "" {
			value = code(signature)
		}
	case parse.RoleKeyword:
		value = s.form(d, t)
	case parse.RoleName:
		if found, ok := s.reference(d, t, before); ok && found.entity != nil {
			value = code(render.Entity(found.entity))
		} else if _, detail, ok := s.field(d, t); ok {
			value = code(text + " " + detail)
		}
	}
	if value == "" {
		return nil
	}
	h := hover{Range: d.span(t.Span)}
	h.Contents.Kind, h.Contents.Value = "markdown", value
	return h
}

func code(text string) string { return "```nspl\n" + strings.TrimRight(text, "\n") + "\n```" }

// form returns the form of the statement that a keyword stands in.
func (s *Server) form(d *document, t parse.Token) string {
	start, _ := parse.Tail(d.text[:t.Span.Start])
	var words []string
	for _, token := range parse.Tokens(d.text) {
		if token.Span.Start < start || token.Role == parse.RoleComment {
			continue
		}
		if token.Role != parse.RoleKeyword {
			break
		}
		words = append(words, d.text[token.Span.Start:token.Span.End])
	}
	for ; len(words) > 0; words = words[:len(words)-1] {
		if forms := grammar.Forms(strings.Join(words, " ")); len(forms) > 0 {
			texts := make([]string, len(forms))
			for i, r := range forms[:min(len(forms), 3)] {
				texts[i] = r.Text
			}
			return "```ebnf\n" + strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n") + "\n```"
		}
	}
	return ""
}
