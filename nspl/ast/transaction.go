package ast

// Begin is BEGIN.
type Begin struct{ Head }

// Commit is COMMIT.
type Commit struct{ Head }

// Revert is REVERT.
type Revert struct{ Head }

// DescribeTransaction is DESCRIBE TRANSACTION. Without an id it is the one that
// the session holds; without an operation all of it.
type DescribeTransaction struct {
	Head
	ID        *Text
	Operation *Uint
	Format    Format
}
