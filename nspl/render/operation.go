package render

import (
	"slices"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// operationWords begin an operation of ALTER. A field of such a name would end the
// list before it.
var operationWords = []string{"add", "drop", "alter", "set", "replace", "rename", "mode"}

// operations writes the operations of ALTER behind its head: on its line, or each
// on one of its own where one of them takes several lines.
func (w *writer) operations(n int, lines bool, operation func(i int)) {
	w.altering = true
	for i := range n {
		if i > 0 {
			w.put(",")
		}
		if lines {
			w.clause(2)
		} else {
			w.put(" ")
		}
		operation(i)
	}
}

func (w *writer) alterRelay(s *ast.AlterRelay) {
	w.put("ALTER RELAY ").name(s.Name.Text)
	w.operations(len(s.Changes), false, func(i int) {
		switch c := s.Changes[i]; c.Op {
		case ast.RelaySetCapacity:
			w.put("SET CAPACITY ").uint(c.Capacity.Value)
		case ast.RelaySetSchema:
			w.put("SET SCHEMA ").name(c.Schema.Text)
		case ast.RelaySetBranch:
			w.put("SET ").branchUse(c.Branch)
		case ast.RelaySetState:
			w.put("SET MATERIALIZED STATE LAST BY TIMESTAMP")
		case ast.RelayDropState:
			w.put("DROP MATERIALIZED STATE")
		}
	})
}

func (w *writer) alterNode(s *ast.AlterNode) {
	w.put("ALTER ", s.Kind.String(), " ").name(s.Name.Text)
	w.operations(len(s.Changes), slices.ContainsFunc(s.Changes, tall), func(i int) {
		if c := &s.Changes[i]; c.Op != ast.NodeSetKeys {
			w.nodeChange(c)
		} else if s.Kind == vocab.EntityReorderer {
			w.put("SET BY ").exprs(c.Keys)
		} else {
			w.put("SET DEDUPLICATE ON ").exprs(c.Keys)
		}
	})
}

// tall reports whether an operation takes several lines.
func tall(c ast.NodeChange) bool {
	switch c.Op {
	case ast.NodeAddRoute, ast.NodeReplaceRoute, ast.NodeSetSource, ast.NodeSetSink:
		return true
	case ast.NodeAddState, ast.NodeSetStatePolicy:
		return c.State.Policy == ast.StateDefault
	}
	return false
}

func (w *writer) nodeChange(c *ast.NodeChange) {
	switch c.Op {
	case ast.NodeAddInput:
		w.put("ADD FROM ").name(c.Name.Text)
		if c.Where != nil {
			w.put(" WHERE ").expr(c.Where)
		}
	case ast.NodeDropInput:
		w.put("DROP FROM ").name(c.Name.Text)
	case ast.NodeSetInputWhere:
		w.put("ALTER FROM ").name(c.Name.Text).put(" SET WHERE ").expr(c.Where)
	case ast.NodeDropInputWhere:
		w.put("ALTER FROM ").name(c.Name.Text).put(" DROP WHERE")
	case ast.NodeSetCollect:
		w.put("SET ").collect(c.Collect)
	case ast.NodeDropCollect:
		w.put("DROP COLLECT")
	case ast.NodeSetFilter:
		w.put("SET FILTER WHERE ").expr(c.Where)
	case ast.NodeDropFilter:
		w.put("DROP FILTER WHERE")
	case ast.NodeSetAttachment:
		w.put("SET ", []string{ast.Attached: "ATTACHED", ast.Detached: "DETACHED"}[c.Attachment])
	case ast.NodeSetBranch:
		w.put("SET ").branchUse(c.Branch)
	case ast.NodeAddState:
		w.put("ADD MATERIALIZED STATE ").name(c.State.Relay.Text).put(" ").statePolicy(c.State, 2)
	case ast.NodeDropState:
		w.put("DROP MATERIALIZED STATE ").name(c.Name.Text)
	case ast.NodeSetStatePolicy:
		w.put("ALTER MATERIALIZED STATE ").name(c.State.Relay.Text).put(" SET ").statePolicy(c.State, 2)
	case ast.NodeAddRoute:
		w.put("ADD ROUTE ").route(&c.Route)
	case ast.NodeDropRoute:
		w.put("DROP ROUTE TO ").name(c.Name.Text)
	case ast.NodeReplaceRoute:
		w.put("REPLACE ROUTE ").route(&c.Route)
	default:
		w.kindChange(c)
	}
}

// kindChange writes an operation that few kinds have.
func (w *writer) kindChange(c *ast.NodeChange) {
	switch c.Op {
	case ast.NodeSetMaxTime:
		w.put("SET MAX TIME ", c.Duration.Text)
	case ast.NodeSetFeed:
		w.put("SET MATERIALIZED STATE ").name(c.Name.Text)
	case ast.NodeSetEach:
		w.put("SET EACH ", c.Duration.Text)
	default:
		w.connectorChange(c)
	}
}
