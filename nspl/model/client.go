package model

import (
	"errors"
	"math"
	"slices"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Client is a connection configuration.
type Client struct {
	Name   string
	Type   vocab.ClientType
	Pool   *vocab.Pool
	Config []vocab.ConfigEntry // in written order
}

// Kind returns the kind.
func (*Client) Kind() vocab.EntityKind { return vocab.EntityClient }

// EntityName returns the name.
func (c *Client) EntityName() string { return c.Name }

// Refs returns nothing.
func (*Client) Refs() []Ref { return nil }

func lowerClient(c *checker, d *ast.CreateClient) *Client {
	m := &Client{Name: d.Name.Text, Type: d.Type, Config: make([]vocab.ConfigEntry, len(d.Config))}
	if d.Pool != nil {
		m.Pool = c.pool(*d.Pool)
	}
	var keys nameSet
	for i, e := range d.Config {
		c.unique(&keys, ast.Name(e.Key), "duplicate CONFIG key '%s'")
		if strings.Contains(e.Value.Text, "{{") {
			c.invalid(e.Value.Span, "CONFIG key '%s' has a template, but the client has no MOUNT", e.Key.Text)
		}
		m.Config[i] = vocab.ConfigEntry{Key: e.Key.Text, Value: e.Value.Text}
	}
	if len(c.found) == 0 {
		c.config(d, m)
	}
	return m
}

// config checks keys and values with the rules of the client type.
func (c *checker) config(d *ast.CreateClient, m *Client) {
	err := vocab.CheckClientConfig(m.Type, m.Config)
	if err == nil {
		return
	}
	fault := ast.Errorf(ast.CodeInvalid, d.Span, "%v", err)
	var wrong *vocab.ConfigError
	if errors.As(err, &wrong) {
		known := slices.ContainsFunc(m.Type.ConfigKeys(), func(k vocab.ConfigKey) bool { return k.Name == wrong.Key })
		for _, e := range d.Config {
			if e.Key.Text != wrong.Key {
				continue
			}
			fault.Span = e.Value.Span
			if !known {
				fault = ast.Errorf(ast.CodeInvalid, e.Key.Span, "CONFIG key '%s' is not known to TYPE %s", wrong.Key, m.Type)
				fault.Hint = keyHint(m.Type, wrong.Key)
			}
		}
	}
	c.add(fault)
}

// keyHint proposes the key that was meant, or lists all.
func keyHint(t vocab.ClientType, key string) string {
	var names []string
	for _, k := range t.ConfigKeys() {
		names = append(names, k.Name)
	}
	if near := vocab.Nearest(key, names); near != "" {
		return "did you mean '" + near + "'?"
	}
	return "keys are " + strings.Join(names, ", ")
}

func (c *checker) pool(p ast.Pool) *vocab.Pool {
	for _, n := range []ast.Uint{p.Min, p.Max} {
		if n.Value > math.MaxUint32 {
			c.invalid(n.Span, "invalid integer '%d'; expected 0 through %d", n.Value, uint32(math.MaxUint32))
			return nil
		}
	}
	if p.Max.Value == 0 {
		c.invalid(p.Max.Span, "maximum pool size must be greater than zero")
	} else if p.Min.Value > p.Max.Value {
		c.invalid(p.Min.Span, "minimum pool size %d must not exceed maximum pool size %d", p.Min.Value, p.Max.Value)
	}
	return &vocab.Pool{Min: uint32(p.Min.Value), Max: uint32(p.Max.Value)}
}

// Shown returns an entity as people may see it: the secrets of a client are
// masked. Everything else is returned as it is.
func Shown(e Entity) Entity {
	c, ok := e.(*Client)
	if !ok {
		return e
	}
	shown := *c
	shown.Config = make([]vocab.ConfigEntry, len(c.Config))
	for i, entry := range c.Config {
		shown.Config[i] = vocab.ConfigEntry{Key: entry.Key, Value: vocab.MaskConfig(c.Type, entry)}
	}
	return &shown
}
