package session

import (
	"context"
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
func (q *request) read(ctx context.Context, statement ast.Statement) *sessionpb.ExecuteReply {
	v, format, found := q.answer(ctx, statement)
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

func (q *request) answer(ctx context.Context, statement ast.Statement) (document.Value, ast.Format, ast.Diagnostics) {
	switch x := statement.(type) {
	case *ast.Use:
		if _, ok := q.state().Domain(x.Domain.Text); !ok {
			return nil, 0, ast.Diagnostics{ast.Errorf(codeDomainMissing, x.Domain.Span, "domain '%s' does not exist", x.Domain.Text).
				WithHint("%s", decide.Meant(q.state(), "", catalog.Key{Kind: vocab.EntityDomain, Name: x.Domain.Text}))}
		}
		return line("domain '%s' is selected", x.Domain.Text), ast.FormatText, nil
	case *ast.ListDomains:
		return q.listDomains(), ast.FormatText, nil
	case *ast.ShowCreate:
		v, found := q.showCreate(x)
		return v, x.Format, found
	case *ast.Show:
		v, found := q.show(ctx, x)
		return v, x.Format, found
	case *ast.Describe:
		v, found := q.describe(ctx, x)
		return v, x.Format, found
	case *ast.DescribeRelocation:
		v, found := q.describeRelocation(x)
		return v, x.Format, found
	case *ast.ShowState:
		v, found := q.showState(x)
		return v, x.Format, found
	case *ast.Lookup:
		return nil, 0, q.lookup(x)
	case *ast.UploadResource:
		return nil, 0, refuseAt(ast.CodeUnavailable, x, "not available yet: resource uploads")
	case *ast.Backup, *ast.Restore, *ast.DescribeBackup:
		return nil, 0, refuseAt(ast.CodeUnavailable, x, "not available yet: backups")
	case *ast.DescribeTransaction:
		v, found := q.describeTransaction(ctx, x)
		return v, x.Format, found
	}
	return nil, 0, ast.Diagnostics{ast.Errorf(ast.CodeUnavailable, statement.Place(), "not available yet: %s", ast.Words(statement))}
}

func status(running bool) string {
	if running {
		return "RUNNING"
	}
	return "STOPPED"
}

func pace(d *catalog.Domain) string {
	if d.Pace != nil {
		return "PACED"
	}
	return "UNPACED"
}

func (q *request) listDomains() document.Value {
	var items []document.Value
	for d := range q.state().Domains() {
		items = append(items, new(document.Map).Set(document.Name, document.Text(d.Name)).
			Set("pace", document.Text(pace(d))).Set("status", document.Text(status(d.Running))).Value())
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
		missing.Hint = decide.Meant(q.state(), d.Name, catalog.Key{Kind: kind, Name: name.Text})
		return nil, ast.Diagnostics{missing}
	}
	return m, nil
}

func (q *request) showCreate(x *ast.ShowCreate) (document.Value, ast.Diagnostics) {
	if x.Kind == vocab.EntityResource {
		d, found := q.selected(x)
		if len(found) > 0 {
			return nil, found
		}
		if _, ok := q.state().Resource(d.Name, x.Name.Text); ok {
			return document.Text(render.Entity(&model.Resource{Name: x.Name.Text})), nil
		}
	}
	m, found := q.model(x, x.Kind, x.Name)
	if len(found) > 0 {
		return nil, found
	}
	return document.Text(render.Entity(model.Shown(m.Definition))), nil
}

func (q *request) show(ctx context.Context, x *ast.Show) (document.Value, ast.Diagnostics) {
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
		return q.showTransactions(), nil
	}
	d, found := q.selected(x)
	if len(found) > 0 {
		return nil, found
	}
	switch x.What {
	case ast.ListPlacements:
		return rules(decide.ShowPlacements(q.state(), d.Name)), nil
	case ast.ListUDFs:
		return q.showUDFs(d.Name), nil
	}
	var items []document.Value
	for m := range q.state().Models(d.Name) {
		if in, ok := m.Definition.(*model.Ingestor); ok {
			items = append(items, q.ingestorLine(ctx, d, in))
		}
	}
	return document.List(items...), nil
}

// ingestorLine is one line of SHOW INGESTORS.
func (q *request) ingestorLine(ctx context.Context, d *catalog.Domain, in *model.Ingestor) document.Value {
	key := catalog.Key{Kind: vocab.EntityIngestor, Name: in.Name}
	m := new(document.Map).Set(document.Name, document.Text(in.Name)).Set("source", document.Text(connector(in.Source.Entity.String())))
	sourceFields(m, in)
	m.Set("owner", document.TextOrNone(q.placedOn(d.Name, key)))
	state, ready := document.Text("stopped"), document.Bool(false)
	if domain := q.service.deps.Runtime.Domain(d.Name); domain != nil {
		if s, ok := domain.DescribeIngestor(in.Name); ok {
			state, ready = document.Text(s.Status), document.Bool(s.Ready)
		}
	}
	if v := q.remote(ctx, d.Name, key); v != nil {
		state, ready = document.Member(v, "status"), document.Member(v, "ready")
	}
	return m.Set("status", state).Set("ready", ready).Value()
}

// connector is the first word of an entity's head.
func connector(entity string) string {
	first, _, _ := strings.Cut(entity, " ")
	return first
}
