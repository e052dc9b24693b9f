package ast

// CreateSubscription is CREATE SUBSCRIPTION.
type CreateSubscription struct {
	Head
	Name       Name
	Relay      Name
	Dropping   bool
	SampleRate *Float
	Where      Expr
}

// DeleteSubscription is DELETE SUBSCRIPTION.
type DeleteSubscription struct {
	Head
	Name Name
}
