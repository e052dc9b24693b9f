package catalog

import "plexus/engine/catalog/catalogpb"

func (t *transition) createUser(c *catalogpb.CreateUser) *Refusal {
	if _, ok := t.state.User(c.GetName()); ok {
		return refuse(Exists, "USER '%s' already exists", c.GetName())
	}
	t.setUser(c.GetName(), c.GetPasswordHash())
	return nil
}

func (t *transition) alterUser(c *catalogpb.AlterUser) *Refusal {
	if _, ok := t.state.User(c.GetName()); !ok {
		return refuse(RefMissing, "USER '%s' does not exist", c.GetName())
	}
	t.setUser(c.GetName(), c.GetPasswordHash())
	return nil
}

func (t *transition) setUser(name, hash string) {
	t.state.users = t.state.users.set(name, &User{Name: name, PasswordHash: hash, Revision: t.index})
}

func (t *transition) dropUser(c *catalogpb.DropUser) *Refusal {
	if _, ok := t.state.User(c.GetName()); !ok {
		return refuse(RefMissing, "USER '%s' does not exist", c.GetName())
	}
	if t.state.users.len() == 1 {
		return refuse(Invalid, "USER '%s' is the last user and cannot be dropped", c.GetName())
	}
	t.state.users = t.state.users.delete(c.GetName())
	return nil
}
