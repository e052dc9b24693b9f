package ast

// Begin is BEGIN.
type Begin struct{ Head }

// Commit is COMMIT.
type Commit struct{ Head }

// Revert is REVERT.
type Revert struct{ Head }
