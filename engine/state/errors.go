package state

import "fmt"

// DamageError says that neither slot of a saved state can be read.
type DamageError struct{ File string }

func (e *DamageError) Error() string {
	return fmt.Sprintf("the saved state in %s is damaged; drop and recreate the ingestor to start over", e.File)
}
