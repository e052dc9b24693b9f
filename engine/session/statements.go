package session

import (
	"context"
	"fmt"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/client"
	"plexus/engine/decide"
	"plexus/engine/schedule"
	"plexus/engine/session/sessionpb"
	"plexus/engine/transaction"
	"plexus/engine/transaction/transactionpb"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
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
		return ast.Words(x) + " " + x.Declared().Name.Text
	case *ast.CreateUser:
		return fmt.Sprintf("CREATE USER %t %s", x.IfNotExists, x.Name.Text)
	case *ast.AlterUser:
		return "ALTER USER " + x.Name.Text
	}
	return ""
}

// planner checks what can be checked of a statement by itself and returns how to
// plan it, or the reply of its failure.
func (q *request) planner(ctx context.Context, statement ast.Statement) (planner, *sessionpb.ExecuteReply, error) {
	switch x := statement.(type) {
	case *ast.CreateUser:
		return q.createUser(ctx, x)
	case *ast.AlterUser:
		return q.alterUser(ctx, x)
	}
	plan, reply := q.clear(statement)
	return plan, reply, nil
}

// planAgain returns how to plan the statement of a command that an earlier leader
// admitted.
func (q *request) planAgain() (planner, *sessionpb.ExecuteReply) {
	statement, err := parse.Statement(q.text)
	if err != nil {
		return nil, q.failed(diagnostics(err))
	}
	return q.clear(statement)
}

// clear returns how to plan a statement that holds no secret.
func (q *request) clear(statement ast.Statement) (planner, *sessionpb.ExecuteReply) {
	switch x := statement.(type) {
	case *ast.CreateDomain:
		return q.createDomain(x)
	case *ast.NodeControl:
		return q.nodeControl(x), nil
	case *ast.Relocate:
		return q.relocate(x), q.needDomain(x)
	case *ast.Drop:
		if x.Kind == vocab.EntityUser || x.Kind == vocab.EntityDomain {
			return q.dropCluster(x), nil
		}
	}
	if reply := q.needDomain(statement); reply != nil {
		return nil, reply
	}
	one, found := transaction.NewStatement(statement, q.text)
	if len(found) > 0 {
		return nil, q.failed(found)
	}
	return q.domainChange(one), nil
}

// domainChange plans a statement that changes one domain, as a transaction of one.
func (q *request) domainChange(one transaction.Statement) planner {
	return func(state *catalog.State) (*planned, *sessionpb.ExecuteReply) {
		plan, fault := transaction.Make(q.service.view(state), q.domain, []transaction.Statement{one})
		if fault == nil {
			fault = plan.Incomplete
		}
		if fault != nil {
			return nil, q.failed(fault.Found)
		}
		p := &planned{lease: q.domain, awaits: []string{q.domain}, level: plan.Level()}
		for _, o := range plan.Outcomes {
			p.outcomes = append(p.outcomes, statementOutcome(o))
		}
		for _, step := range plan.Steps {
			p.steps = append(p.steps, step.GetChanges()...)
			hold, err := holdOf(state, q.domain, step)
			if err != nil {
				return nil, refused(&catalog.Refusal{Code: catalog.Invalid, Message: err.Error()})
			}
			p.hold = hold
		}
		if n := plan.Moved(); n > 0 {
			p.moved = &n
		}
		return p, nil
	}
}

func statementOutcome(o *transactionpb.Outcome) *sessionpb.StatementOutcome {
	text := o.GetText()
	if o.GetResolved() != "" {
		text += "\n" + o.GetResolved()
	}
	return &sessionpb.StatementOutcome{Statement: o.GetStatement(), AlreadyExisted: o.GetExisted(), Text: text}
}

// view is what planning reads now.
func (s *Service) view(state *catalog.State) transaction.View {
	return transaction.View{State: state, Cluster: s.planning()}
}

// planning is what schedules depend on.
func (s *Service) planning() decide.Cluster {
	if s.deps.Cluster != nil {
		return s.deps.Cluster.Planning()
	}
	return decide.Cluster{Nodes: []schedule.Node{{ID: s.deps.Group.Identity().NodeID, Live: true, Voter: true}}}
}

// needDomain refuses statements that need a selected, existing domain.
func (q *request) needDomain(statement ast.Statement) *sessionpb.ExecuteReply {
	if _, found := q.selected(statement); len(found) > 0 {
		return q.failed(found)
	}
	return nil
}

func outcome(statement ast.Statement, existed bool, format string, args ...any) []*sessionpb.StatementOutcome {
	return []*sessionpb.StatementOutcome{{Statement: ast.Words(statement), AlreadyExisted: existed, Text: fmt.Sprintf(format, args...)}}
}

func (q *request) createDomain(x *ast.CreateDomain) (planner, *sessionpb.ExecuteReply) {
	entity, found := model.Lower(x)
	if len(found) > 0 {
		return nil, q.failed(found)
	}
	name := x.Name.Text
	step := decide.CreateDomain(entity.(*model.Domain))
	return func(s *catalog.State) (*planned, *sessionpb.ExecuteReply) {
		if _, ok := s.Domain(name); ok && x.IfNotExists {
			return &planned{outcomes: outcome(x, true, "domain '%s' already exists", name)}, nil
		} else if ok {
			return nil, q.fail(decide.CodeExists, x, "DOMAIN '%s' already exists", name)
		}
		return &planned{
			steps: []*catalogpb.Step{step}, awaits: []string{name}, outcomes: outcome(x, false, "created domain '%s'", name),
		}, nil
	}, nil
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
		p.awaits = []string{name}
	}
	return func(s *catalog.State) (*planned, *sessionpb.ExecuteReply) {
		_, refusedNow, _ := s.Apply(s.Applied+1, &catalogpb.Command{Steps: p.steps})
		if r := refusedNow.Refused; r != nil {
			return nil, q.fail(ast.Code(r.Code), x, "%s", r.Message)
		}
		return p, nil
	}
}
