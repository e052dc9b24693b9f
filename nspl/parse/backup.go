package parse

import "plexus/nspl/ast"

// BACKUP CLUSTER TO string option* | BACKUP DOMAIN name? TO string option*
func (p *parser) backup() ast.Statement {
	s := &ast.Backup{Cluster: p.one("CLUSTER", "DOMAIN") == 0}
	if !s.Cluster {
		s.Domain = p.backupDomain()
	}
	p.expect("TO")
	s.Path = p.path()
	s.WithoutResources = p.accept("WITHOUT RESOURCES")
	switch {
	case p.accept("WITHOUT STATE"):
		s.WithoutState = true
	case p.accept("WITHOUT PAUSE"):
		s.WithoutPause = true
	case p.accept("TIMEOUT"):
		d := p.duration()
		s.Timeout = &d
	}
	return s
}

// backupDomain takes the name of the domain where one stands: TO before a path is
// none.
func (p *parser) backupDomain() *ast.Name {
	to := p.is(p.at, "TO") && p.peek(1) != tokenWord
	if to && p.peek(1) == tokenEnd { // it may still become a name
		p.expecting(p.at+1, Expectation{Text: "TO", Class: ClassKeyword})
	}
	if k := p.kind(); to || k != tokenWord && k != tokenQuoted {
		p.expecting(p.at, Expectation{Text: "name", Class: ClassReference, To: toDomain})
		return nil
	}
	n := p.ref(toDomain)
	return &n
}

// RESTORE CLUSTER FROM string RESUME? (ON EXISTING USER (FAIL | SKIP | REPLACE))?
// (DRY RUN)? option? | RESTORE DOMAIN name (AS name)? FROM string RESUME? (DRY
// RUN)? option?
func (p *parser) restore() ast.Statement {
	s := &ast.Restore{Cluster: p.one("CLUSTER", "DOMAIN") == 0}
	if !s.Cluster {
		s.Domain = p.ref(toDomain)
		if p.accept("AS") {
			n := p.newName()
			s.As = &n
		}
	}
	p.expect("FROM")
	s.Path = p.path()
	s.Resume = p.accept("RESUME")
	if s.Cluster && p.accept("ON EXISTING USER") {
		s.ExistingUser = ast.ExistingUserFail + ast.OnExistingUser(p.one("FAIL", "SKIP", "REPLACE"))
	}
	s.DryRun = p.accept("DRY RUN")
	if !p.accept("WITHOUT STATE") {
		s.WithoutOffsets = p.accept("WITHOUT SOURCE OFFSETS")
	} else {
		s.WithoutState = true
	}
	return s
}
