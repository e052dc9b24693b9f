package harness

import (
	"context"
	"fmt"

	"github.com/cucumber/godog"

	"plexus/nspl/ast"
	"plexus/nspl/parse"
	"plexus/nspl/vocab"
)

// declaredEntity is something that SHOW CREATE shows.
type declaredEntity struct {
	kind vocab.EntityKind
	name string
}

func (d declaredEntity) String() string { return d.kind.String() + " `" + d.name + "`" }

func (s *Scene) refusalSteps(sc *godog.ScenarioContext) {
	// Every statement of the table is refused with the code and about the entity of
	// its line, and leaves everything that the scenario created, and what the statement
	// would create, as it was.
	s.result(sc, `^`+sessionPattern+` is refused each of, and nothing changes:$`, func(ctx context.Context, who string, table *godog.Table) error {
		for _, row := range table.Rows[1:] {
			code, entity, text := row.Cells[0].Value, row.Cells[1].Value, row.Cells[2].Value
			text, err := s.expand(ctx, text)
			if err != nil {
				return err
			}
			if err := s.refusedUnchanged(ctx, who, code, entity, text); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
		}
		return nil
	})
}

func (s *Scene) refusedUnchanged(ctx context.Context, who, code, entity, text string) error {
	watched := s.declared
	if parsed, err := parse.Statement(text); err == nil {
		if d, ok := parsed.(ast.Declaration); ok {
			watched = append(watched[:len(watched):len(watched)], entityOf(d)...)
		}
	}
	before, err := s.shown(ctx, who, watched)
	if err != nil {
		return err
	}
	if err := s.execute(ctx, who, text); err != nil {
		return err
	}
	refused := s.last
	s.refusalOpen = false
	if refused.Completed() {
		return fmt.Errorf("it succeeded: %s", refused.Text)
	}
	if len(refused.Faults) == 0 {
		return fmt.Errorf("it is %s without a diagnostic: %s", refused.Disposition, refused.Refusal)
	}
	for _, f := range refused.Faults {
		if f.Code != code || f.Entity != entity {
			return fmt.Errorf("it was refused with %s about %q:\n%s", f.Code, f.Entity, refused.Refusal)
		}
	}
	after, err := s.shown(ctx, who, watched)
	if err != nil {
		return err
	}
	for i := range watched {
		if before[i] != after[i] {
			return fmt.Errorf("%s was\n%s\nand is\n%s", watched[i], before[i], after[i])
		}
	}
	return nil
}

// shown is what SHOW CREATE says of each entity, refusals included.
func (s *Scene) shown(ctx context.Context, who string, list []declaredEntity) ([]string, error) {
	session, err := s.session(ctx, who)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(list))
	for i, d := range list {
		reply, err := session.session.Execute(ctx, "SHOW CREATE "+d.String())
		if err != nil {
			return nil, err
		}
		texts[i] = reply.Text + reply.Refusal
	}
	return texts, nil
}

// declare remembers what statements that were accepted created.
func (s *Scene) declare(text string) {
	all, err := parse.Statements(text)
	if err != nil {
		return // the node understood them
	}
	for _, x := range all {
		if d, ok := x.(ast.Declaration); ok {
			s.declared = append(s.declared, entityOf(d)...)
		}
	}
}

// entityOf is what a declaration makes, nothing where SHOW CREATE does not show it.
func entityOf(d ast.Declaration) []declaredEntity {
	if kind := d.Declares(); kind != vocab.EntityDomain && kind != vocab.EntityUser {
		return []declaredEntity{{kind, d.Declared().Name.Text}}
	}
	return nil
}
