package decide

import (
	"slices"
	"strings"

	"plexus/engine/catalog"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// surroundings are what every expression of the domain has: the functions it may
// call and the hash maps it may look up.
func (c *Candidate) surroundings() typed.Env { return typed.Env{UDF: c.Function, HashMap: c.hashMap} }

func (c *Candidate) hashMap(name string) (typed.HashMap, bool) {
	m, ok := lookup[*model.HashMap](c, vocab.EntityHashMap, name)
	if !ok {
		return typed.HashMap{}, false
	}
	codec, _ := c.codec(m.Decode.Text)
	schema, _ := c.schema(codec.Schema.Text)
	return typed.HashMap{Name: name, Key: schema.Fields[schema.Index(m.Key.Text)].Type, Schema: schema}, true
}

// Function finds what callers see of a user-defined function of the domain.
func (c *Candidate) Function(name string) (*typed.Function, bool) {
	u, ok := lookup[*model.UDF](c, vocab.EntityUDF, name)
	if !ok {
		return nil, false
	}
	return Function(u), true
}

// Function returns what callers see of a user-defined function.
func Function(u *model.UDF) *typed.Function {
	f := &typed.Function{Name: u.Name, Returns: u.Returns.Type, Optional: u.Optional, Volatile: u.Volatile}
	for _, p := range u.Params {
		f.Params = append(f.Params, typed.Param{Name: p.Name.Text, Type: p.Type.Type, Optional: p.Optional})
	}
	return f
}

// checkFunction checks the code of a user-defined function. Its tests run when it
// is declared.
func (c *Candidate) checkFunction(u *model.UDF, declared bool, f *found) {
	env := c.surroundings()
	env.HashMap = nil // a function depends on its arguments alone
	env.Place = "UDF '" + u.Name + "'"
	if u.Body == nil {
		_, faults := typed.CheckTests(Function(u), u.Tests, env)
		f.take(faults)
		if len(faults) == 0 && len(u.Tests) > 0 && declared {
			f.add(ast.CodeUnavailable, u.Tests[0].Span, "not available yet: tests of WASM functions")
		}
		return
	}
	body, faults := typed.CheckFunction(Function(u), u.Body, env)
	f.take(faults)
	if len(faults) > 0 || len(u.Tests) == 0 || !declared {
		return
	}
	t, what := newTrial(Function(u), body)
	if what != "" {
		f.add(ast.CodeUnavailable, u.Tests[0].Span, "not available yet: tests with %s", what)
		return
	}
	if failed, at := t.failure(); failed != "" {
		f.add(CodeContent, at, "%s", failed)
	}
}

// checkFunctionCycles refuses functions that call each other in a circle, and
// those that call themselves.
func (c *Candidate) checkFunctionCycles(s scope) *Invalid {
	if !s.whole && !slices.ContainsFunc(s.touched, c.calledByFunction) {
		return nil // no circle has closed
	}
	const (
		entered = 1
		left    = 2
	)
	state := map[string]int{}
	var path []string
	var visit func(e *entry) *Invalid
	visit = func(e *entry) *Invalid {
		state[e.key.Name] = entered
		path = append(path, e.key.Name)
		for _, call := range ast.Calls(e.entity) {
			if !call.UDF {
				continue
			}
			next := call.Name.Text
			if state[next] == entered {
				f := found{key: e.key}
				f.add(CodeGraphCycle, call.Name.Span, "UDFs call each other in a circle: %s", circle(path, next))
				return c.report(e, f.list)
			}
			if at, ok := c.find(catalog.Key{Kind: vocab.EntityUDF, Name: next}); ok && state[next] == 0 {
				if bad := visit(c.entries[at]); bad != nil {
					return bad
				}
			}
		}
		path = path[:len(path)-1]
		state[e.key.Name] = left
		return nil
	}
	for i := range c.entries {
		e := c.entries[i]
		if e.key.Kind != vocab.EntityUDF || state[e.key.Name] != 0 {
			continue
		}
		if bad := visit(e); bad != nil {
			return bad
		}
	}
	return nil
}

// calledByFunction reports whether an entity is a function that functions call.
func (c *Candidate) calledByFunction(key catalog.Key) bool {
	return key.Kind == vocab.EntityUDF &&
		slices.ContainsFunc(c.tied().users[key], func(user catalog.Key) bool { return user.Kind == vocab.EntityUDF })
}

// circle writes the part of a path from a name to itself.
func circle(path []string, name string) string {
	for len(path) > 1 && path[0] != name {
		path = path[1:]
	}
	return strings.Join(append(append([]string{}, path...), name), " -> ")
}
