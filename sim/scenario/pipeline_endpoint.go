package scenario

import (
	"fmt"
	"time"

	"plexus/sim"
	"plexus/sim/brokers/nats"
	"plexus/sim/campaign"
	"plexus/sim/oracle"
	"plexus/sim/workload"
)

// endpointPipeline is a pipeline whose source acknowledges nothing: what an
// endpoint took is in the memory of one process.
func endpointPipeline() campaign.Scenario {
	return campaign.Scenario{
		Name: "endpoint-pipeline",
		About: "Orders are posted to an endpoint and leave on a stream: what a process took is delivered unless that " +
			"process ends, and wrong requests are refused for what they are.",
		Horizon: time.Minute, Steps: 40_000,
		Setup: func(r *campaign.Run) {
			posts := &workload.Posts{Sim: r.Sim, Orders: workload.Orders{Seed: r.Sim.Seed()}}
			x := newRig(r, workload.Standard(workload.EndpointPipeline, 0), posts.Reference(), nil)
			posts.World, posts.To = x.client.World(), x.node.EndpointAddr()
			taken := map[uint64]*sim.Process{} // by whom an order was taken
			refused := map[uint64]bool{}       // by the sink: nobody presents it again
			boundary := x.boundary
			x.boundary = func() *oracle.Boundary {
				b := boundary()
				b.Rejected = func(payload []byte) {
					if number, ok := workload.OrderNumber(payload); ok {
						refused[number] = true
					}
				}
				return b
			}
			// An order belongs to the process that ran before it was sent and still runs
			// when the answer is there.
			sentTo := map[uint64]*sim.Process{}
			posts.Sent = func(number uint64) {
				sentTo[number] = x.node.Host().Process()
				x.deliveries.Sourced(number)
			}
			posts.Accepted = func(number uint64) {
				if by := x.node.Host().Process(); by == sentTo[number] {
					taken[number] = by
				}
			}
			posts.Wrong = func(what string, status int) {
				r.Sim.Fail("right-status", fmt.Sprintf("%s was answered with status %d", what, status))
			}
			x.systems.Bus.CreateStream(nats.Stream{Name: "posts", Subjects: []string{"posts"}})
			ledger := x.systems.Bus.Ledger()
			ledger.Observe(x.deliveries.Sinks(ledger, oracle.Sink{Channel: "posts", Leaf: workload.LeafPosted}))
			if !x.start() {
				return
			}
			x.operate(workload.Operator{Replaceable: []string{"NATS SUBJECT EMITTER posts_out", "RELAY posts"}, NeverStops: true})
			workload.Clients(r.Sim, x.client, posters, postThink, r.Over, posts.Step)
			r.Hold(oracle.Oracle{Name: "taken-is-delivered", Quiet: func() error {
				for number := range posts.Last() {
					if by := taken[number+1]; by != nil && !by.Dead() && !refused[number+1] && !x.deliveries.Complete(number+1) {
						return fmt.Errorf("order %d was taken by the process that runs, and was not delivered", number+1)
					}
				}
				return nil
			}})
		},
	}
}

const (
	posters   = 4
	postThink = 40 * time.Millisecond
)
