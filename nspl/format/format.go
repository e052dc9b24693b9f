package format

import (
	"errors"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/render"
	"plexus/nspl/vocab"
)

// ErrChanged says that the formatted text does not hold the statements of the
// original: a defect of Plexus. Nothing of such a text must be written.
var ErrChanged = errors.New("the formatted text does not read back as the same statements")

// Text returns the canonical form of a script. The error is an *ast.Diagnostic
// where the text does not parse.
func Text(text string) (string, error) {
	statements, err := parse.Statements(text)
	if err != nil {
		return "", err
	}
	spans, _, err := parse.Split(text)
	if err != nil {
		return "", err
	}
	l := &layout{text: text}
	comments := commentsOf(text)
	for i, s := range statements {
		for len(comments) > 0 && comments[0].Start < spans[i].Start {
			l.comment(comments[0])
			comments = comments[1:]
		}
		inside := false
		for len(comments) > 0 && comments[0].Start < spans[i].End {
			inside, comments = true, comments[1:]
		}
		canonical := ""
		if !inside {
			canonical = Statement(s)
		}
		if canonical == "" {
			canonical = text[spans[i].Start:spans[i].End] + ";"
		}
		l.statement(spans[i], canonical)
	}
	for _, c := range comments {
		l.comment(c)
	}
	if l.out.Len() > 0 {
		l.out.WriteString("\n")
	}
	formatted := l.out.String()
	return formatted, same(statements, len(commentsOf(text)), formatted)
}

// Statement returns the canonical form of one statement with its semicolon, as it
// was written rather than as it is stored: IF NOT EXISTS is kept. It is empty for a
// statement that has no canonical form.
func Statement(s ast.Statement) string {
	d, ok := s.(ast.Declaration)
	if !ok {
		return render.Statement(s)
	}
	e, found := model.Lower(d)
	if found != nil || e == nil {
		return ""
	}
	text := render.Entity(e)
	if d.Declared().IfNotExists {
		text = "CREATE IF NOT EXISTS " + strings.TrimPrefix(text, "CREATE ")
	}
	return text
}

// commentsOf returns the comments of a text that lexes.
func commentsOf(text string) (list []vocab.Span) {
	for _, t := range parse.Tokens(text) {
		if t.Role == parse.RoleComment {
			list = append(list, t.Span)
		}
	}
	return list
}

// layout writes statements and comments below each other.
type layout struct {
	text string
	out  strings.Builder
	// end is where the last element ends in the text; afterStmt says that it is a
	// statement, perhaps with a comment behind it.
	end       int
	afterStmt bool
}

// statement writes a statement. A comment right above it stays there; else a blank
// line stands before it.
func (l *layout) statement(span vocab.Span, canonical string) {
	switch {
	case l.out.Len() == 0:
	case l.afterStmt || l.blank(span.Start):
		l.out.WriteString("\n\n")
	default:
		l.out.WriteString("\n")
	}
	l.out.WriteString(canonical)
	l.end, l.afterStmt = span.End, true
}

// comment writes a comment: behind a statement that ends on its line, else on a
// line of its own.
func (l *layout) comment(span vocab.Span) {
	switch {
	case l.out.Len() == 0:
	case l.afterStmt && !strings.Contains(l.text[l.end:span.Start], "\n"):
		l.out.WriteString(" ")
		l.write(span)
		return
	case l.afterStmt || l.blank(span.Start):
		l.out.WriteString("\n\n")
	default:
		l.out.WriteString("\n")
	}
	l.write(span)
	l.afterStmt = false
}

func (l *layout) write(span vocab.Span) {
	l.out.WriteString(strings.TrimRight(l.text[span.Start:span.End], " \t\r"))
	l.end = span.End
}

// blank reports whether a blank line stands between the last element and the next.
func (l *layout) blank(next int) bool {
	return strings.Count(l.text[l.end:next], "\n") > 1
}

// same checks F1 on the way out.
func same(statements []ast.Statement, comments int, formatted string) error {
	again, err := parse.Statements(formatted)
	if err != nil || len(again) != len(statements) || len(commentsOf(formatted)) != comments {
		return ErrChanged
	}
	for i, s := range statements {
		if !equal(s, again[i]) {
			return ErrChanged
		}
	}
	return nil
}

// equal compares what two statements mean: declarations by their models, because
// the canonical form writes defaults out.
func equal(a, b ast.Statement) bool {
	first, ok := a.(ast.Declaration)
	if !ok {
		return ast.Equal(a, b)
	}
	second, ok := b.(ast.Declaration)
	if !ok || first.Declared().IfNotExists != second.Declared().IfNotExists {
		return false
	}
	x, faults := model.Lower(first)
	y, others := model.Lower(second)
	if faults != nil || x == nil {
		return ast.Equal(a, b)
	}
	return others == nil && model.Equal(x, y)
}
