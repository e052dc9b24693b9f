package model

import (
	"math"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Client is a connection configuration.
type Client struct {
	Name      string
	Type      vocab.ClientType
	Signaling *ast.Name // of WEBSOCKETS; nil for none
	Pool      *vocab.Pool
	Mount     *ast.Binding        // nil: no value has a template
	Config    []vocab.ConfigEntry // in written order
}

// Kind returns the kind.
func (*Client) Kind() vocab.EntityKind { return vocab.EntityClient }

// EntityName returns the name.
func (c *Client) EntityName() string { return c.Name }

// Refs returns the signaling protocol and the mounted resource.
func (c *Client) Refs() []Ref {
	var refs []Ref
	if c.Signaling != nil {
		refs = append(refs, ref(vocab.EntitySignaling, *c.Signaling))
	}
	if c.Mount != nil {
		refs = append(refs, ref(vocab.EntityResource, c.Mount.Resource))
	}
	return refs
}

// Bound returns the mounted version.
func (c *Client) Bound() *ast.Binding { return c.Mount }

func lowerClient(c *checker, d *ast.CreateClient) *Client {
	m := &Client{Name: d.Name.Text, Type: d.Type, Signaling: d.Signaling, Mount: d.Mount, Config: make([]vocab.ConfigEntry, len(d.Config))}
	if d.Pool != nil {
		m.Pool = c.pool(*d.Pool)
	}
	var keys nameSet
	for i, e := range d.Config {
		c.unique(&keys, ast.Name(e.Key), "duplicate CONFIG key '%s'")
		m.Config[i] = vocab.ConfigEntry{Key: e.Key.Text, Value: e.Value.Text}
	}
	if len(c.found) == 0 {
		c.config(d, m)
	}
	return m
}

// mountPath stands for the directory of a mount while values are checked.
const mountPath = "/mount"

// config checks keys and values with the rules of the client type.
func (c *checker) config(d *ast.CreateClient, m *Client) {
	filled := make([]vocab.ConfigEntry, len(m.Config))
	for i, e := range d.Config {
		filled[i] = vocab.ConfigEntry{Key: e.Key.Text, Value: c.templates(d, e)}
	}
	if len(c.found) > 0 {
		return
	}
	for _, wrong := range vocab.CheckClientConfig(m.Type, filled) {
		fault := ast.Errorf(ast.CodeInvalid, d.Span, "%v", wrong)
		for _, e := range d.Config {
			if e.Key.Text != wrong.Key {
				continue
			}
			fault.Span = e.Value.Span
			if _, known := m.Type.Key(wrong.Key); !known {
				fault = ast.Errorf(ast.CodeInvalid, e.Key.Span, "CONFIG key '%s' is not known to TYPE %s", wrong.Key, m.Type)
				fault.Hint = keyHint(m.Type, wrong.Key)
			}
		}
		if fault.Span == d.Span {
			fault.Span = demanding(d, wrong.Error())
		}
		c.add(fault)
	}
}

// demanding is where a setting stands that demands one that is missing; the statement
// where it is demanded of all.
func demanding(d *ast.CreateClient, message string) vocab.Span {
	_, by, _ := strings.Cut(message, " with ")
	for _, e := range d.Config {
		if e.Key.Text == by {
			return e.Value.Span
		}
	}
	return d.Span
}

// templates returns a value with every template replaced by what could stand
// there, and reports those that nothing replaces.
func (c *checker) templates(d *ast.CreateClient, e ast.ConfigEntry) string {
	key, _ := d.Type.Key(e.Key.Text)
	var out strings.Builder
	for rest := e.Value.Text; ; {
		before, after, found := strings.Cut(rest, "{{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		inside, behind, closed := strings.Cut(after, "}}")
		switch name := strings.TrimSpace(inside); {
		case !closed:
			c.invalid(e.Value.Span, "CONFIG key '%s' has a template that does not end in '}}'", e.Key.Text)
			return ""
		case key.Instance && name == vocab.InstanceWord:
			out.WriteString("0")
		case d.Mount == nil:
			c.invalid(e.Value.Span, "CONFIG key '%s' has a template, but the client has no MOUNT", e.Key.Text)
			return ""
		case strings.ToLower(name) != d.Mount.Resource.Text:
			c.add(ast.Errorf(ast.CodeInvalid, e.Value.Span, "CONFIG key '%s' has a template of something that is not mounted", e.Key.Text).
				WithHint("{{ %s }} is the directory of the mount", d.Mount.Resource.Text))
			return ""
		default:
			out.WriteString(mountPath)
		}
		rest = behind
	}
}

// keyHint proposes the key that was meant, or lists all.
func keyHint(t vocab.ClientType, key string) string {
	var names []string
	for _, k := range t.ConfigKeys() {
		if k.Never == "" {
			names = append(names, k.Name)
		}
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
