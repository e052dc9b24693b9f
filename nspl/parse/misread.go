package parse

import (
	"slices"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// misreadHint proposes something for what other languages write in a way that
// reads as something else here, and for a part that is plainly missing. It comes
// before the proposals that only know what was expected.
func (p *parser) misreadHint() string {
	for _, hint := range []func(*parser) string{
		(*parser).quoteHint, (*parser).fieldListHint, (*parser).configHint, (*parser).callHint, (*parser).missingHint, (*parser).numberHint,
		(*parser).queryHint, (*parser).boundHint, (*parser).earlierHint, (*parser).scopeHint,
	} {
		if h := hint(p); h != "" {
			return h
		}
	}
	return ""
}

// back reports whether the keywords stand right before the furthest token.
func (p *parser) back(words ...string) bool {
	first := p.furthest - len(words)
	if first < 0 {
		return false
	}
	for i, word := range words {
		if !p.is(first+i, word) {
			return false
		}
	}
	return true
}

// here reports whether one of the keywords is the furthest token.
func (p *parser) here(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return p.is(p.furthest, word) })
}

// adjoins reports whether nothing is between the furthest token and the one before,
// which is of a kind.
func (p *parser) adjoins(kind tokenKind) bool {
	return p.furthest > 0 && p.tokens[p.furthest-1].kind == kind && p.tokens[p.furthest-1].end == p.tokens[p.furthest].start
}

// quoteHint: a quote is not doubled inside of a string.
func (p *parser) quoteHint() string {
	if p.adjoins(tokenString) && p.tokens[p.furthest].kind == tokenString {
		return `a quote stands inside of the other quotes, "it's", or between dollars, $$it's$$`
	}
	return ""
}

// fieldListHint is about the fields of a schema.
func (p *parser) fieldListHint() string {
	_, schema := p.built.(*ast.CreateSchema)
	_, wire := p.built.(*ast.CreateWireSchema)
	_, alters := p.built.(*ast.AlterWireSchema)
	if p.here("DEFAULT") && p.expects("OPTIONAL") {
		return "there is no DEFAULT: what may be absent is OPTIONAL"
	}
	if p.here("SENSITIVE") && (wire || alters && p.expects("OPTIONAL")) {
		return "SENSITIVE belongs to the field of the SCHEMA, not to that of the wire"
	}
	if !schema && !wire || !p.expects(")") || !p.expects(",") {
		return ""
	}
	t := p.tokens[p.furthest]
	word := strings.ToUpper(p.text(p.furthest))
	switch {
	case t.kind == tokenEnd || t.kind == ';':
		return ") is missing: it ends the fields"
	case t.kind == '(':
		return "no length stands behind a type"
	case t.kind != tokenWord && t.kind != tokenQuoted:
		return "a comma separates the fields, and ) ends them"
	case slices.Contains([]string{"NOT", "NULL", "REQUIRED", "NULLABLE", "OPTIONAL", "SENSITIVE"}, word):
		return ""
	case slices.Contains([]string{"PRIMARY", "UNIQUE", "KEY", "REFERENCES", "CHECK", "COMMENT", "AUTO_INCREMENT", "GENERATED", "COLLATE"}, word):
		return "a field has a name and a type, and may be OPTIONAL or SENSITIVE: it has no " + word
	case vocab.Nearest(word, p.expectedTexts()) != "":
		return ""
	}
	return "a comma is missing before this field"
}

// configHint is about the entries of CONFIG. It shows nothing of a value.
func (p *parser) configHint() string {
	if !p.secret || !p.expects("}") || !p.expects(",") {
		return ""
	}
	switch t := p.tokens[p.furthest]; {
	case p.adjoins(tokenNumber) && t.kind == tokenWord:
		return "a number has no unit here, for example 'timeout_ms' = 2500; other values stand in quotes"
	case (p.adjoins(tokenWord) || p.adjoins(tokenNumber)) && t.kind != tokenString && t.kind != tokenEnd && t.kind != ';' && t.kind != ')':
		return "a value with such characters stands in quotes, for example 'addr' = 'nats://localhost:4222'"
	}
	return ""
}

