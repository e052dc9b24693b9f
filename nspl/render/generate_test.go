package render_test

import (
	"math"
	"strconv"

	"pgregory.net/rapid"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// generator draws models that nspl/model accepts.
type generator struct{ *rapid.T }

var (
	plainNames = rapid.StringMatching(`[a-z_][a-z0-9_]{0,8}`)
	oddNames   = rapid.StringMatching(`[a-z0-9_.~-]{1,8}`)
	anyText    = rapid.OneOf(rapid.StringMatching(`[a-z $'"{}\n\r/;-]{0,12}`), rapid.String())
	domainName = rapid.StringMatching(`[a-z0-9_~-]{1,8}`)
	keywords   = rapid.SampledFrom([]string{"where", "set", "inherit", "all", "end", "not", "udf", "case", "input", "message",
		"output", "to", "from", "mode", "flush", "if", "on", "name", "nats", "format", "null", "true", "as", "in"})
	relayNames = rapid.OneOf(plainNames, oddNames, keywords).Filter(func(s string) bool { return s != "message" && s != "branch" })
	names      = rapid.OneOf(plainNames, oddNames, keywords)
	externals  = rapid.OneOf(rapid.StringMatching(`[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,10}`), anyText).Filter(func(s string) bool { return s != "" })
	subjects   = rapid.StringMatching(`[a-zA-Z0-9_'"-]{1,6}(\.[a-zA-Z0-9_]{1,4}){0,2}`)
	hostnames  = rapid.StringMatching(`[a-z_][a-z0-9_]{0,5}(-[a-z][a-z0-9]{0,3})?(\.[a-z]{1,3}){0,2}`)
)

func (g generator) bool() bool      { return rapid.Bool().Draw(g.T, "bool") }
func (g generator) int(max int) int { return rapid.IntRange(0, max).Draw(g.T, "int") }
func (g generator) name() ast.Name  { return ast.Name{Text: names.Draw(g.T, "name")} }
func (g generator) relay() ast.Name { return ast.Name{Text: relayNames.Draw(g.T, "relay")} }
func (g generator) own() string     { return names.Draw(g.T, "own name") }
func (g generator) text() string    { return anyText.Draw(g.T, "text") }
func (g generator) uint(max uint64) ast.Uint {
	return ast.Uint{Value: rapid.Uint64Range(1, max).Draw(g.T, "uint")}
}

// distinct draws up to n names, each once.
func (g generator) distinct(n int) []ast.Name {
	list := rapid.SliceOfNDistinct(names, 1, n, rapid.ID[string]).Draw(g.T, "names")
	out := make([]ast.Name, len(list))
	for i, s := range list {
		out[i].Text = s
	}
	return out
}

var durationUnits = []struct {
	unit  string
	nanos uint64
}{{"ns", 1}, {"usecs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"minutes", 60e9}, {"h", 3600e9}, {"days", 86400e9}, {"w", 604800e9}}

func (g generator) duration() ast.Duration {
	var d ast.Duration
	for range 1 + g.int(2) {
		u := durationUnits[g.int(len(durationUnits)-1)]
		n := uint64(1 + g.int(1000))
		d.Nanos += n * u.nanos
		d.Text += strconv.FormatUint(n, 10) + u.unit
	}
	return d
}

// seconds draws a duration from 2 to 20 seconds.
func (g generator) seconds() ast.Duration {
	n := uint64(2 + g.int(18))
	return ast.Duration{Nanos: n * 1e9, Text: strconv.FormatUint(n, 10) + "secs"}
}

var byteUnits = []struct {
	unit  string
	bytes uint64
}{{"B", 1}, {"kB", 1e3}, {"KiB", 1 << 10}, {"MB", 1e6}, {"mib", 1 << 20}, {"GB", 1e9}, {"GiB", 1 << 30}, {"TB", 1e12}, {"TiB", 1 << 40}}

func (g generator) size() ast.Size {
	u := byteUnits[g.int(len(byteUnits)-1)]
	n := uint64(1 + g.int(5000))
	return ast.Size{Size: vocab.Size{Bytes: n * u.bytes, Text: strconv.FormatUint(n, 10) + u.unit}}
}

func (g generator) scalarType() vocab.Type {
	return vocab.Scalar(vocab.U8 + vocab.Kind(g.int(int(vocab.Datetime-vocab.U8))))
}

func (g generator) typ(depth int) vocab.Type {
	switch n := g.int(5); {
	case depth == 0 || n < 3:
		return g.scalarType()
	case n == 3:
		return vocab.VecOf(g.typ(depth - 1))
	}
	return vocab.ArrayOf(g.typ(depth-1), uint32(1+g.int(math.MaxInt32-1)))
}

func (g generator) exprs(max, depth int) []ast.Expr {
	var list []ast.Expr
	for range g.int(max) {
		list = append(list, g.expr(depth))
	}
	return list
}

// expr draws any expression that can be written, sensible or not.
func (g generator) expr(depth int) ast.Expr {
	if depth == 0 || g.int(9) == 0 {
		return g.leaf()
	}
	depth--
	switch g.int(10) {
	case 0, 1, 2:
		op := ast.BinaryOp(g.int(int(ast.Rem)))
		return &ast.Binary{Op: op, X: g.expr(depth), Y: g.expr(depth)}
	case 3:
		return &ast.Unary{Op: ast.UnaryOp(g.int(1)), X: g.expr(depth)}
	case 4:
		return &ast.In{Not: g.bool(), X: g.expr(depth), Set: g.exprs(3, depth)}
	case 5:
		return &ast.Between{Not: g.bool(), X: g.expr(depth), Low: g.expr(depth), High: g.expr(depth)}
	case 6:
		return &ast.Cast{Try: g.bool(), X: g.expr(depth), Type: ast.Type{Type: g.scalarType()}}
	case 7:
		return g.conditional(depth)
	case 8:
		name := g.name()
		name.Text = ast.CanonicalFunction(name.Text)
		return &ast.Call{UDF: g.bool(), Name: name, Args: g.exprs(3, depth)}
	case 9:
		return &ast.List{Items: g.exprs(3, depth)}
	}
	j := &ast.JSON{Form: ast.JSONForm(g.int(2)), Doc: g.expr(depth), Path: ast.Text{Text: g.jsonPath()}}
	if j.Form != ast.JSONExists {
		j.Type.Type = g.typ(2)
	}
	return j
}

func (g generator) conditional(depth int) ast.Expr {
	arm := func() ast.Arm { return ast.Arm{When: g.expr(depth), Then: g.expr(depth)} }
	c := &ast.Conditional{If: g.bool(), Arms: []ast.Arm{arm()}}
	if c.If {
		c.Else = g.expr(depth)
		return c
	}
	if g.bool() {
		c.Operand = g.expr(depth)
	}
	if g.bool() {
		c.Arms = append(c.Arms, arm())
	}
	if g.bool() {
		c.Else = g.expr(depth)
	}
	return c
}

func (g generator) leaf() ast.Expr {
	switch g.int(6) {
	case 0:
		return &ast.IntLit{Value: rapid.Int64Min(0).Draw(g.T, "int")}
	case 1:
		return &ast.FloatLit{Value: rapid.Float64Min(0).Draw(g.T, "float")}
	case 2:
		return &ast.StringLit{Value: g.text()}
	case 3:
		return &ast.BoolLit{Value: g.bool()}
	case 4:
		return &ast.NullLit{}
	}
	f := &ast.Field{Scope: ast.Scope(g.int(int(ast.ScopeRelayState))), Name: g.name()}
	if f.Scope == ast.ScopeRelayState {
		f.Relay = g.name()
	}
	return f
}

func (g generator) maybeExpr() ast.Expr {
	if g.bool() {
		return nil
	}
	return g.expr(2)
}

func (g generator) assigns(scopes ...ast.Scope) []ast.Assign {
	list := make([]ast.Assign, 1+g.int(2))
	for i := range list {
		list[i] = ast.Assign{Scope: scopes[g.int(len(scopes)-1)], Target: g.name(), Value: g.expr(2)}
	}
	return list
}

func (g generator) construction() ast.Construction {
	var c ast.Construction
	switch g.int(3) {
	case 0:
		c.Inherit = &ast.Inherit{All: true}
	case 1:
		c.Inherit = &ast.Inherit{All: true, Except: g.distinct(3)}
	case 2:
		c.Inherit = &ast.Inherit{}
		for _, n := range g.distinct(3) {
			c.Inherit.Fields = append(c.Inherit.Fields, ast.InheritField{Name: n, Leak: g.bool()})
		}
	}
	if g.bool() {
		c.Set = g.assigns(ast.ScopeBare, ast.ScopeOutput)
	}
	c.Where = g.maybeExpr()
	return c
}

func (g generator) branchUse() ast.BranchUse {
	if g.bool() {
		return ast.BranchUse{}
	}
	by := g.name()
	return ast.BranchUse{By: &by}
}

func (g generator) inputs() ast.Inputs {
	var in ast.Inputs
	for _, n := range g.distinct(3) {
		in.From = append(in.From, ast.Input{Relay: n, Where: g.maybeExpr()})
	}
	if g.bool() {
		in.Collect = &ast.Collect{For: g.duration()}
		if g.bool() {
			s := g.size()
			in.Collect.MaxBatchSize = &s
		}
	}
	return in
}

func (g generator) flush() ast.Flush {
	if g.bool() {
		return ast.Flush{Immediate: true}
	}
	return ast.Flush{Each: g.duration(), MaxBatch: g.size()}
}

func (g generator) messageError() ast.MessageError {
	e := ast.MessageError{Action: ast.ErrorAction(g.int(2))}
	if e.Action == ast.ErrorSendTo {
		e.To, e.Set = g.name(), g.assigns(ast.ScopeBare)
	}
	return e
}

// routeForm says which clauses routes have.
type routeForm struct{ inherit, set, branch, flush bool }

var (
	ingesting    = routeForm{inherit: true, branch: true, flush: true}
	transforming = routeForm{inherit: true, flush: true}
	setOnly      = routeForm{set: true, flush: true}
	aggregating  = routeForm{set: true}
	guest        = routeForm{}
)

func (g generator) routes(form routeForm) []ast.Route {
	list := make([]ast.Route, 1+g.int(1))
	for i := range list {
		list[i] = ast.Route{To: g.name(), Construction: g.construction(), OnError: g.messageError()}
		if !form.inherit {
			list[i].Construction.Inherit = nil
		}
		if form.set && list[i].Construction.Set == nil {
			list[i].Construction.Set = g.assigns(ast.ScopeBare, ast.ScopeOutput)
		}
		if form.flush {
			list[i].Flush = g.flush()
		}
		if form.branch {
			b := &ast.BranchMake{BranchUse: g.branchUse()}
			if b.By != nil && g.bool() {
				b.Set = g.assigns(ast.ScopeBare, ast.ScopeBranch)
			}
			list[i].Branch = b
		}
	}
	return list
}

func (g generator) retry() ast.Retry {
	d := g.duration()
	return ast.Retry{Backoff: d, Max: d}
}

// leafNoText draws a leaf that is no string, which header values would check.
func (g generator) leafNoText() ast.Expr {
	e := g.leaf()
	if _, text := e.(*ast.StringLit); text {
		return &ast.NullLit{}
	}
	return e
}

func (g generator) policy() ast.Policy {
	return ast.Policy{PlacementPolicy: rapid.SampledFrom(vocab.PlacementPolicies()).Draw(g.T, "policy")}
}

var (
	alterNames = rapid.OneOf(names, rapid.SampledFrom([]string{"add", "drop", "alter", "set", "replace", "rename", "mode"}))
	nodeNames  = rapid.OneOf(rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?`), hostnames, rapid.StringMatching(`[A-Z]{1,3}`), anyText).
			Filter(func(s string) bool { return s != "" })
)

func (g generator) alterNames() []ast.Name {
	var list []ast.Name
	for range 1 + g.int(3) {
		list = append(list, ast.Name{Text: alterNames.Draw(g.T, "name")})
	}
	return list
}

func (g generator) placementChange() ast.PlacementChange {
	c := ast.PlacementChange{Op: ast.PlacementOp(g.int(int(ast.PlacementRename)))}
	switch c.Op {
	case ast.PlacementSetPolicy:
		c.Policy = g.policy()
	case ast.PlacementSetRank:
		c.Rank.Value = rapid.Uint64().Draw(g.T, "rank")
	case ast.PlacementSetMembers:
		c.From, c.To = g.alterNames(), g.alterNames()
	case ast.PlacementRename:
		c.Name = g.name()
	}
	return c
}

func (g generator) node() ast.Text { return ast.Text{Text: nodeNames.Draw(g.T, "node")} }

// nodeKinds are the kinds that run.
var nodeKinds = vocab.EntityKinds()[vocab.EntityIngestor-1:]

func (g generator) runtimeNodes() []ast.RuntimeNode {
	kinds := rapid.SampledFrom(append([]vocab.EntityKind{vocab.EntityRelay, vocab.EntityHashMap}, nodeKinds...))
	var list []ast.RuntimeNode
	for range 1 + g.int(2) {
		list = append(list, ast.RuntimeNode{Kind: kinds.Draw(g.T, "kind"), Name: g.name()})
	}
	return list
}

func (g generator) relocation() ast.Relocation {
	r := ast.Relocation{Onto: g.node(), Preferences: ast.Preferences(g.int(1))}
	if g.bool() {
		r.Nodes = g.runtimeNodes()
	} else {
		r.From, r.To = g.runtimeNodes(), g.runtimeNodes()
	}
	for range g.int(2) {
		r.For = append(r.For, ast.PreferencesFor{Nodes: g.runtimeNodes(), Preferences: ast.Preferences(g.int(1))})
	}
	return r
}

// statement draws a statement that Statement renders.
func (g generator) statement() ast.Statement {
	switch g.int(3) {
	case 0:
		return g.alterNode()
	case 1:
		return g.changing()
	case 2:
		return g.reading()
	}
	switch g.int(5) {
	case 5:
		return g.alterRelay()
	case 0:
		return &ast.AlterDomain{Placement: g.policy()}
	case 1:
		s := &ast.AlterPlacement{Alter: ast.Alter{Name: g.name()}}
		for range 1 + g.int(3) {
			s.Changes = append(s.Changes, g.placementChange())
		}
		return s
	case 2:
		return &ast.NodeControl{Verb: ast.NodeVerb(g.int(int(ast.NodeDrop))), Node: g.node()}
	case 3:
		return &ast.Relocate{Relocation: g.relocation()}
	}
	return &ast.DescribeRelocation{Relocation: g.relocation(), Format: ast.Format(g.int(1))}
}

// entity draws a model of any kind.
func (g generator) entity() model.Entity {
	if g.int(3) == 0 {
		return g.configuration()
	}
	switch g.int(13) {
	case 12:
		return g.udf()
	case 11:
		b := &model.Branch{Name: g.own(), Schema: g.name(), TTL: g.duration()}
		if g.bool() {
			b.MaxInstances = g.uint(math.MaxUint64).Value
		}
		return b
	case 10:
		return &model.Placement{Name: g.own(), From: g.distinct(3), To: g.distinct(3), Policy: g.policy(), Rank: rapid.Uint64().Draw(g.T, "rank")}
	case 0:
		return &model.Domain{Name: domainName.Draw(g.T, "domain"), Placement: g.policy().PlacementPolicy}
	case 1:
		s := &model.Schema{Schema: vocab.Schema{Name: g.own(), Fields: []vocab.Field{}}}
		for _, n := range g.distinct(4) {
			s.Fields = append(s.Fields, vocab.Field{Name: n.Text, Type: g.typ(3), Optional: g.bool(), Sensitive: g.bool()})
		}
		return s
	case 2:
		w := &model.WireSchema{Name: g.own(), Strict: g.bool(), Fields: []model.WireField{}}
		for _, n := range g.distinct(4) {
			w.Fields = append(w.Fields, model.WireField{Name: n.Text, Type: vocab.WireType(g.int(int(vocab.WireNull))), Optional: g.bool()})
		}
		return w
	case 3:
		c := &model.Codec{Name: g.own(), Wire: g.name(), Schema: g.name()}
		if g.bool() {
			c.RFC3339 = g.distinct(3)
		}
		return c
	case 4:
		return &model.Relay{Name: g.relay().Text, Schema: g.name(), Branch: g.branchUse(), Capacity: g.uint(1 << 20).Value, Materialized: g.bool()}
	case 5:
		return g.client()
	case 6:
		return &model.VHost{Name: g.own(), Hostnames: rapid.SliceOfNDistinct(hostnames, 1, 3, rapid.ID[string]).Draw(g.T, "hosts")}
	case 7:
		return &model.Endpoint{Name: g.own(), VHost: g.name(), Path: "/" + rapid.StringMatching(`[a-z'"$%~.]{0,3}x`).Draw(g.T, "path")}
	case 8:
		return g.ingestor()
	case 9:
		return g.processor()
	}
	return g.emitter()
}
