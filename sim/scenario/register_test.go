package scenario

import (
	"testing"

	"plexus/sim/campaign"
)

func find(t *testing.T, name string) campaign.Scenario {
	t.Helper()
	s, err := campaign.Find(All(), name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheSoundRegisterHolds(t *testing.T) {
	s := find(t, "register")
	for seed := range uint64(60) {
		a := campaign.Execute(s, campaign.Spec{Seed: seed}, campaign.Watch{})
		if a.Failure != nil {
			t.Fatalf("seed %d: %s\n%v", seed, a.Failure.Report(), a.Logs)
		}
		if seed%10 == 0 {
			b := campaign.Execute(s, campaign.Spec{Seed: seed}, campaign.Watch{Guard: true})
			if a.Digest != b.Digest {
				t.Fatalf("seed %d: digests %x and %x", seed, a.Digest, b.Digest)
			}
		}
	}
}

func TestFlawsAreFoundAndShrunk(t *testing.T) {
	for _, name := range []string{"register-unsynced", "register-torn"} {
		s := find(t, name)
		found := false
		for seed := uint64(0); seed < 400 && !found; seed++ {
			r := campaign.Execute(s, campaign.Spec{Seed: seed}, campaign.Watch{})
			if r.Failure == nil {
				continue
			}
			found = true
			small, err := campaign.Shrink(s, r, func() bool { return false })
			if err != nil {
				t.Fatal(err)
			}
			if n := len(*small.Result.Spec.Plan); n > 2 && 5*n > small.From {
				t.Errorf("%s: %d entries left of %d:\n%v", name, n, small.From, small.Result.Spec.Plan)
			}
			t.Logf("%s: seed %d, %d entries shrunk in %d runs to:\n%v%s", name, seed, small.From, small.Runs, small.Result.Spec.Plan, small.Result.Failure.Report())
			text, err := campaign.NewReplay(small.Result).Encode()
			if err != nil {
				t.Fatal(err)
			}
			replay, err := campaign.DecodeReplay(text)
			if err != nil {
				t.Fatal(err)
			}
			spec, err := replay.Spec()
			if err != nil {
				t.Fatal(err)
			}
			if again := campaign.Execute(s, spec, campaign.Watch{}); again.Digest != small.Result.Digest {
				t.Errorf("%s: the replay file is another run", name)
			}
		}
		if !found {
			t.Errorf("%s was never caught", name)
		}
	}
}