// callHint is about what stands between the parentheses of a call.
func (p *parser) callHint() string {
	if p.back("IS", "NOT") && p.here("NULL") {
		return "NOT is_null(x) tells whether x is there"
	}
	if !p.expects(")") || !p.expects("operator") && !p.expects("expression") {
		return ""
	}
	called := p.called()
	switch {
	case p.here("DISTINCT") && called == "COUNT":
		return "APPROX_COUNT_DISTINCT(x, 12) counts how many values differ"
	case p.here("DISTINCT"):
		return "an aggregate takes every row: there is no DISTINCT in it"
	case called == "IF" && p.text(p.furthest) == ",":
		return "IF a THEN 'x' ELSE 'y' END"
	case p.here("FROM") && called == "EXTRACT":
		return "date_part('hour', t) reads a part of a time"
	case (p.here("FROM") || p.here("FOR")) && (called == "SUBSTRING" || called == "SUBSTR"):
		return "substr(x, 1, 3) takes a part of a text"
	case (p.here("FROM") || p.here("FOR") || p.here("USING")) && called != "":
		return "the arguments of a call are separated by commas"
	}
	return ""
}

// called returns the word before the parenthesis that is open at the furthest token.
func (p *parser) called() string {
	depth := 0
	for at := p.furthest - 1; at > 0 && p.tokens[at].kind != ';'; at-- {
		switch p.tokens[at].kind {
		case ')':
			depth++
		case '(':
			if depth--; depth < 0 {
				if p.tokens[at-1].kind == tokenWord {
					return strings.ToUpper(p.text(at - 1))
				}
				return ""
			}
		}
	}
	return ""
}

// clauseWords begin what may follow an expression or a list of assignments.
var clauseWords = []string{"WHERE", "SET", "INHERIT", "FLUSH", "ON", "UNBRANCHED", "BRANCHED", "TO", "FROM", "MODE", "ENCODE", "MAX", "WIDTH", "STEP", "FILTER",
	"DEDUPLICATE", "USING", "BATCH", "INVOKE", "VALUES", "COLLECT"}

// missingHint names the word that is missing before the furthest token.
func (p *parser) missingHint() string {
	t := p.tokens[p.furthest]
	clause := p.here(clauseWords...)
	ends := clause || t.kind == tokenEnd || strings.IndexByte(";,)]}", byte(t.kind)) >= 0
	switch {
	case p.expects("END") && p.expects("operator") && ends:
		return "END is missing: it ends CASE and IF"
	case p.expects("SET") && p.furthest > 2 && p.is(p.furthest-3, "SEND") && p.is(p.furthest-2, "TO"):
		return "SET is missing: SEND TO relay SET reason = error.message"
	case p.expects("IGNORE") && p.expects("LOG") && p.expects("SEND TO") && p.here("DROP", "SKIP", "DISCARD"):
		return "ON MESSAGE ERROR IGNORE drops the row, LOG logs it, SEND TO relay SET … keeps it"
	case p.expects("TO") && p.here("BRANCHED", "UNBRANCHED", "SET", "INHERIT", "FLUSH") && p.routed() && !p.toFollows():
		return "TO and a relay are missing: they begin a route"
	case p.expects("operator") && p.expects(")") && (clause || t.kind == ';' || t.kind == tokenEnd):
		return ") is missing: a parenthesis is open here"
	case p.commaBefore(clause) && p.here("SET"):
		return "one SET has all assignments: SET a = 1, b = 2"
	case p.commaBefore(clause):
		return "no comma stands behind the last assignment"
	case t.kind == ',' && p.expects("EXCEPT"):
		return "no comma stands behind INHERIT ALL: INHERIT ALL SET a = 1"
	}
	return p.assignmentHint()
}

// assignmentHint is about an assignment that nothing leads in, and about a clause
// that was taken for an operand.
func (p *parser) assignmentHint() string {
	f := p.furthest
	if t := p.tokens[f]; t.kind == tokenWord && p.tokens[f+1].kind == '=' && !p.here(clauseWords...) && !p.secret {
		switch {
		case p.expects("SET"):
			return "SET stands before the assignments"
		case p.expects("operator") && p.expects(",") && !p.expects(")") && !p.expects("]") && !p.expects("COLLECT FOR"):
			return "a comma is missing before this assignment"
		}
	}
	if p.expects("operator") && p.back("UNBRANCHED") && p.expects("UNBRANCHED") {
		return "UNBRANCHED was taken for a name: something is missing before it"
	}
	return ""
}

// routed reports whether the statement has routes that begin with TO.
func (p *parser) routed() bool {
	switch p.built.(type) {
	case nil, *ast.CreateEmitter:
		return false
	case ast.Declaration:
		return p.expected[len(p.expected)-1].Text == "TO" && (p.expects("USING MATERIALIZED STATE") || p.expects("FILTER WHERE"))
	}
	return false
}

