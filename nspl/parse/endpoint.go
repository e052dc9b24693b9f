package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// ENDPOINT name ON vhost PATH string TYPE (HTTP | WEBSOCKETS) (WITH SIGNALING
// PROTOCOL name)?
func (p *parser) createEndpoint(c ast.Create) ast.Statement {
	s := &ast.CreateEndpoint{Create: c}
	p.building(s)
	s.Name = p.newName()
	p.expect("ON")
	s.VHost = p.ref(toVHost)
	p.expect("PATH")
	s.Path = p.string()
	p.expect("TYPE")
	s.Type = vocab.EndpointType(p.one(vocab.EndpointHTTP.String(), vocab.EndpointWebSockets.String()))
	if p.accept("WITH SIGNALING PROTOCOL") {
		n := p.ref(toAny(vocab.EntitySignaling))
		s.Signaling = &n
	}
	return s
}
