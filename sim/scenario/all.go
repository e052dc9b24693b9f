package scenario

import (
	"plexus/sim/campaign"
	"plexus/sim/protocol"
)

// All lists every scenario. The flawed ones must fail: they show that faults,
// oracles, shrinking and replay work.
func All() []campaign.Scenario {
	return []campaign.Scenario{
		commands(),
		consensus(),
		firstPipeline(),
		variedPipeline(),
		cursorPipeline(),
		endpointPipeline(),
		clusterPipeline(),
		clusterLifecycle(),
		clusterRestart(),
		clusterMovers(),
		clusterState(),
		clusterTransactions(),
		clusterFailover(),
		protocol.Deliveries(),
		protocol.Holds(),
		protocol.Handoffs(),
		register(registerSound),
		register(registerUnsynced),
		register(registerTorn),
	}
}