// toFollows reports whether TO stands in the rest of the statement.
func (p *parser) toFollows() bool {
	for at := p.furthest; p.tokens[at].kind != ';' && p.tokens[at].kind != tokenEnd; at++ {
		if p.is(at, "TO") && !p.is(at-1, "SEND") {
			return true
		}
	}
	return false
}

// commaBefore reports whether a comma stands where no assignment follows it: at the
// furthest token, or where its first word was taken for the name of a field.
func (p *parser) commaBefore(clause bool) bool {
	f := p.furthest
	switch {
	case p.expects("=") && len(p.expected) <= 2 && f > 1 && p.text(f-2) == ",":
		return slices.ContainsFunc(clauseWords, func(word string) bool { return p.is(f-1, word) })
	case p.expects("name") && len(p.expected) == 1 && f > 0 && p.text(f-1) == ",":
		return p.expected[0].Class == ClassField && (clause || p.tokens[f].kind == ';' || p.tokens[f].kind == tokenEnd)
	}
	return false
}

// spans are the units of a duration, and how date_add calls them.
var spans = map[string]string{"NS": "nanosecond", "US": "microsecond", "MS": "millisecond", "S": "second", "M": "minute", "H": "hour", "D": "day"}

// sizes are the units of a byte size.
var sizes = []string{"B", "KB", "KIB", "MB", "MIB", "GB", "GIB", "TB", "TIB"}

// numberHint is about what stands right behind a number, and about INTERVAL.
func (p *parser) numberHint() string {
	if p.furthest == 0 || !p.expects("operator") {
		return ""
	}
	if p.back("INTERVAL") {
		return "date_add('minute', -5, now()) moves a time: there is no INTERVAL"
	}
	if p.adjoins(tokenNumber) && p.text(p.furthest) == "." {
		return "digits stand on both sides of the point of a number: 1.0"
	}
	if !p.adjoins(tokenNumber) || p.tokens[p.furthest].kind != tokenWord {
		return ""
	}
	word := strings.ToUpper(p.text(p.furthest))
	if unit := spans[word]; unit != "" {
		return "a duration is no value: date_add('" + unit + "', -" + p.text(p.furthest-1) + ", now()) moves a time"
	}
	if word[0] == 'E' && strings.Trim(word[1:], "0123456789") == "" {
		return "a number has no exponent: 1e3 is written 1000.0"
	}
	if slices.Contains(sizes, word) {
		return "a byte size is no value: a plain number of bytes stands here"
	}
	return ""
}

// queryHint is about the clauses of a query.
func (p *parser) queryHint() string {
	next := p.furthest + 1
	switch {
	case p.here("LIMIT", "OFFSET", "FETCH"):
		return "there is no " + strings.ToUpper(p.text(p.furthest)) + ": all records are taken"
	case p.here("ORDER") && p.is(next, "BY") && !p.expects("BY"):
		return "there is no ORDER BY: a REORDERER puts records in order"
	case p.here("GROUP") && p.is(next, "BY"):
		return "BRANCHED BY branch keeps groups apart: there is no GROUP BY"
	case p.here("JOIN"), p.here("LEFT", "RIGHT", "INNER", "OUTER", "FULL", "CROSS") && (p.is(next, "JOIN") || p.is(next+1, "JOIN")):
		return "a CORRELATOR joins the records of two relays"
	case p.back("CREATE") && p.here("TABLE"):
		return "SCHEMA has the columns of a table, RELAY its records: CREATE SCHEMA, then CREATE RELAY"
	case p.back("CREATE") && (p.here("VIEW") || p.here("MATERIALIZED") && p.is(next, "VIEW")):
		return "a JUNCTION computes records of others, a WINDOW PROCESSOR aggregates them"
	case p.back("CREATE") && p.here("INDEX", "TRIGGER", "PROCEDURE", "SEQUENCE"):
		return "there is no " + strings.ToUpper(p.text(p.furthest)) + " here"
	case p.back("DELETE") && p.here("FROM"):
		return "no statement deletes records"
	case (p.furthest == 0 || p.tokens[p.furthest-1].kind == ';') && p.here("UPDATE", "TRUNCATE"):
		if _, _, kind := p.kindAt(next); !kind {
			return "no statement changes records: ALTER changes an entity"
		}
	case p.back("ADD") && p.is(p.first(), "ALTER") && len(p.expected) == 1 && p.expects("FIELD") && !p.here("COLUMN", "COLUMNS"):
		return "ADD FIELD name type adds a field"
	case len(p.expected) == 1 && p.expects("FIELD") && p.is(p.first(), "ALTER") && !p.here("COLUMN", "COLUMNS"):
		return strings.ToUpper(p.text(p.furthest-1)) + " FIELD and the name of the field"
	}
	return ""
}

