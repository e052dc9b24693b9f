package model

import (
	"math"
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
	return m
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
