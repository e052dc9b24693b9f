package session

import (
	"strings"

	"plexus/engine/catalog"
	"plexus/engine/decide"
	"plexus/engine/session/document"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/render"
	"plexus/nspl/vocab"
)

// read answers the statements that change nothing, from this node's applied
// state and from what runs here.
func (q *request) read(statement ast.Statement) *sessionpb.ExecuteReply {
	v, format, found := q.answer(statement)
	if len(found) > 0 {
		return q.failed(found)
	}
	reply := completed(statement, v)
	if format == ast.FormatJSON {
		reply.Text = string(document.JSON(v))
		reply.Statements[0].Text = reply.Text
	}
	return reply
}

func (q *request) answer(statement ast.Statement) (document.Value, ast.Format, ast.Diagnostics) {
	switch x := statement.(type) {
	case *ast.Use:
		if _, ok := q.state().Domain(x.Domain.Text); !ok {
			return nil, 0, ast.Diagnostics{ast.Errorf(codeDomainMissing, x.Domain.Span, "domain '%s' does not exist", x.Domain.Text)}
		}
		return line("domain '%s' is selected", x.Domain.Text), ast.FormatText, nil
	case *ast.ListDomains:
		return q.listDomains(), ast.FormatText, nil
	case *ast.ShowCreate:
		v, found := q.showCreate(x)
		return v, x.Format, found
	case *ast.Show:
		v, found := q.show(x)
		return v, x.Format, found
	case *ast.Describe:
		v, found := q.describe(x)
		return v, x.Format, found
	}
	return nil, 0, ast.Diagnostics{ast.Errorf(ast.CodeUnavailable, statement.Place(), "not available yet: %s", head(statement))}
}

func status(running bool) string {
	if running {
		return "RUNNING"
	}
	return "STOPPED"
}

func (q *request) listDomains() document.Value {
	var items []document.Value
	for d := range q.state().Domains() {
		items = append(items, new(document.Map).Set(document.Name, document.Text(d.Name)).
			Set("pace", document.Text("UNPACED")).Set("status", document.Text(status(d.Running))).Value())
	}
	return document.List(items...)
}

// selected returns the selected domain.
func (q *request) selected(at ast.Statement) (*catalog.Domain, ast.Diagnostics) {
	if q.domain == "" {
		return nil, ast.Diagnostics{ast.Errorf(codeDomainMissing, at.Place(), "no domain is selected; run USE <domain>")}
	}
	d, ok := q.state().Domain(q.domain)
	if !ok {
		return nil, ast.Diagnostics{ast.Errorf(codeDomainMissing, at.Place(), "domain '%s' does not exist", q.domain)}
	}
	return d, nil
}

// model returns a model of the selected domain.
func (q *request) model(at ast.Statement, kind vocab.EntityKind, name ast.Name) (*catalog.Model, ast.Diagnostics) {
	d, found := q.selected(at)
	if len(found) > 0 {
		return nil, found
	}
	m, ok := q.state().Model(d.Name, catalog.Key{Kind: kind, Name: name.Text})
	if !ok {
		missing := ast.Errorf(ast.CodeRefMissing, name.Span, "%s '%s' does not exist", kind, name.Text)
		missing.Entity = ast.Entity{Kind: kind, Name: name.Text}
		return nil, ast.Diagnostics{missing}
	}
	return m, nil
}

func (q *request) showCreate(x *ast.ShowCreate) (document.Value, ast.Diagnostics) {
	if x.Kind == vocab.EntityDomain {
		if _, ok := q.state().Domain(x.Name.Text); !ok {
			return nil, ast.Diagnostics{ast.Errorf(ast.CodeRefMissing, x.Name.Span, "DOMAIN '%s' does not exist", x.Name.Text)}
		}
		return document.Text(render.Entity(&model.Domain{Name: x.Name.Text})), nil
	}
	m, found := q.model(x, x.Kind, x.Name)
	if len(found) > 0 {
		return nil, found
	}
	return document.Text(render.Entity(model.Shown(m.Definition))), nil
}

func (q *request) show(x *ast.Show) (document.Value, ast.Diagnostics) {
	switch x.What {
	case ast.ListUsers:
		var items []document.Value
		for u := range q.state().Users() {
			items = append(items, document.Text(u.Name))
		}
		return document.List(items...), nil
	case ast.ListClusterStatus:
		return q.clusterStatus(), nil
	case ast.ListTransactions:
		return nil, ast.Diagnostics{ast.Errorf(ast.CodeUnavailable, x.Span, "not available yet: %s", head(x))}
	}
	d, found := q.selected(x)
	if len(found) > 0 {
		return nil, found
	}
	if x.What == ast.ListPlacements {
		return rules(decide.ShowPlacements(q.state(), d.Name)), nil
	}
	var items []document.Value
	for m := range q.state().Models(d.Name) {
		if in, ok := m.Definition.(*model.Ingestor); ok {
			items = append(items, q.ingestorLine(d, in))
		}
	}
	return document.List(items...), nil
}