// boundHint shows the bound of a window that is missing.
func (p *parser) boundHint() string {
	width, step := p.back("WIDTH"), p.back("STEP")
	switch {
	case width && p.expects("duration"):
		return "for example WIDTH 5m DURATION, or WIDTH 100 MESSAGES"
	case step && p.expects("duration"):
		return "for example STEP 1m DURATION"
	case step && p.expects("whole number"):
		return "for example STEP 10 MESSAGES"
	case p.expects("STEP") && p.back("DURATION"):
		return "STEP follows WIDTH, for example WIDTH 5m DURATION STEP 1m DURATION"
	case p.expects("STEP") && p.back("MESSAGES"):
		return "STEP follows WIDTH, for example WIDTH 100 MESSAGES STEP 10 MESSAGES"
	}
	return ""
}

// earlier are clauses that have to stand, and clauses that follow them.
var earlier = []struct {
	missing, called string
	found           []string
}{
	{"FLUSH EACH", "FLUSH IMMEDIATE, or FLUSH EACH 200ms MAX BATCH SIZE 1MiB,", []string{"ON"}},
	{"BRANCHED BY", "BRANCHED BY branch or UNBRANCHED", []string{"CAPACITY", "WITH"}},
	{"WIDTH", "WIDTH 5m DURATION", []string{"STEP", "BRANCHED", "UNBRANCHED"}},
	{"DEDUPLICATE ON", "DEDUPLICATE ON input.id MAX TIME 10m", []string{"BRANCHED", "UNBRANCHED"}},
	{"BY", "BY input.at MAX TIME 1s", []string{"UNBRANCHED", "BRANCHED"}},
	{"CORRELATE WHERE", "CORRELATE WHERE left.id = right.id", []string{"BRANCHED", "UNBRANCHED", "MATCH", "MAX"}},
	{"MAX TIME", "MAX TIME 10m", []string{"BRANCHED", "UNBRANCHED"}},
	{"MODE", "MODE", []string{"ENCODE", "DECODE", "FLUSH", "SET", "INHERIT"}},
	{"ENCODE USING", "ENCODE USING codec", []string{"SET", "INHERIT", "WHERE", "FLUSH"}},
	{"ON MESSAGE ERROR", "ON MESSAGE ERROR", []string{"ON"}},
	{"MESSAGE ERROR", "ON MESSAGE ERROR LOG", []string{"GENERAL"}},
	{"DECODE USING", "DECODE USING codec", []string{"TO", "TIMESTAMP", "FILTER"}},
}

// earlierHint says which clause has to stand before the one that was found.
func (p *parser) earlierHint() string {
	for _, e := range earlier {
		if !p.expects(e.missing) || !p.here(e.found...) {
			continue
		}
		phrase := strings.ToUpper(p.text(p.furthest))
		switch {
		case phrase == "ON" && p.is(p.furthest+2, "ERROR"):
			phrase += " " + strings.ToUpper(p.text(p.furthest+1)) + " ERROR"
		case phrase == "ON":
			continue
		case phrase == "GENERAL":
			phrase = "ON GENERAL ERROR"
		case phrase == "WITH" || phrase == "BRANCHED" || phrase == "ENCODE" || phrase == "DECODE" || phrase == "MAX" || phrase == "FILTER":
			phrase += " " + strings.ToUpper(p.text(p.furthest+1))
		}
		if e.missing == "MODE" && p.hasModes() {
			return p.capabilityHint("MODE") + "; MODE stands before " + phrase
		}
		return e.called + " stands before " + phrase
	}
	return ""
}

func (p *parser) hasModes() bool { return p.capabilityHint("MODE") != "" }

// scopeHint is about a field behind its scope where only its name can stand, and
// about the name of a domain.
func (p *parser) scopeHint() string {
	if p.secret || p.text(p.furthest) != "." || p.furthest == 0 || p.expects("operator") {
		return ""
	}
	first := p.first()
	if p.is(first, "USE") || p.furthest > 1 && p.is(p.furthest-2, "DOMAIN") {
		return "the name of a domain has no '.'"
	}
	if _, scope := ast.ScopeNamed(strings.ToLower(p.text(p.furthest - 1))); !scope || p.expects("LEAK SENSITIVE") {
		return ""
	}
	if field := p.nameAt(p.furthest + 1).Text; field != "" {
		return "the field stands without a scope here: " + field
	}
	return "the field stands without a scope here"
}
