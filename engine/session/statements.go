package session

import (
	"context"
	"fmt"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/client"
	"plexus/engine/decide"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/render"
	"plexus/nspl/vocab"
)

// canonical is the text a digest covers: the same for every spelling of the same
// persistent statement, "" for other statements.
func canonical(statement ast.Statement) string {
	switch x := statement.(type) {
	case ast.Declaration:
		if entity, found := model.Lower(x); len(found) == 0 {
			return fmt.Sprintf("%t %s", x.Declared().IfNotExists, render.Entity(entity))
		}
		return head(x) + " " + x.Declared().Name.Text
	case *ast.CreateUser:
		return fmt.Sprintf("CREATE USER %t %s", x.IfNotExists, x.Name.Text)
	case *ast.AlterUser:
		return "ALTER USER " + x.Name.Text
	case *ast.Drop:
		return head(x) + " " + x.Name.Text
	case *ast.Start:
		return fmt.Sprintf("START %t", x.AtNow)
	case *ast.Stop:
		return "STOP"
	}
	return ""
}

// planner checks what can be checked of a statement by itself and returns how to
// plan it, or the reply of its failure.
func (q *request) planner(ctx context.Context, statement ast.Statement) (planner, *sessionpb.ExecuteReply, error) {
	switch x := statement.(type) {
	case *ast.CreateDomain:
		return q.createDomain(x)
	case *ast.CreateUser:
		return q.createUser(ctx, x)
	case *ast.AlterUser:
		return q.alterUser(ctx, x)
	case *ast.Start:
		return q.domainStep(x, setRunning(q.domain, true, x.AtNow), "started domain '%s'"), q.needDomain(x), nil
	case *ast.Stop:
		return q.domainStep(x, setRunning(q.domain, false, false), "stopped domain '%s'"), q.needDomain(x), nil
	case *ast.Drop:
		if x.Kind == vocab.EntityUser || x.Kind == vocab.EntityDomain {
			return q.dropCluster(x), nil, nil
		}
	}
	if reply := q.needDomain(statement); reply != nil {
		return nil, reply, nil
	}
	entry := queued{statement: statement, text: q.text}
	if found := entry.lower(); len(found) > 0 {
		return nil, q.failed(found), nil
	}
	return q.planSteps([]queued{entry}), nil, nil
}

// needDomain refuses statements that need a selected, existing domain.
func (q *request) needDomain(statement ast.Statement) *sessionpb.ExecuteReply {
	if _, found := q.selected(statement); len(found) > 0 {
		return q.failed(found)
	}
	return nil
}

func outcome(statement ast.Statement, existed bool, format string, args ...any) []*sessionpb.StatementOutcome {
	return []*sessionpb.StatementOutcome{{Statement: head(statement), AlreadyExisted: existed, Text: fmt.Sprintf(format, args...)}}
}

func (q *request) createDomain(x *ast.CreateDomain) (planner, *sessionpb.ExecuteReply, error) {
	if _, found := model.Lower(x); len(found) > 0 {
		return nil, q.failed(found), nil
	}
	name := x.Name.Text
	step := &catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: name}}}
	return func(s *catalog.State) (*planned, *sessionpb.ExecuteReply) {
		if _, ok := s.Domain(name); ok && x.IfNotExists {
			return &planned{outcomes: outcome(x, true, "domain '%s' already exists", name)}, nil
		} else if ok {
			return nil, q.fail(decide.CodeExists, x, "DOMAIN '%s' already exists", name)
		}
		return &planned{
			steps: []*catalogpb.Step{step}, domains: []string{name}, outcomes: outcome(x, false, "created domain '%s'", name),
		}, nil
	}, nil, nil
}