// ingestorLine is one line of SHOW INGESTORS.
func (q *request) ingestorLine(d *catalog.Domain, in *model.Ingestor) document.Value {
	m := new(document.Map).Set(document.Name, document.Text(in.Name)).Set("source", document.Text(connector(in.Source.Entity.String())))
	sourceFields(m, in)
	m.Set("owner", document.Text(q.node()))
	state, ready := "stopped", false
	if domain := q.service.deps.Runtime.Domain(d.Name); domain != nil {
		if s, ok := domain.DescribeIngestor(in.Name); ok {
			state, ready = s.Status, s.Ready
		}
	}
	return m.Set("status", document.Text(state)).Set("ready", document.Bool(ready)).Value()
}

// sourceFields adds what names the outside of an ingestor.
func sourceFields(m *document.Map, in *model.Ingestor) {
	if in.Source.Client.Text != "" {
		m.Set("client", document.Text(in.Source.Client.Text))
	}
	if in.Source.Endpoint.Text != "" {
		m.Set("endpoint", document.Text(in.Source.Endpoint.Text))
	}
	for _, n := range in.Source.Names {
		m.Set(strings.ReplaceAll(strings.ToLower(n.Role), " ", "_"), document.Text(n.Text.Text))
	}
}

// connector is the first word of an entity's head.
func connector(entity string) string {
	first, _, _ := strings.Cut(entity, " ")
	return first
}

func (q *request) node() string { return q.service.deps.Group.Identity().NodeID }

func (q *request) clusterStatus() document.Value {
	group := q.service.deps.Group
	id, raft, state := group.Identity(), group.Status(), q.state()
	leader := document.None()
	if group.Leads() {
		leader = document.Text(id.NodeID)
	}
	var domains, schedule []document.Value
	for d := range state.Domains() {
		word := strings.ToUpper(status(d.Running)[:1]) + strings.ToLower(status(d.Running)[1:])
		domains = append(domains, new(document.Map).Set(document.Name, document.Text(d.Name)).
			Set("status", document.Text(word)).Set("pace", document.Text("UNPACED")).Value())
		for m := range state.Models(d.Name) {
			if scheduled(m.Kind) {
				schedule = append(schedule, new(document.Map).Set("domain", document.Text(d.Name)).Set("kind", document.Text(m.Kind.Snake())).
					Set("name", document.Text(m.Name)).Set("owner", document.Text(id.NodeID)).Set("replicas", document.None()).Value())
			}
		}
	}
	warnings := []document.Value{}
	if raft.Failed != nil {
		warnings = append(warnings, document.Text(raft.Failed.Error()))
	}
	cluster := new(document.Map).Set("id", document.Text(id.ClusterID)).Set("uuid", document.Text(id.Cluster.String())).
		Set("self", document.Text(id.NodeID))
	member := new(document.Map).Set(document.Name, document.Text(id.NodeID)).Set("role", document.Text("voter")).
		Set("incarnation", document.Uint(id.Counter)).Set("availability", document.Text("live")).
		Set("terminating", document.Bool(q.service.stopping.IsSet())).Set("cordoned", document.Bool(false)).
		Set("endpoints", document.TextOrNone(q.service.deps.ClientURL))
	consensus := new(document.Map).Set("current_leader", leader).Set("term", document.Uint(raft.Term)).
		Set("state", document.Text(raft.Role)).Set("last_index", document.Uint(raft.LastIndex)).
		Set("applied", document.Uint(state.Applied)).Set("commit", document.Uint(raft.Commit)).
		Set("cordoned_nodes", document.Text("(none)"))
	return new(document.Map).Set("cluster", cluster.Value()).Set("members", document.List(member.Value())).
		Set("raft", consensus.Value()).Set("domains", document.List(domains...)).
		Set("schedule", document.List(schedule...)).Set("warnings", document.List(warnings...)).Value()
}

// scheduled reports whether entities of a kind have an owner.
func scheduled(kind vocab.EntityKind) bool {
	switch kind {
	case vocab.EntityRelay, vocab.EntityIngestor, vocab.EntityJunction, vocab.EntityEmitter:
		return true
	}
	return false
}
