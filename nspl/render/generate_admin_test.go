package render_test

import (
	"slices"

	"pgregory.net/rapid"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

var (
	programs = rapid.OneOf(rapid.SampledFrom([]string{".", "{a: .b, 'c': \"d\"}", "select(.kind == \"x\")\n| .y", `"\(.a)"`, ".now"}),
		rapid.StringMatching(`[.a-c|' \n]{0,8}[.a]`))
	messages  = rapid.StringMatching(`[a-zA-Z_][a-zA-Z0-9_]{0,5}(\.[A-Z][a-z]{0,4}){0,2}`)
	treePaths = rapid.StringMatching(`[a-z'][a-z0-9 ']{0,4}(/[a-z]{1,3}){0,2}`)
	instants  = rapid.SampledFrom([]ast.Instant{{Text: "1970-01-01T00:00:00Z"}, {Text: "1970-01-01T01:00:01.5+01:00", Nanos: 15e8}})
)

func (g generator) optionalName() *ast.Name {
	if g.bool() {
		return nil
	}
	n := g.name()
	return &n
}

func (g generator) program() *ast.Text {
	return &ast.Text{Text: programs.Draw(g.T, "program")}
}

func (g generator) maybeProgram() *ast.Text {
	if g.bool() {
		return nil
	}
	return g.program()
}

func (g generator) programList() []ast.Text {
	var list []ast.Text
	for range 1 + g.int(2) {
		list = append(list, *g.program())
	}
	return list
}

func (g generator) maybePrograms() []ast.Text {
	if g.bool() {
		return nil
	}
	return g.programList()
}

func (g generator) protobufConfig() []vocab.ConfigEntry {
	entries := []vocab.ConfigEntry{}
	for _, key := range []string{"file", "includes"} {
		if g.bool() {
			entries = append(entries, vocab.ConfigEntry{Key: key, Value: treePaths.Draw(g.T, "path")})
		}
	}
	return entries
}

func (g generator) message() string { return messages.Draw(g.T, "message") }

func (g generator) codec() *model.Codec {
	c := &model.Codec{Name: g.own(), Format: rapid.SampledFrom(vocab.CodecFormats()).Draw(g.T, "format"), Schema: g.name()}
	if _, wire := c.Format.Wire(); wire {
		c.Wire = g.name()
		if g.bool() {
			c.RFC3339 = g.distinct(3)
		}
	}
	if c.Format == vocab.FormatProtobuf {
		c.Protobuf = &model.Protobuf{Binding: g.binding(), Config: g.protobufConfig(), Message: g.message()}
		if g.bool() {
			batch := g.message()
			c.Protobuf.BatchMessage = &batch
		}
	}
	if c.Format.Programs() {
		c.Programs = &ast.Programs{Emitting: g.maybeProgram()}
		if c.Programs.Emitting == nil {
			c.Programs.Ingestion = g.program()
		} else {
			c.Programs.Ingestion, c.Programs.EmittingBatch = g.maybeProgram(), g.maybeProgram()
		}
	}
	return c
}

func (g generator) signaling() *model.Signaling {
	s := &model.Signaling{Name: g.own(), Format: rapid.SampledFrom(vocab.SignalingFormats()).Draw(g.T, "format"), Fail: g.maybePrograms(),
		AcceptData: g.bool(), Timeout: g.duration()}
	if s.Format == vocab.SignalingProtobuf {
		s.Protobuf = &model.SignalingProtobuf{Binding: g.binding(), Config: g.protobufConfig(), Send: g.message(), Wait: g.message()}
	}
	accepts := s.AcceptData
	for range 1 + g.int(2) {
		var step ast.SignalingStep
		if g.bool() {
			step.Send = g.programList()
		} else {
			step.Wait, step.Fail = g.programList(), g.maybePrograms()
			if len(step.Wait) == 1 {
				step.Capture = g.maybeProgram()
			}
			step.AcceptData = !accepts && g.bool()
			accepts = accepts || step.AcceptData
		}
		s.Steps = append(s.Steps, step)
	}
	return s
}

func (g generator) wireSchema() *model.WireSchema {
	w := &model.WireSchema{Name: g.own(), Format: rapid.SampledFrom(vocab.WireFormats()).Draw(g.T, "format"), Strict: g.bool(), Fields: []model.WireField{}}
	for _, n := range g.distinct(4) {
		w.Fields = append(w.Fields, model.WireField{Name: n.Text, Type: g.wireType(w.Format), Optional: g.bool()})
	}
	return w
}

func (g generator) wireType(format vocab.WireFormat) vocab.WireType {
	return rapid.SampledFrom(format.Types()).Draw(g.T, "wire type")
}

// configuration draws an entity of a kind that configures operators.
func (g generator) configuration() model.Entity {
	switch g.int(7) {
	case 0:
		return g.codec()
	case 1:
		return g.signaling()
	case 2:
		return g.wireSchema()
	case 3:
		v := &model.VHost{Name: g.own(), Hostnames: rapid.SliceOfNDistinct(hostnames, 1, 3, rapid.ID[string]).Draw(g.T, "hosts")}
		if g.bool() {
			b := g.binding()
			v.TLS = &b
		}
		return v
	case 4:
		e := &model.Endpoint{Name: g.own(), VHost: g.name(), Path: "/" + rapid.StringMatching(`[a-z'"$%~.]{0,3}x`).Draw(g.T, "path"), Type: vocab.EndpointType(g.int(1))}
		if e.Type == vocab.EndpointWebSockets {
			e.Signaling = g.optionalName()
		}
		return e
	case 5:
		return &model.HashMap{Name: g.own(), Key: g.name(), Binding: g.binding(), Path: treePaths.Draw(g.T, "path"), Decode: g.name()}
	case 6:
		return &model.Resource{Name: g.own()}
	}
	return &model.Domain{Name: domainName.Draw(g.T, "domain"), Pace: &model.Pace{Period: g.duration(), Skew: g.duration()}, Placement: g.policy().PlacementPolicy}
}

func (g generator) fieldOp(last ast.FieldOp) ast.FieldOp { return ast.FieldOp(g.int(int(last))) }

func (g generator) alterName() ast.Name { return ast.Name{Text: alterNames.Draw(g.T, "field")} }

func (g generator) schemaChange() ast.SchemaChange {
	c := ast.SchemaChange{Op: g.fieldOp(ast.FieldDropSensitive), Field: ast.SchemaField{Name: g.alterName()}}
	switch c.Op {
	case ast.FieldAdd:
		c.Field.Type.Type, c.Field.Optional, c.Field.Sensitive = g.typ(2), g.bool(), g.bool()
	case ast.FieldSetType:
		c.Field.Type.Type = g.typ(2)
	case ast.FieldRename:
		c.To = g.alterName()
	}
	return c
}

func (g generator) wireChange(format vocab.WireFormat) ast.WireChange {
	c := ast.WireChange{Op: g.fieldOp(ast.FieldDropOptional + 1), Field: ast.WireField{Name: g.alterName()}}
	switch c.Op {
	case ast.FieldAdd:
		c.Field.Type, c.Field.Optional = g.wireType(format), g.bool()
	case ast.FieldSetType:
		c.Field.Type = g.wireType(format)
	case ast.FieldRename:
		c.To = g.alterName()
	case ast.FieldDropOptional + 1:
		c = ast.WireChange{Op: ast.WireSetMode, Strict: g.bool()}
	}
	return c
}

func (g generator) keyValues() []ast.KeyValue {
	literals := rapid.SampledFrom([]ast.Literal{
		{Kind: ast.LiteralInteger, Text: "-9223372036854775808"}, {Kind: ast.LiteralInteger, Text: "18446744073709551615"},
		{Kind: ast.LiteralFloat, Text: "-0.5"}, {Kind: ast.LiteralBool, Text: "TRUE"}, {Kind: ast.LiteralBool, Text: "FALSE"},
	})
	var list []ast.KeyValue
	for range 1 + g.int(2) {
		l := ast.Literal{Text: g.text()}
		if g.bool() {
			l = literals.Draw(g.T, "literal")
		}
		list = append(list, ast.KeyValue{Name: g.name(), Value: l})
	}
	return list
}

func (g generator) kind() vocab.EntityKind {
	return rapid.SampledFrom(vocab.EntityKinds()[2:]).Draw(g.T, "kind")
}

func (g generator) format() ast.Format { return ast.Format(g.int(1)) }

// changing draws a statement that changes definitions or the lifecycle.
func (g generator) changing() ast.Statement {
	switch g.int(7) {
	case 0:
		s := &ast.AlterSchema{Alter: ast.Alter{Name: g.name()}}
		for range 1 + g.int(2) {
			s.Changes = append(s.Changes, g.schemaChange())
		}
		return s
	case 1:
		s := &ast.AlterWireSchema{Alter: ast.Alter{Name: g.name()}, Format: vocab.WireFormat(g.int(2))}
		for range 1 + g.int(2) {
			s.Changes = append(s.Changes, g.wireChange(s.Format))
		}
		return s
	case 2:
		s := &ast.RebindResource{Name: g.name(), To: g.binding().Version}
		kinds := rapid.SampledFrom([]vocab.EntityKind{vocab.EntityVHost, vocab.EntityCodec, vocab.EntitySignaling, vocab.EntityInferencer, vocab.EntityWASM,
			vocab.EntityHashMap, vocab.EntityClient, vocab.EntityUDF})
		for _, n := range g.distinct(3)[g.int(1):] {
			s.For = append(s.For, ast.Usage{Kind: kinds.Draw(g.T, "kind"), Name: n})
		}
		return s
	case 3:
		s := &ast.ResetWASM{Name: g.name(), Domain: g.name(), Scope: ast.ResetScope(g.int(2))}
		if s.Scope == ast.ResetBranch {
			s.Values = g.keyValues()
		}
		return s
	case 4:
		kinds := rapid.SampledFrom(slices.DeleteFunc(vocab.EntityKinds(), func(k vocab.EntityKind) bool { return k == vocab.EntityResource }))
		return &ast.Drop{Kind: kinds.Draw(g.T, "kind"), Name: g.name()}
	case 5:
		s := &ast.Start{AtNow: g.bool()}
		if !s.AtNow && g.bool() {
			at := instants.Draw(g.T, "instant")
			s.At = &at
		}
		if (s.AtNow || s.At != nil) && g.bool() {
			s.Rate = &ast.Rate{Value: rapid.Float64Range(5e-324, 1e308).Draw(g.T, "rate")}
		}
		return s
	case 6:
		return rapid.SampledFrom([]ast.Statement{&ast.Stop{}, &ast.Begin{}, &ast.Commit{}, &ast.Revert{}, &ast.ListDomains{}}).Draw(g.T, "statement")
	}
	return &ast.Clock{Attach: g.bool()}
}

// reading draws a statement that changes no definition.
func (g generator) reading() ast.Statement {
	switch g.int(13) {
	case 0:
		return &ast.ShowCreate{Kind: g.kind(), Name: g.name(), Format: g.format()}
	case 1:
		return &ast.Show{What: rapid.SampledFrom(ast.Listings()).Draw(g.T, "listing"), Format: g.format()}
	case 2:
		return &ast.ShowState{Relay: g.name(), Format: g.format()}
	case 3:
		kinds := append([]vocab.EntityKind{vocab.EntityResource, vocab.EntityRelay, vocab.EntityHashMap, vocab.EntityCodec, vocab.EntityEndpoint,
			vocab.EntityPlacement, vocab.EntityUDF}, nodeKinds...)
		d := &ast.Describe{Kind: rapid.SampledFrom(kinds).Draw(g.T, "kind"), Name: g.name(), Format: g.format()}
		if d.Kind == vocab.EntityRelay && g.bool() {
			d.Pick = g.keyValues()
		}
		if d.Kind == vocab.EntityResource && g.bool() {
			n := g.uint(1 << 40)
			d.Version = &n
		}
		return d
	case 4:
		return &ast.Describe{Kind: vocab.EntityDomain, Format: g.format()}
	case 5:
		d := &ast.DescribeTransaction{Format: g.format()}
		if g.bool() {
			d.ID = &ast.Text{Text: g.text()}
		}
		if g.bool() {
			n := g.uint(1 << 40)
			d.Operation = &n
		}
		return d
	case 6:
		return &ast.DescribeBackup{Path: ast.Text{Text: g.text()}, Format: g.format()}
	case 7:
		return &ast.Lookup{Map: g.name(), Key: ast.Text{Text: g.text()}}
	case 8:
		return &ast.Use{Domain: g.name()}
	case 9:
		s := &ast.CreateSubscription{Name: g.name(), Relay: g.name(), Dropping: g.bool(), Where: g.maybeExpr()}
		if g.bool() {
			s.SampleRate = &ast.Float{Value: rapid.Float64Range(0, 0.99).Draw(g.T, "rate")}
		}
		return s
	case 10:
		return &ast.DeleteSubscription{Name: g.name()}
	case 11:
		return &ast.UploadResource{Name: g.name(), Path: ast.Text{Text: g.text()}}
	case 12:
		return g.backup()
	}
	return g.restore()
}

func (g generator) backup() ast.Statement {
	s := &ast.Backup{Cluster: g.bool(), Path: ast.Text{Text: g.text()}, WithoutResources: g.bool()}
	if !s.Cluster {
		s.Domain = g.optionalName()
	}
	switch g.int(3) {
	case 0:
		s.WithoutState = true
	case 1:
		s.WithoutPause = true
	case 2:
		d := g.duration()
		s.Timeout = &d
	}
	return s
}

func (g generator) restore() ast.Statement {
	s := &ast.Restore{Cluster: g.bool(), Path: ast.Text{Text: g.text()}, Resume: g.bool(), DryRun: g.bool()}
	if s.Cluster {
		s.ExistingUser = ast.OnExistingUser(g.int(3))
	} else {
		s.Domain, s.As = g.name(), g.optionalName()
	}
	switch g.int(2) {
	case 0:
		s.WithoutState = true
	case 1:
		s.WithoutOffsets = true
	}
	return s
}
