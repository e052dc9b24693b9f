//go:build planted

package exchange

import (
	"flag"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"plexus/primitives/planted"
)

// verdictOf runs a property that may fail without failing the test.
type verdictOf struct {
	*testing.T
	failed bool
	text   string
}

func (v *verdictOf) Errorf(format string, args ...any) {
	v.failed, v.text = true, fmt.Sprintf(format, args...)
}
func (v *verdictOf) Error(args ...any)                 { v.failed, v.text = true, fmt.Sprint(args...) }
func (v *verdictOf) Fatalf(format string, args ...any) { v.Errorf(format, args...) }
func (v *verdictOf) Fatal(args ...any)                 { v.Error(args...) }
func (v *verdictOf) FailNow()                          { v.failed = true }
func (v *verdictOf) Fail()                             { v.failed = true }
func (v *verdictOf) Failed() bool                      { return v.failed }
func (v *verdictOf) Logf(string, ...any)               {}
func (v *verdictOf) Log(...any)                        {}

// The law sees every defect that the cores can have.
func TestLawSeesPlantedDefects(t *testing.T) {
	set := func(name, value string) func() {
		f := flag.Lookup(name)
		old := f.Value.String()
		_ = f.Value.Set(value)
		return func() { _ = f.Value.Set(old) }
	}
	defer set("rapid.nofailfile", "true")()
	defer set("rapid.checks", "20000")()
	defer set("rapid.steps", "60")()
	defer set("rapid.shrinktime", "1ms")()
	for _, defect := range []planted.Defect{
		planted.ForgetWatermark, planted.RefuseHeld, planted.UnfencedCancel, planted.ReusePosition, planted.CountMissedSweeps,
	} {
		t.Run(string(defect), func(t *testing.T) {
			planted.Switch(defect)
			defer planted.Switch("")
			v := &verdictOf{T: t}
			rapid.Check(v, exchangeLaw)
			if !v.failed {
				t.Errorf("nobody sees %s", defect)
			}
			t.Logf("%.200s", v.text)
		})
	}
}
