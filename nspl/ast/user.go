package ast

// CreateUser is CREATE USER. Users belong to the cluster and have no canonical
// text: a password is never written back.
type CreateUser struct {
	Head
	IfNotExists bool
	Name        Name
	Password    Text
}

// AlterUser is ALTER USER … SET PASSWORD.
type AlterUser struct {
	Head
	Name     Name
	Password Text
}
