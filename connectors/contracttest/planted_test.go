//go:build planted

package contracttest

import (
	"testing"

	"plexus/primitives/planted"
)

// The check of resent messages would find the defect it is for.
func TestPlantedResendShows(t *testing.T) {
	planted.Switch(planted.ResendConfirmed)
	defer planted.Switch("")
	if resent(t) == 0 {
		t.Error("the planted defect shows nowhere")
	}
}
