package protocol

import (
	"testing"

	"plexus/primitives"
	"plexus/sim/campaign"
)

// run executes seeds of a scenario and repeats some for their digests.
func run(t *testing.T, s campaign.Scenario, seeds uint64) {
	hits := map[string]uint64{}
	for seed := range seeds {
		a := campaign.Execute(s, campaign.Spec{Seed: seed}, campaign.Watch{})
		if a.Failure != nil {
			t.Fatalf("seed %d: %s\n%s", seed, a.Failure.Report(), a.Evidence)
		}
		if seed%10 == 0 {
			b := campaign.Execute(s, campaign.Spec{Seed: seed}, campaign.Watch{Guard: true})
			if a.Digest != b.Digest {
				t.Fatalf("seed %d: digests %x and %x", seed, a.Digest, b.Digest)
			}
		}
		for site, n := range a.Hits { //plexus:orderfree it only sums
			hits[site] += n
		}
	}
	for _, site := range primitives.SortedKeys(hits) {
		if hits[site] > 0 {
			t.Logf("%7d %s", hits[site], site)
		}
	}
}

func TestHolds(t *testing.T) { run(t, Holds(), 3) }

func TestHandoffs(t *testing.T) { run(t, Handoffs(), 2) }

func TestDeliveries(t *testing.T) { run(t, Deliveries(), 1) }
