package ast

import "plexus/nspl/vocab"

// Class says who handles a statement and whether a transaction takes it.
type Class uint8

// The classes.
const (
	ModelMutation       Class = iota // leader, queued in a transaction
	DomainLifecycle                  // leader, queued in a transaction
	ResourceDeclaration              // leader, queued in a transaction
	ClusterAdmin                     // leader, never in a transaction
	ReadOnly                         // any node, never in a transaction
	SessionLocal                     // serving node, never in a transaction
	TxControl                        // BEGIN, COMMIT, REVERT
	ClientLocal                      // client tool
)

// Queueable reports whether a transaction takes statements of the class.
func (c Class) Queueable() bool { return c <= ResourceDeclaration }

// ClassOf returns the class of a statement.
func ClassOf(s Statement) Class {
	switch s := s.(type) {
	case *CreateDomain, *CreateUser, *AlterUser, *NodeControl, *Relocate:
		return ClusterAdmin
	case *Drop:
		if s.Kind == vocab.EntityDomain || s.Kind == vocab.EntityUser {
			return ClusterAdmin
		}
		return ModelMutation
	case *Start, *Stop, *AlterDomain, *ResetWASM:
		return DomainLifecycle
	case *CreateResource:
		return ResourceDeclaration
	case *ShowCreate, *Show, *ShowState, *Describe, *DescribeTransaction, *DescribeRelocation, *Lookup:
		return ReadOnly
	case *CreateSubscription, *DeleteSubscription, *Clock:
		return SessionLocal
	case *Begin, *Commit, *Revert:
		return TxControl
	case *Use, *ListDomains, *UploadResource, *Backup, *Restore, *DescribeBackup:
		return ClientLocal
	default:
		return ModelMutation
	}
}

// BesideTransaction reports whether the statement runs while a transaction is
// open, without becoming part of it.
func BesideTransaction(s Statement) bool {
	switch s := s.(type) {
	case *DescribeTransaction:
		return true
	case *Show:
		return s.What == ListTransactions
	}
	return false
}
