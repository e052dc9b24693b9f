//go:build !planted

package campaign

import "fmt"

// switchPlanted refuses: this build carries no planted defects.
func switchPlanted(name string) error {
	if name == "" {
		return nil
	}
	return fmt.Errorf("%w: this build has no planted defect %q; build with -tags planted", ErrWorker, name)
}
