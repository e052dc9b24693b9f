//go:build planted

package planted

// Enabled says whether this build carries the planted defects.
const Enabled = true

var active Defect

// Active reports whether the defect is switched on in this process.
func Active(d Defect) bool { return active == d }

// Switch turns one defect on, and every other off. It is called before a
// simulation starts.
func Switch(d Defect) { active = d }
