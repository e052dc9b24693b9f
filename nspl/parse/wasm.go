package parse

import "plexus/nspl/ast"

// WASM PROCESSOR name inputs filter? USING RESOURCE name version FILE string MAX FUEL uint MAX MEMORY bytes branch_use
// state* route+ (ON REJECTED STATE (PRESERVE | RESET))? ON GLOBAL ERROR (IGNORE | LOG)
func (p *parser) createWASM(c ast.Create, attachment ast.Attachment) ast.Statement {
	s := &ast.CreateWASM{}
	p.processor(s, &s.Processor, c, attachment, guest, func() {
		p.module(&s.Module, &s.File)
		p.expect("MAX FUEL")
		s.MaxFuel = p.uint()
		p.expect("MAX MEMORY")
		s.MaxMemory = p.size()
	})
	if p.accept("ON REJECTED STATE") {
		s.Rejected = []ast.RejectedState{ast.RejectedPreserve, ast.RejectedReset}[p.one("PRESERVE", "RESET")]
	}
	p.expect("ON GLOBAL ERROR")
	s.OnError = []ast.GeneralError{ast.GeneralIgnore, ast.GeneralLog}[p.one("IGNORE", "LOG")]
	return s
}
