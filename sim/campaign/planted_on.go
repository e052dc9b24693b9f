//go:build planted

package campaign

import (
	"fmt"
	"slices"

	"plexus/primitives/planted"
)

// SwitchPlanted turns one defect on, none for an empty name.
func SwitchPlanted(name string) error {
	if name != "" && !slices.Contains(planted.Defects(), planted.Defect(name)) {
		return fmt.Errorf("%w: no planted defect is called %q", ErrWorker, name)
	}
	planted.Switch(planted.Defect(name))
	return nil
}
