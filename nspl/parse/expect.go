package parse

import (
	"slices"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Class says what kind of thing is expected.
type Class uint8

// The classes.
const (
	ClassKeyword      Class = iota // a phrase of keywords
	ClassMark                      // a punctuation mark
	ClassReference                 // the name of an entity that exists, see [Expectation.To]
	ClassName                      // a name that the statement gives
	ClassField                     // the name of a field
	ClassLiteral                   // a value, whose form Text names
	ClassExternal                  // a name of another system
	ClassExpression                // an operand
	ClassOperator                  // what continues an expression
	ClassCall                      // the '(' of a call, see [Expectation.Of]
	ClassPath                      // a path in the client's file system
	ClassNode                      // the name of a cluster node
	ClassConfigKey                 // a key of CONFIG
	ClassVersion                   // the number of a version of the resource in Of
	ClassSubscription              // the name of a subscription of the session
)

// Expectation is one thing that may stand at a place of the text.
type Expectation struct {
	Text  string // as errors write it: the keywords, or what kind of token
	Class Class
	To    *Reference // of a reference
	// Scope is the scope of a field that stands behind one. Of is the relay of
	// relay_state, the name that may be called, or the resource of a version.
	Scope ast.Scope
	Of    string
}

// Reference says which entities a place takes. One value stands for each place
// of its sort, so references are compared by pointer.
type Reference struct {
	Kinds []vocab.EntityKind
	// Client is the type a client must have; 0 for any.
	Client vocab.ClientType
	// Materialized asks for relays with materialized state, Decodes and Encodes for
	// codecs of that direction.
	Materialized, Decodes, Encodes bool
}

func toKind(kinds ...vocab.EntityKind) *Reference { return &Reference{Kinds: kinds} }

// The sorts of references.
var (
	toDomain   = toKind(vocab.EntityDomain)
	toUser     = toKind(vocab.EntityUser)
	toResource = toKind(vocab.EntityResource)
	toSchema   = toKind(vocab.EntitySchema)
	toBranch   = toKind(vocab.EntityBranch)
	toRelay    = toKind(vocab.EntityRelay)
	toVHost    = toKind(vocab.EntityVHost)
	toEndpoint = toKind(vocab.EntityEndpoint)
	toUDF      = toKind(vocab.EntityUDF)
	toOperator = toKind(relocateKinds...)
	toDecoder  = &Reference{Kinds: []vocab.EntityKind{vocab.EntityCodec}, Decodes: true}
	toEncoder  = &Reference{Kinds: []vocab.EntityKind{vocab.EntityCodec}, Encodes: true}
	toState    = &Reference{Kinds: []vocab.EntityKind{vocab.EntityRelay}, Materialized: true}

	toKinds   = references(len(vocab.EntityKinds())+1, func(i int) *Reference { return toKind(vocab.EntityKind(i)) })
	toClients = references(len(vocab.ClientTypes())+1, func(i int) *Reference {
		return &Reference{Kinds: []vocab.EntityKind{vocab.EntityClient}, Client: vocab.ClientType(i)}
	})
)

func references(n int, make func(int) *Reference) []*Reference {
	list := []*Reference{}
	for i := range n {
		list = append(list, make(i))
	}
	return list
}

// toAny refers to an entity of a kind that the statement has named.
func toAny(kind vocab.EntityKind) *Reference { return toKinds[kind] }

// toClient refers to a client of a type.
func toClient(t vocab.ClientType) *Reference { return toClients[t] }

// ref takes the name of an entity that exists.
func (p *parser) ref(to *Reference) ast.Name { return p.nameOf(ClassReference, to) }

// newName takes a name that the statement gives.
func (p *parser) newName() ast.Name { return p.nameOf(ClassName, nil) }

// field takes the name of a field where no expression stands.
func (p *parser) field() ast.Name { return p.nameOf(ClassField, nil) }

// fieldOf takes the name of a field behind its scope, and behind the relay of
// relay_state.
func (p *parser) fieldOf(scope ast.Scope, relay string) ast.Name {
	if k := p.kind(); k != tokenWord && k != tokenQuoted {
		p.expecting(p.at, Expectation{Text: "name", Class: ClassField, Scope: scope, Of: relay})
		p.fail()
	}
	return p.takeName()
}

// nameOf takes a word or a quoted name and lower-cases it.
func (p *parser) nameOf(class Class, to *Reference) ast.Name {
	if k := p.kind(); k != tokenWord && k != tokenQuoted {
		p.expecting(p.at, Expectation{Text: "name", Class: class, To: to})
		p.fail()
	}
	return p.takeName()
}

// possible records the keywords and marks that could go on where the grammar goes
// another way without asking. Errors call them by one word, so they are recorded
// for [Expected] only.
func (p *parser) possible(class Class, texts ...string) {
	if !p.detailed {
		return
	}
	for _, text := range texts {
		p.expecting(p.at, Expectation{Text: text, Class: class})
	}
}

// want records that a value of some form was expected at a token.
func (p *parser) want(at int, what string) {
	p.expecting(at, Expectation{Text: what, Class: ClassLiteral})
}

// expecting records that something was expected at a token.
func (p *parser) expecting(at int, e Expectation) {
	if !p.quiet {
		p.record(at, e)
	}
}

func (p *parser) record(at int, e Expectation) {
	if at > p.furthest {
		p.furthest, p.expected = at, p.expected[:0]
	}
	if at != p.furthest {
		return
	}
	for i := range p.expected {
		if p.expected[i] == e {
			return
		}
	}
	p.expected = append(p.expected, e)
}

// expectedTexts lists what was expected, each text once.
func (p *parser) expectedTexts() []string {
	texts := make([]string, 0, len(p.expected))
	for _, e := range p.expected {
		if !slices.Contains(texts, e.Text) {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// expectedLine is what a message says was expected.
func (p *parser) expectedLine() string { return strings.Join(p.expectedTexts(), " | ") }

// Clause is where in a statement an expression stands. With the kind of the
// statement it says which scopes and functions the expression has.
type Clause uint8

// The clauses.
const (
	ClauseNone         Clause = iota
	ClauseInput               // FROM … WHERE
	ClauseFilter              // FILTER WHERE
	ClauseSet                 // SET of a route, or of an emitter's body
	ClauseWhere               // WHERE of a route, or of an emitter's body
	ClauseBranch              // SET of BRANCHED BY
	ClauseKeys                // DEDUPLICATE ON, BY
	ClauseTensors             // INPUTS of an inferencer
	ClauseCorrelate           // CORRELATE WHERE
	ClauseRequest             // METHOD and PATH
	ClauseInvoke              // arguments of write_header
	ClauseValues              // VALUES and ATTRIBUTES
	ClauseGroup               // FIFO GROUP
	ClauseError               // SET of ON MESSAGE ERROR
	ClauseDefault             // DEFAULT of a state dependency
	ClauseSubscription        // WHERE of a subscription
	ClauseInherit             // the fields of INHERIT
	ClauseFunction            // body of a user-defined function
)

// building tells which statement is being read. Its reader fills it in the order
// of the text, clause by clause and through pointers, so that completion finds
// in it what stands before the cursor.
func (p *parser) building(s ast.Statement) { p.built = s }

// exprIn takes an expression of a clause.
func (p *parser) exprIn(clause Clause) ast.Expr {
	p.clause = clause
	e := p.expr()
	p.clause = ClauseNone
	return e
}
