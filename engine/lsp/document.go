package lsp

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"plexus/engine/script"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// document is one open text with what a check found in it.
type document struct {
	uri     string
	text    string
	lines   []int // where each line begins
	checked *script.Result
}

func newDocument(uri, text string) *document {
	d := newLines(uri, strings.ToValidUTF8(text, "\uFFFD"))
	d.checked = script.Check(script.File{Name: uri, Text: d.text})
	return d
}

// position returns the position of a byte offset (L2).
func (d *document) position(offset int) position {
	offset = min(max(offset, 0), len(d.text))
	line, found := slices.BinarySearch(d.lines, offset)
	if !found {
		line--
	}
	n := 0
	for _, r := range d.text[d.lines[line]:offset] {
		n += utf16.RuneLen(r)
	}
	return position{line, n}
}

// offset returns the byte offset of a position. One behind the end of its line is
// that end.
func (d *document) offset(p position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(d.lines) {
		return len(d.text)
	}
	at := d.lines[p.Line]
	for n := 0; n < p.Character && at < len(d.text) && d.text[at] != '\n'; {
		r, size := utf8.DecodeRuneInString(d.text[at:])
		n += utf16.RuneLen(r)
		at += size
	}
	return at
}

func (d *document) span(s vocab.Span) span { return span{d.position(s.Start), d.position(s.End)} }

// domainAt returns the domain that is selected at an offset.
func (d *document) domainAt(offset int) string {
	domain := d.checked.Domain
	for i := range d.checked.Statements {
		s := &d.checked.Statements[i]
		if i == 0 || s.Parsed.Place().Start <= offset {
			domain = s.Domain
			if use, ok := s.Parsed.(*ast.Use); ok && use.Place().End <= offset {
				domain = use.Domain.Text
			}
		}
	}
	return domain
}

// definition is where an entity is declared.
type definition struct {
	document *document
	name     vocab.Span
	entity   model.Entity
}

// define finds the last declaration of an entity in a document.
func (d *document) define(domain string, kind vocab.EntityKind, name string) (found definition, ok bool) {
	for i := range d.checked.Statements {
		s := &d.checked.Statements[i]
		x, declares := s.Parsed.(ast.Declaration)
		if !declares || x.Declares() != kind || x.Declared().Name.Text != name || s.Domain != domain && kind != vocab.EntityDomain {
			continue
		}
		e, _ := model.Lower(x)
		found, ok = definition{d, x.Declared().Name.Span, e}, true
	}
	for _, a := range d.checked.Attempts { // where it would be, if its declaration parsed
		if !ok && declares(a, kind, domain) && a.Name.Text == name {
			return definition{d, a.Name.Span, nil}, true
		}
	}
	return found, ok
}

// declares reports whether a statement that does not parse was to declare an entity.
func declares(a script.Attempt, kind vocab.EntityKind, domain string) bool {
	return a.Word == "CREATE" && a.Kind == kind && a.Name.Text != "" && (a.Domain == domain || kind == vocab.EntityDomain)
}

// workspace is the names that the open documents declare in a domain: completion
// and hover see them whether or not the script around them is complete.
type workspace struct {
	documents []*document // the one that is asked about first
	domain    string
}

// Selected implements complete.Catalog.
func (w workspace) Selected() bool { return true }

// Nodes implements complete.Catalog: no cluster is known.
func (w workspace) Nodes() []string { return nil }

// Versions implements complete.Catalog: no resource is known.
func (w workspace) Versions(string) []uint64 { return nil }

// Subscriptions implements complete.Catalog.
func (w workspace) Subscriptions() (names []string) {
	for _, d := range w.documents {
		for i := range d.checked.Statements {
			if s, ok := d.checked.Statements[i].Parsed.(*ast.CreateSubscription); ok {
				names = append(names, s.Name.Text)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Names implements complete.Catalog.
func (w workspace) Names(kind vocab.EntityKind) (names []string) {
	for _, d := range w.documents {
		for i := range d.checked.Statements {
			s := &d.checked.Statements[i]
			if x, ok := s.Parsed.(ast.Declaration); ok && x.Declares() == kind && (s.Domain == w.domain || kind == vocab.EntityDomain) {
				names = append(names, x.Declared().Name.Text)
			}
		}
		for _, a := range d.checked.Attempts {
			if declares(a, kind, w.domain) {
				names = append(names, a.Name.Text)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Entity implements complete.Catalog.
func (w workspace) Entity(kind vocab.EntityKind, name string) (model.Entity, bool) {
	found, ok := w.define(kind, name)
	return found.entity, ok && found.entity != nil
}

func (w workspace) define(kind vocab.EntityKind, name string) (definition, bool) {
	for _, d := range w.documents {
		if found, ok := d.define(w.domain, kind, name); ok {
			return found, true
		}
	}
	return definition{}, false
}

// newLines is a document to count in, unchecked.
func newLines(uri, text string) *document {
	d := &document{uri: uri, text: text, lines: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	return d
}
