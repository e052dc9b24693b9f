package decide

import (
	"fmt"
	"slices"
	"strings"

	"plexus/engine/catalog"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// checkReferences is V2: everything an entity names exists and is of the kind
// its place takes.
func checkReferences(c *Candidate, e *entry, f *found) {
	if x, ok := e.entity.(*model.Placement); ok {
		c.checkMembersExist(e, x, f)
		return
	}
	for _, ref := range e.refs {
		target := catalog.Key{Kind: ref.Kind, Name: ref.Name}
		switch {
		case c.Exists(target):
		case c.dropped[target]:
			// The batch removed what this entity still needs: the fault is the
			// DROP's, and it lists every user.
			f.inUse(c, target)
			return
		default:
			f.add(ast.CodeRefMissing, ref.Span, "%s requires missing %s", e.key, target).WithTarget(target.Kind, target.Name).Hint = c.meant(target)
		}
	}
	if len(f.list) > 0 {
		return
	}
	c.checkStates(e, f)
	switch x := e.entity.(type) {
	case *model.HashMap:
		c.checkDirection(x.Decode, false, f)
	case *model.Ingestor:
		if x.Decode.Text != "" {
			c.checkDirection(x.Decode, false, f)
			c.checkPayload(x, f)
		}
		c.checkClient(e, x.Source.Client, x.Source.Entity.Capabilities().Client, f)
		c.checkEndpointType(e, x, f)
	case *model.Emitter:
		if x.Body.Codec != nil {
			c.checkDirection(*x.Body.Codec, true, f)
		}
		want := x.Sink.Entity.Capabilities().Client
		if want == 0 {
			want = x.Sink.Backend.Type
		}
		c.checkClient(e, x.Sink.Client, want, f)
		if x.Sink.Lake != nil {
			c.checkClient(e, x.Sink.Lake.Catalog, vocab.ClientIcebergREST, f)
		}
	}
}

// checkPayload demands a codec for the payloads that a source makes.
func (c *Candidate) checkPayload(x *model.Ingestor, f *found) {
	codec, ok := c.codec(x.Decode.Text)
	if ok && x.Source.Entity.Capabilities().Payload == vocab.JSONRows && codec.Format != vocab.FormatWireJSON && codec.Format != vocab.FormatJSON {
		f.add(ast.CodeRefKind, x.Decode.Span, "%s makes JSON rows, which codec '%s' FROM %s does not decode", x.Source.Entity, codec.Name, codec.Format).
			WithHint("take a codec FROM WIRE JSON SCHEMA, or FROM JSON")
	}
}

// checkStates demands a materialized relay of every state that is read.
func (c *Candidate) checkStates(e *entry, f *found) {
	for _, name := range states(e.entity) {
		if r, _ := lookup[*model.Relay](c, vocab.EntityRelay, name.Text); !r.Materialized {
			f.add(ast.CodeRefKind, name.Span, "%s reads the state of RELAY '%s', which is not materialized", e.key, name.Text).
				WithHint("declare the relay WITH MATERIALIZED STATE LAST BY TIMESTAMP")
		}
	}
}

// checkClient demands the TYPE of a client that an entity names.
func (c *Candidate) checkClient(e *entry, name ast.Name, want vocab.ClientType, f *found) {
	client, ok := lookup[*model.Client](c, vocab.EntityClient, name.Text)
	if ok && client.Type != want {
		f.add(ast.CodeRefKind, name.Span, "%s takes a client of TYPE %s, but CLIENT '%s' is of TYPE %s",
			e.key, want, name.Text, client.Type)
	}
}

// checkEndpointType demands an endpoint of the TYPE that the source speaks.
func (c *Candidate) checkEndpointType(e *entry, x *model.Ingestor, f *found) {
	can := x.Source.Entity.Capabilities()
	endpoint, ok := lookup[*model.Endpoint](c, vocab.EntityEndpoint, x.Source.Endpoint.Text)
	if ok && can.Subject == vocab.SubjectEndpoint && endpoint.Type != can.Endpoint {
		f.add(ast.CodeRefKind, x.Source.Endpoint.Span, "%s takes an endpoint of TYPE %s, but ENDPOINT '%s' is of TYPE %s",
			e.key, can.Endpoint, endpoint.Name, endpoint.Type)
	}
}

// usersMax bounds how many users the refusal of a DROP names.
const usersMax = 64

// inUse is the refusal of a DROP, with every user by kind and name.
func (c *Candidate) inUse(target catalog.Key) *ast.Diagnostic {
	keys := slices.Clone(c.tied().users[target])
	slices.SortFunc(keys, compareKeys)
	var users []string
	for _, key := range keys {
		e, _ := c.get(key.Kind, key.Name)
		if _, rule := e.(*model.Placement); !rule || c.pins(e, target) {
			users = append(users, key.String())
		}
	}
	if more := len(users) - usersMax; more > 0 {
		users = append(users[:usersMax:usersMax], fmt.Sprintf("%d more", more))
	}
	return about(target, ast.Errorf(CodeInUse, vocab.Span{}, "%s is used by %s", target, strings.Join(users, ", ")))
}
