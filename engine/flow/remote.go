package flow

import (
	"context"
	"sync/atomic"

	"plexus/engine/ack"
	"plexus/engine/exchange"
	"plexus/primitives"
)

// remote is another node with consumers of a relay that this node owns: the task
// that hands it one copy of every batch. It has one batch at a time.
type remote struct {
	relay    *Relay
	node     string
	meant    []consumerID // its attached consumers; under relay.mu
	jobs     *primitives.Queue[*job]
	consumer *consumer
	task     *Task
}

// job is the hand-over of one batch to one node.
type job struct {
	parcels []parcel
	note    []byte
	done    atomic.Bool
}

func (j *job) refuse(now primitives.Instant, why ack.Reason) {
	for i := range j.parcels {
		j.parcels[i].fail(now, why)
	}
	j.parcels = nil
	j.done.Store(true)
}

// reach connects another node. No batch waits for it.
func (r *Relay) reach(node string, meant []consumerID) {
	rm := &remote{relay: r, node: node, meant: meant, jobs: primitives.NewQueue[*job](r.d.world, 1)}
	rm.consumer = &consumer{name: node, attached: len(meant) > 0, order: orderRemote, remote: rm}
	rm.task = r.d.Start("relay copies", rm.run)
	r.lock()
	r.remotes[node] = rm
	r.mu.Unlock()
	r.connect(rm.consumer)
}

// regard tells a connected node's task which attached consumers there are now.
// A swap keeps the relay from reading them meanwhile.
func (r *Relay) regard(rm *remote, meant []consumerID) {
	old := rm.consumer
	next := &consumer{name: rm.node, attached: len(meant) > 0, order: orderRemote, remote: rm}
	r.disconnect(old)
	r.lock()
	rm.meant, rm.consumer = meant, next
	r.mu.Unlock()
	r.connect(next)
}

// leave takes a node off the relay. What it has not admitted fails, or is
// dropped where nobody waits for it. Its task ends by itself.
func (r *Relay) leave(rm *remote) {
	r.disconnect(rm.consumer)
	r.lock()
	delete(r.remotes, rm.node)
	r.mu.Unlock()
	rm.task.Cancel()
}

func (rm *remote) run(ctx context.Context) error {
	r := rm.relay
	defer rm.end()
	ch := exchange.Channel{Node: rm.node, Role: exchange.ToConsumers, Domain: r.d.name, Relay: r.name}
	for {
		j, err := rm.jobs.Recv(ctx)
		if err != nil {
			return nil
		}
		rest := r.ship(ctx, ch, j.note, j.parcels, func(*Carrier) {})
		for _, c := range rest {
			c.Fail(r.now(), reasonGone)
		}
		j.done.Store(true)
		r.wake.Raise()
	}
}

// end refuses the batch that waits: the node is no consumer any more.
func (rm *remote) end() {
	rm.jobs.Close()
	for j, ok := rm.jobs.TryRecv(); ok; j, ok = rm.jobs.TryRecv() {
		j.refuse(rm.relay.now(), reasonGone)
	}
	rm.relay.wake.Raise()
}
