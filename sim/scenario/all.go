package scenario

import "plexus/sim/campaign"

// All lists every scenario. The flawed ones must fail: they show that faults,
// oracles, shrinking and replay work.
func All() []campaign.Scenario {
	return []campaign.Scenario{
		commands(),
		firstPipeline(),
		variedPipeline(),
		cursorPipeline(),
		endpointPipeline(),
		register(registerSound),
		register(registerUnsynced),
		register(registerTorn),
	}
}