func (q *request) createUser(ctx context.Context, x *ast.CreateUser) (planner, *sessionpb.ExecuteReply, error) {
	name := x.Name.Text
	hash, reply, err := q.hash(ctx, x.Password)
	if reply != nil || err != nil {
		return nil, reply, err
	}
	step := &catalogpb.Step{Body: &catalogpb.Step_CreateUser{CreateUser: &catalogpb.CreateUser{Name: name, PasswordHash: hash}}}
	return func(s *catalog.State) (*planned, *sessionpb.ExecuteReply) {
		if _, ok := s.User(name); ok && x.IfNotExists {
			return &planned{outcomes: outcome(x, true, "user '%s' already exists", name)}, nil
		} else if ok {
			return nil, q.fail(decide.CodeExists, x, "USER '%s' already exists", name)
		}
		return &planned{steps: []*catalogpb.Step{step}, outcomes: outcome(x, false, "created user '%s'", name)}, nil
	}, nil, nil
}

func (q *request) alterUser(ctx context.Context, x *ast.AlterUser) (planner, *sessionpb.ExecuteReply, error) {
	hash, reply, err := q.hash(ctx, x.Password)
	if reply != nil || err != nil {
		return nil, reply, err
	}
	step := &catalogpb.Step{Body: &catalogpb.Step_AlterUser{AlterUser: &catalogpb.AlterUser{Name: x.Name.Text, PasswordHash: hash}}}
	return func(s *catalog.State) (*planned, *sessionpb.ExecuteReply) {
		if _, ok := s.User(x.Name.Text); !ok {
			return nil, q.fail(ast.CodeRefMissing, x, "USER '%s' does not exist", x.Name.Text)
		}
		return &planned{steps: []*catalogpb.Step{step}, outcomes: outcome(x, false, "altered user '%s'", x.Name.Text)}, nil
	}, nil, nil
}

// hash checks and hashes a password, which goes no further than here (N4).
func (q *request) hash(ctx context.Context, password ast.Text) (string, *sessionpb.ExecuteReply, error) {
	if found := model.CheckPassword(password); len(found) > 0 {
		// The excerpt of the line would show the password.
		for _, d := range found {
			d.Span = vocab.Span{}
		}
		return "", q.failed(found), nil
	}
	hash, err := q.service.deps.Passwords.Hash(ctx, password.Text)
	if err != nil {
		return "", nil, refusal(client.Unavailable, "%v", err)
	}
	return hash, nil, nil
}

// dropCluster drops a user or a domain.
func (q *request) dropCluster(x *ast.Drop) planner {
	name := x.Name.Text
	p := &planned{outcomes: outcome(x, false, "dropped %s '%s'", x.Kind.Words(), name)}
	if x.Kind == vocab.EntityUser {
		p.steps = []*catalogpb.Step{{Body: &catalogpb.Step_DropUser{DropUser: &catalogpb.DropUser{Name: name}}}}
	} else {
		p.steps = []*catalogpb.Step{{Body: &catalogpb.Step_DropDomain{DropDomain: &catalogpb.DropDomain{Name: name}}}}
		p.domains = []string{name}
	}
	return func(s *catalog.State) (*planned, *sessionpb.ExecuteReply) {
		_, refusedNow, _ := s.Apply(s.Applied+1, &catalogpb.Command{Steps: p.steps})
		if r := refusedNow.Refused; r != nil {
			return nil, q.fail(ast.Code(r.Code), x, "%s", r.Message)
		}
		return p, nil
	}
}

func setRunning(domain string, running, fresh bool) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_SetRunning{SetRunning: &catalogpb.SetRunning{Domain: domain, Running: running, Fresh: fresh}}}
}

// domainStep plans START and STOP.
func (q *request) domainStep(x ast.Statement, step *catalogpb.Step, done string) planner {
	return func(s *catalog.State) (*planned, *sessionpb.ExecuteReply) {
		_, result, _ := s.Apply(s.Applied+1, &catalogpb.Command{Steps: []*catalogpb.Step{step}})
		if r := result.Refused; r != nil {
			return nil, q.fail(ast.Code(r.Code), x, "%s", r.Message)
		}
		return &planned{
			steps: []*catalogpb.Step{step}, domains: []string{q.domain},
			outcomes: outcome(x, false, done, q.domain), level: decide.Dynamic.String(),
		}, nil
	}
}
