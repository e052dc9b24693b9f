package scenario

import (
	"testing"
	"time"

	"plexus/sim/campaign"
)

// BenchmarkCluster runs the order pipeline on three nodes for a virtual minute at
// 1,000 orders a second while nothing goes wrong. "alone" is the nodes with their
// external systems, "watched" the campaign's scenario: every oracle, the taps, and
// clients that change definitions meanwhile.
func BenchmarkCluster(b *testing.B) {
	b.Run("alone", func(b *testing.B) {
		measure(b, campaign.Scenario{
			Name: "cluster-alone", Nodes: clusterNodes, Horizon: time.Minute, Steps: 200_000, Setup: alone(b),
		})
	})
	b.Run("watched", func(b *testing.B) { measure(b, clusterPipeline()) })
}
