//go:build planted

package exchange_test

import (
	"fmt"
	"testing"

	"plexus/primitives/planted"
)

// recorder runs a plot that may fail without failing the test.
type recorder struct {
	testing.TB
	text     string
	cleanups []func()
}

type stopped struct{}

func (r *recorder) Helper()             {}
func (r *recorder) Log(...any)          {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Cleanup(f func())    { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Error(args ...any) {
	if r.text == "" {
		r.text = fmt.Sprint(args...)
	}
}
func (r *recorder) Errorf(format string, args ...any) { r.Error(fmt.Sprintf(format, args...)) }
func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	panic(stopped{})
}
func (r *recorder) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }

// attempt returns what one run found.
func attempt(t *testing.T, seed uint64) (found string) {
	r := &recorder{TB: t}
	defer func() {
		for _, f := range r.cleanups {
			f()
		}
		if p := recover(); p != nil {
			if _, ours := p.(stopped); !ours {
				panic(p)
			}
		}
		found = r.text
	}()
	underFaults(r, seed)
	return
}

// The simulated cluster sees every planted defect of deliveries.
func TestPlotSeesPlantedDefects(t *testing.T) {
	for _, defect := range []planted.Defect{
		planted.ForgetWatermark, planted.RefuseHeld, planted.UnfencedCancel, planted.ReusePosition, planted.CountMissedSweeps,
		planted.AdmitBeforeGraph, planted.SkipChildShare,
	} {
		t.Run(string(defect), func(t *testing.T) {
			planted.Switch(defect)
			defer planted.Switch("")
			for seed := range uint64(60) {
				if found := attempt(t, seed); found != "" {
					t.Logf("seed %d: %.200s", seed, found)
					return
				}
			}
			t.Errorf("nobody sees %s", defect)
		})
	}
}
