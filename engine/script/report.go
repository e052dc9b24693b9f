package script

import (
	"encoding/json"
	"fmt"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Colours are the escape sequences of a report.
type Colours struct{ Place, Code, Note, Off string }

// NoColours leaves a report plain; Terminal is for terminals.
var (
	NoColours = Colours{}
	Terminal  = Colours{Place: "\x1b[1m", Code: "\x1b[31m", Note: "\x1b[36m", Off: "\x1b[0m"}
)

// Text renders the result for people: each finding with its place, the line it is
// in and what to do about it, then what was not checked.
func (r *Result) Text(files []File, c Colours) string {
	var b strings.Builder
	var e *ast.Excerpts
	for i, f := range r.Findings {
		if i == 0 || f.File != r.Findings[i-1].File {
			e = ast.NewExcerpts(files[f.File].Text)
		}
		b.WriteString(files[f.File].explain(f.Diagnostic, e, c))
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "%d more\n", r.More)
	}
	for _, u := range r.Unchecked {
		file := files[u.File]
		at := ast.PositionOf(file.Text, u.Span.Start)
		fmt.Fprintf(&b, "%s%s:%d:%d:%s %sunchecked:%s %s\n", c.Place, file.Name, at.Line, at.Column, c.Off, c.Note, c.Off, u.What)
	}
	return b.String()
}

// Explain renders faults of a file: place and what it is, the line it is in, and what
// to do about it.
func (f File) Explain(faults ast.Diagnostics, c Colours) string {
	var b strings.Builder
	e := ast.NewExcerpts(f.Text)
	for _, d := range faults {
		b.WriteString(f.explain(d, e, c))
	}
	return b.String()
}

func (f File) explain(d *ast.Diagnostic, e *ast.Excerpts, c Colours) string {
	at := ast.PositionOf(f.Text, d.Span.Start)
	_, excerpt, _ := strings.Cut(e.Explain(d), "\n")
	return fmt.Sprintf("%s%s:%d:%d:%s %s%s:%s %s\n%s", c.Place, f.Name, at.Line, at.Column, c.Off, c.Code, d.Code, c.Off, d.Brief(), excerpt)
}

// reportJSON is the JSON form.
type reportJSON struct {
	Findings  []findingJSON   `json:"findings"`
	More      int             `json:"more,omitempty"`
	Unchecked []uncheckedJSON `json:"unchecked"`
}

type placeJSON struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"` // in characters
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	Start     int    `json:"start"` // byte offsets into the file
	End       int    `json:"end"`
}

type findingJSON struct {
	placeJSON
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Kind    string `json:"kind,omitempty"`
	Entity  string `json:"entity,omitempty"`
}

type uncheckedJSON struct {
	placeJSON
	What string `json:"what"`
}

// JSON renders the result for programs.
func (r *Result) JSON(files []File) ([]byte, error) {
	out := reportJSON{Findings: []findingJSON{}, More: r.More, Unchecked: []uncheckedJSON{}}
	for _, f := range r.Findings {
		one := findingJSON{placeJSON: place(files[f.File], f.Span), Code: string(f.Code), Message: f.Message, Hint: f.Hint}
		if f.Entity.Kind != 0 {
			one.Kind, one.Entity = f.Entity.Kind.String(), f.Entity.Name
		}
		out.Findings = append(out.Findings, one)
	}
	for _, u := range r.Unchecked {
		out.Unchecked = append(out.Unchecked, uncheckedJSON{place(files[u.File], u.Span), u.What})
	}
	return json.Marshal(out)
}

func place(f File, span vocab.Span) placeJSON {
	start, end := ast.PositionOf(f.Text, span.Start), ast.PositionOf(f.Text, span.End)
	return placeJSON{f.Name, start.Line, start.Column, end.Line, end.Column, span.Start, span.End}
}
