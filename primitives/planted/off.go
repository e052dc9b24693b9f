//go:build !planted

package planted

// Enabled says whether this build carries the planted defects.
const Enabled = false

// Active reports whether the defect is switched on in this process.
func Active(Defect) bool { return false }
