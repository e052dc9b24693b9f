package parse

import "plexus/nspl/ast"

// START (AT NOW)?
func (p *parser) start() ast.Statement { return &ast.Start{AtNow: p.accept("AT NOW")} }
