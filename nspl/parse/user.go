package parse

import "plexus/nspl/ast"

// USER name WITH PASSWORD string
func (p *parser) createUser(c ast.Create) ast.Statement {
	u := &ast.CreateUser{IfNotExists: c.IfNotExists, Name: p.newName()}
	p.expect("WITH PASSWORD")
	u.Password = p.password()
	return u
}

// ALTER USER name SET PASSWORD string
func (p *parser) alterUser() ast.Statement {
	u := &ast.AlterUser{Name: p.ref(toUser)}
	p.expect("SET PASSWORD")
	u.Password = p.password()
	return u
}

func (p *parser) password() ast.Text {
	p.secret = true
	t := p.string()
	p.secret = false
	return t
}
