package check

import (
	"go/ast"
	"go/token"
	"reflect"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
)

// comments are the directives of one package.
type comments struct {
	list      []*directive
	generated map[*token.File]bool

	mu sync.Mutex // rules run side by side
}

// directive is one exempting comment.
type directive struct {
	pos    token.Pos
	at     token.Position
	rule   string // PX008 for orderfree, empty when malformed
	order  bool   // an orderfree
	reason string
	used   bool
}

const (
	allowPrefix = "//plexus:allow"
	orderPrefix = "//plexus:orderfree"
)

var directives = &analysis.Analyzer{
	Name:       "directives",
	Doc:        "directives collects the exempting comments of a package.",
	Run:        collect,
	ResultType: reflect.TypeFor[*comments](),
}

func collect(pass *analysis.Pass) (any, error) {
	c := &comments{generated: map[*token.File]bool{}}
	for _, file := range pass.Files {
		if ast.IsGenerated(file) {
			c.generated[pass.Fset.File(file.FileStart)] = true
		}
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if d := parseDirective(comment.Text); d != nil {
					d.pos, d.at = comment.Pos(), pass.Fset.Position(comment.Pos())
					c.list = append(c.list, d)
				}
			}
		}
	}
	return c, nil
}

func parseDirective(text string) *directive {
	// A further comment on the line is no reason.
	if i := strings.LastIndex(text, "//"); i > 0 {
		text = text[:i]
	}
	if rest, ok := strings.CutPrefix(text, allowPrefix); ok {
		name, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
		return &directive{rule: name, reason: strings.TrimSpace(reason)}
	}
	if rest, ok := strings.CutPrefix(text, orderPrefix); ok {
		return &directive{rule: "PX008", order: true, reason: strings.TrimSpace(rest)}
	}
	return nil
}

// exempt reports whether a directive on the line or on the one above exempts a
// finding, and marks it used.
func (c *comments) exempt(at token.Position, rule string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.list {
		if d.rule == rule && d.reason != "" && d.at.Filename == at.Filename && (d.at.Line == at.Line || d.at.Line == at.Line-1) {
			d.used = true
			return true
		}
	}
	return false
}

// Exemptions watches the exemptions: each gives a reason, stands in a package
// that may have some, and exempts something. Its result is their number in a
// package, orderfree loops not counted.
var Exemptions = &analysis.Analyzer{
	Name:       "PX000",
	Doc:        "PX000 reports exemptions without reason, without effect, or in a package that allow.txt does not name.",
	Requires:   append([]*analysis.Analyzer{directives}, ruleAnalyzers...),
	Run:        watch,
	ResultType: reflect.TypeFor[int](),
}

func watch(pass *analysis.Pass) (any, error) {
	count := 0
	for _, d := range pass.ResultOf[directives].(*comments).list {
		known := d.order
		for _, r := range rules {
			known = known || r.name == d.rule
		}
		switch {
		case !known:
			pass.Reportf(d.pos, "PX000: exemption from an unknown rule %q", d.rule)
		case d.reason == "":
			pass.Reportf(d.pos, "PX000: exemption without a reason")
		case !d.used:
			pass.Reportf(d.pos, "PX000: exemption from %s without a finding", d.rule)
		case d.order:
		case !Allowed.has(pass.Pkg.Path()):
			pass.Reportf(d.pos, "PX000: no exemptions in %s: allow.txt does not name it", pass.Pkg.Path())
		default:
			count++
		}
	}
	return count, nil
}
