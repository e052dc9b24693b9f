package parse

import (
	"slices"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// hint proposes a way out of a parse error.
func (p *parser) hint() string {
	if h := p.misreadHint(); h != "" {
		return h
	}
	if p.tokens[p.furthest].kind == tokenWord && !p.secret {
		if h := p.wordHint(p.text(p.furthest)); h != "" {
			return h
		}
	}
	before := ";"
	if p.furthest > 0 {
		before = p.text(p.furthest - 1)
	}
	if h := p.neighbourHint(before, p.text(p.furthest)); h != "" {
		return h
	}
	if h := p.spellingHint(); h != "" {
		return h
	}
	return p.formHint()
}

// wordHint proposes something for a word that cannot stand where it does.
func (p *parser) wordHint(found string) string {
	word := strings.ToUpper(found)
	if h := p.kindHint(word); h != "" {
		return h
	}
	if h := p.orderHint(); h != "" {
		return h
	}
	texts := p.expectedTexts()
	words := firstWords(texts)
	types := slices.Contains(texts, "type")
	if types {
		words = append(words, typeWords...)
	}
	if meant := foreign(word, words); meant != "" {
		return meant
	}
	for _, phrase := range texts {
		if strings.ReplaceAll(phrase, " ", "") == word {
			return "did you mean " + phrase + "?"
		}
	}
	if near := vocab.Nearest(word, words); near != "" {
		return "did you mean " + near + "?"
	}
	for _, phrase := range texts { // its beginning was taken for something else
		if first, rest, _ := strings.Cut(phrase, " "); p.furthest > 0 && p.is(p.furthest-1, first) && rest == word {
			return first + " was taken for a name: something is missing before it"
		}
	}
	for _, phrase := range texts { // words were left out
		if strings.HasSuffix(phrase, " "+word) || strings.Contains(phrase, " "+word+" ") {
			return "did you mean " + phrase + "?"
		}
	}
	if p.expects("LEAK SENSITIVE") && word == "AS" {
		return "INHERIT keeps the names of fields: SET b = input.a renames one"
	}
	if word == "LEAK" && p.expects("EXCEPT") {
		return "LEAK SENSITIVE stands behind a field that is named: INHERIT a, b LEAK SENSITIVE"
	}
	if word == "INHERIT" && slices.Contains(texts, "SET") {
		return "routes of this kind inherit nothing: SET assigns every field"
	}
	if h := p.operationHint(word); h != "" {
		return h
	}
	if slices.Contains(texts, "OPTIONAL") && (word == "NOT" || word == "NULL" || word == "REQUIRED" || word == "NULLABLE") {
		return "a field is required unless OPTIONAL stands behind its type"
	}
	switch wantsName := slices.Contains(texts, "name"); {
	case !Reserved(strings.ToLower(found)):
	case slices.Contains(texts, "WHEN") && word == "END":
		return "CASE has at least one WHEN … THEN …"
	case wantsName:
		return "write `" + strings.ToLower(found) + "` in backticks to use it as a name"
	case slices.Contains(texts, "expression"):
		return "an operand is missing here; a field of this name is written in backticks: `" + strings.ToLower(found) + "`"
	}
	return ""
}

// neighbourHint proposes something for two tokens that other languages put
// together.
func (p *parser) neighbourHint(before, found string) string {
	switch {
	case foldEqual(before, "IS") && foldEqual(found, "NULL"):
		return "is_null(x) tells whether x is null"
	case before == "=" && found == "=":
		return "one = compares"
	case before == "<" && found == ">":
		return "!= means not equal"
	case before == "(" && found == "*":
		return "an aggregate has an argument, for example COUNT(input.field)"
	case foldEqual(before, "INHERIT") && found == "*":
		return "INHERIT ALL copies every field that both sides have"
	case foldEqual(found, "SET") && p.expects("USING MATERIALIZED STATE") && p.furthest > 1 && p.is(p.furthest-2, "BY"):
		return "only routes of ingestors and reingestors make the key of a branch: CREATE REINGESTOR"
	case foldEqual(found, "UPDATE") && p.expects("NOTHING"):
		return "DO UPDATE needs the columns of the conflict: ON CONFLICT (id) DO UPDATE"
	case (foldEqual(found, "DETACHED") || foldEqual(found, "ATTACHED")) && p.expects("EMITTER"):
		return strings.ToUpper(found) + " stands before the connector: CREATE " + strings.ToUpper(found) + " …"
	case foldEqual(found, "LIKE"), foldEqual(found, "ILIKE"):
		return "like(x, 'a%') and ilike(x, 'a%') are functions"
	case found == "::":
		return "x AS TYPE converts"
	case foldEqual(before, "CREATE") && foldEqual(found, "OR"):
		return "there is no OR REPLACE: DROP and CREATE it in one transaction"
	case foldEqual(before, "IF") && foldEqual(found, "EXISTS"):
		return "there is no IF EXISTS: a DROP of what does not exist is refused"
	case foldEqual(before, "VERSION") && p.expects("LATEST"):
		return "VERSION LATEST, or a number such as VERSION 3"
	case foldEqual(found, "EVICT") && p.expects("MAX INSTANCES"):
		return "EVICT LRU follows a bound: MAX INSTANCES 1000 EVICT LRU"
	case foldEqual(found, "NOW") && p.expects("AT"):
		return "START AT NOW"
	case foldEqual(found, "TIME") && p.expects("AT"):
		return "TIME RATE follows START AT NOW or START AT '2026-01-31T08:00:00Z'"
	case foldEqual(before, "DOMAIN") && p.within("DESCRIBE") && p.expects("FORMAT"):
		return "DESCRIBE DOMAIN shows the selected domain, see USE"
	case p.expects("FORMAT") && p.expects(";") && len(p.expected) == 2:
		return "nothing but FORMAT TEXT or FORMAT JSON can follow here"
	case before == "," && (p.expects("ADD FROM") || p.expects("ADD FIELD") || p.expects("SET CAPACITY") || p.expects("SET POLICY")):
		return "an operation follows the comma: each says again what it does"
	case found == "," && p.expects(")") && p.expects("operator"):
		return "parentheses hold one expression: a list of them stands without"
	case foldEqual(found, "FILTER") && p.within("CREATE EMITTER"):
		return "an emitter has no FILTER: WHERE stands behind each input"
	case foldEqual(found, "POOL") && p.expects("CONFIG"):
		return "only clients of POSTGRES, MYSQL, MONGODB and REDIS have a pool"
	case foldEqual(found, "WITH") && p.expects("CONFIG"):
		return "only clients of WEBSOCKETS have a signaling protocol"
	case foldEqual(before, "IF") && foldEqual(found, "NOT"):
		return "IF NOT EXISTS follows CREATE: CREATE IF NOT EXISTS and the kind"
	case before == "-" && found == "-", before == ";" && found == "-", before == "/" && found == "*", before == ";" && found == "/":
		return "a comment begins with //"
	case p.expected[0].Text == "whole number" && len(p.expectedTexts()) == 1 && p.furthest > 0 && p.tokens[p.furthest-1].kind == tokenWord:
		return "for example " + strings.ToUpper(before) + " 64"
	case found == "-" && (p.expects("whole number") || p.expects("number")) && !p.expects("-"):
		return "a negative number cannot stand here"
	}
	return ""
}

// spellingHint proposes how to write a name that was cut at a character it cannot
// have bare, or that stands in the wrong quotes.
func (p *parser) spellingHint() string {
	if p.secret || p.furthest == 0 {
		return ""
	}
	t, last := p.tokens[p.furthest], p.tokens[p.furthest-1]
	switch first, end := p.foreignName[0], p.foreignName[1]; {
	case end > 0 && end == p.furthest && t.start == last.end && t.kind != ';' && t.kind != ',' && t.kind != ')' && t.kind != tokenEnd:
		for end++; p.tokens[end].start == p.tokens[end-1].end && !strings.Contains(";,)", p.text(end)); end++ {
		}
		return "quote a name with such characters: '" + p.src[p.tokens[first].start:p.tokens[end-1].end] + "'"
	case t.kind == '.' && p.expects("LEAK SENSITIVE"):
		return "INHERIT takes bare names of fields"
	case last.kind == tokenWord && t.start == last.end && (t.kind == '-' || t.kind == '.') && !p.expects("operator") && !p.expects("node name") &&
		!p.expects("::"):
		return "a name with other characters than letters, digits and '_' stands in backticks, for example `in-2`"
	case t.kind == tokenString && p.expects("name"):
		return "a name stands without quotes, or in backticks such as `in-2`"
	case t.kind == tokenNumber && p.expects("name"):
		return "a name that begins with a digit stands in backticks, for example `2nd`"
	case t.kind == tokenString && (p.expects("whole number") || p.expects("number") || p.expects("duration") || p.expects("byte size")):
		return "numbers, durations and sizes stand without quotes"
	}
	return ""
}

// expects reports whether a text is among what was expected.
func (p *parser) expects(text string) bool {
	return slices.ContainsFunc(p.expected, func(e Expectation) bool { return e.Text == text })
}

// formHint shows what the missing part looks like.
func (p *parser) formHint() string {
	for _, e := range examples {
		if p.expects(e.expected) {
			return e.example
		}
	}
	if h := p.operatorHint(); h != "" {
		return h
	}
	switch end := p.tokens[p.furthest].kind == tokenEnd; {
	case end && p.expects(";") && p.expects("operator"): // elsewhere the text may end here
		return "each step of the body ends in ;"
	case p.expects("DROP") && p.expects("SEND TO"):
		return "DROP, or SEND TO and a relay"
	case p.expects("}") && p.expects(","):
		return "entries between { and } are separated by commas"
	case p.is(p.furthest, "ON") && p.is(p.furthest+1, "GENERAL") && p.expects(";"):
		return "only ingestors and emitters have ON GENERAL ERROR"
	}
	if p.expects(";") || p.expects("end of input") {
		first := p.first()
		if p.expects(",") && p.is(first, "ALTER") && slices.ContainsFunc(operationWords[:], func(w string) bool { return p.is(p.furthest, w) }) {
			return "a comma separates operations"
		}
		if len(p.expected) == 1 {
			return "nothing can follow here: ; ends a statement"
		}
		return "the statement may end here, or go on with one of these"
	}
	last := p.expected[len(p.expected)-1] // what has to stand is tried last
	if before := max(p.furthest-1, 0); len(p.expected) == 1 && (p.is(before, "FROM") || p.is(before, "TO")) && last.Class == ClassKeyword {
		for _, t := range vocab.ClientTypes() {
			if t.String() == last.Text {
				return "the connector stands before its client: " + strings.ToUpper(p.text(before)) + " " + last.Text + " client …"
			}
		}
	}
	if h := p.capabilityHint(last.Text); h != "" {
		return h
	}
	if i := slices.IndexFunc(forms, func(f form) bool { return f.expected == last.Text && p.within(f.in) }); i >= 0 {
		return forms[i].example
	}
	switch {
	case last.Text == "name":
		return nameHint(last)
	case p.expects("expression"):
		return "an operand is missing here: a field, a literal, a call or an expression in parentheses"
	case p.expects("BATCH") && p.expects("whole number"):
		return "an axis is BATCH, DYNAMIC or a length"
	case p.expects(")") && p.expects(","):
		return "what stands between ( and ) is separated by commas"
	case p.expects(")"):
		return "the parenthesis is not closed here"
	case p.furthest == p.first():
		return "a statement begins with a word such as CREATE, ALTER, DROP, SHOW, DESCRIBE or START"
	}
	return "one of these stands here"
}

// first returns the first token of the statement.
func (p *parser) first() int {
	first := p.furthest
	for first > 0 && p.tokens[first-1].kind != ';' {
		first--
	}
	return first
}

// operatorHint says what is wrong behind a whole expression.
func (p *parser) operatorHint() string {
	if !p.expects("operator") {
		return ""
	}
	t := p.tokens[p.furthest]
	switch {
	case t.kind == '(':
		return "only a name can be called, udf::name for a function of the domain"
	case t.kind == '[':
		return "nth(list, i) reads an element of a list"
	case t.kind == '.':
		return "input.x has two parts: there are no fields inside of fields"
	case t.kind == ')' && !p.expects(")") && (p.expects("end of input") || p.expects(";")):
		return "there is no ( for this )"
	case p.is(p.furthest, "OVER"):
		return "a WINDOW PROCESSOR has aggregates over rows"
	case p.expects("end of input") && (t.kind == tokenWord || t.kind == tokenNumber || t.kind == tokenString || t.kind == tokenQuoted):
		return "an operator such as +, = or AND stands between two values"
	}
	return ""
}

// capabilityHint lists the modes and quiesce bodies of the connector at hand.
func (p *parser) capabilityHint(missing string) string {
	var offered []string
	switch s := p.built.(type) {
	case *ast.CreateIngestor:
		if s.Source.Entity == 0 {
			return ""
		}
		switch can := s.Source.Entity.Capabilities(); missing {
		case "MODE":
			for _, m := range can.Modes {
				offered = append(offered, "MODE "+m.String())
			}
		case "ON QUIESCE":
			for _, b := range can.Quiesce {
				offered = append(offered, "ON QUIESCE "+b.String())
			}
		}
	case *ast.CreateEmitter:
		if s.Sink.Entity == 0 || missing != "MODE" {
			return ""
		}
		for _, m := range s.Sink.Entity.Capabilities().Modes {
			offered = append(offered, "MODE "+m.String())
		}
	}
	if len(offered) == 0 {
		return ""
	}
	return "there is no default: " + strings.Join(offered, " or ")
}

// headMax bounds how far the words that tell the kind of a statement are looked
// for.
const headMax = 8

// within reports whether the statement begins with the first word and has the
// others at its beginning.
func (p *parser) within(words string) bool {
	first := p.first()
	for i, word := range strings.Fields(words) {
		switch last := min(first+headMax, p.furthest); {
		case i == 0 && !p.is(first, word):
			return false
		case i > 0 && !slices.ContainsFunc(p.tokens[first:last], func(t token) bool { return foldEqual(p.src[t.start:t.end], word) }):
			return false
		}
	}
	return true
}

// nameHint says what the missing name is the name of.
func nameHint(e Expectation) string {
	switch {
	case e.Class == ClassField:
		return "the name of a field is missing here"
	case e.To != nil && len(e.To.Kinds) == 1:
		return "the name of a " + e.To.Kinds[0].Words() + " is missing here"
	}
	return "a name is missing here"
}

// firstWords returns the first word of each phrase.
func firstWords(phrases []string) []string {
	words := make([]string, len(phrases))
	for i, phrase := range phrases {
		words[i], _, _ = strings.Cut(phrase, " ")
	}
	return words
}
