//go:build !planted

package campaign

import "fmt"

// SwitchPlanted refuses: this build carries no planted defects.
func SwitchPlanted(name string) error {
	if name == "" {
		return nil
	}
	return fmt.Errorf("%w: this build has no planted defect %q; build with -tags planted", ErrWorker, name)
}
