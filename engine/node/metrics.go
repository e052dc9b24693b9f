package node

import (
	"strconv"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/observe"
	"plexus/engine/session/sessionpb"
)

// Metrics of the node itself.
var (
	buildInfo = &observe.Family{Name: "plexus_build_info", Help: "The build of this node.", Kind: observe.KindGauge,
		Labels: []string{"version", "format"}}
	raftTerm    = gauge("plexus_raft_term", "Current term.")
	raftLeader  = gauge("plexus_raft_is_leader", "Whether this node leads.")
	raftCommit  = gauge("plexus_raft_commit_index", "Highest committed log index.")
	raftApplied = gauge("plexus_raft_applied_index", "Highest applied log index.")
	logLast     = gauge("plexus_consensus_log_last_index", "Last index of the log.")
	logSnapshot = gauge("plexus_consensus_snapshot_index", "Index that the log begins behind.")
	history     = gauge("plexus_command_history_records", "Execution references with a retained outcome.")
	syncSeconds = &observe.Family{Name: "plexus_consensus_sync_seconds", Help: "Time of one synchronisation of the log.",
		Kind: observe.KindHistogram, Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}}
	authAttempts = &observe.Family{Name: "plexus_auth_attempts_total", Help: "Authentications by outcome.", Labels: []string{"outcome"}}
	controlIndex = &observe.Family{Name: "plexus_control_revision", Help: "Applied control revision.", Kind: observe.KindGauge,
		Labels: []string{"stage"}}
	runtimeRevision = &observe.Family{Name: "plexus_runtime_revision", Kind: observe.KindGauge, Labels: []string{"stage"},
		Help: "Newest runtime revision that is committed, and up to which this node prepared and executes everything."}
	transactions = &observe.Family{Name: "plexus_transactions", Help: "Transactions that are not over, by state.", Kind: observe.KindGauge,
		Labels: []string{"state"}}
	stagingBytes = &observe.Family{Name: "plexus_staging_bytes", Help: "State of operators on its way to this node.", Kind: observe.KindGauge,
		Labels: []string{"kind"}}
	commands = &observe.Family{Name: "plexus_commands_total", Help: "Statements by head and disposition.",
		Labels: []string{"statement", "disposition"}}
)

func gauge(name, help string) *observe.Family {
	return &observe.Family{Name: name, Help: help, Kind: observe.KindGauge}
}

// metrics holds the node's series. What the group knows is read when the page is.
type metrics struct {
	node     *Node
	registry *observe.Registry
	syncs    *observe.Histogram
}

func newMetrics(n *Node) *metrics {
	m := &metrics{node: n, registry: observe.NewRegistry()}
	m.syncs = m.registry.Histogram(syncSeconds)
	m.registry.Gauge(buildInfo, n.options.Version, strconv.Itoa(catalog.Format)).Set(1)
	return m
}

func (m *metrics) samples() []observe.Sample {
	status, state := m.node.group.Status(), m.node.group.State()
	set := func(f *observe.Family, v uint64, labels ...string) { m.registry.Gauge(f, labels...).Set(int64(v)) }
	set(raftTerm, status.Term)
	leads := uint64(0)
	if m.node.group.Leads() {
		leads = 1
	}
	set(raftLeader, leads)
	set(raftCommit, status.Commit)
	set(raftApplied, state.Applied)
	set(logLast, status.LastIndex)
	set(logSnapshot, status.Snapshot)
	set(history, uint64(state.Executions()))
	set(controlIndex, state.Applied, "committed")
	m.cluster(state, set)
	return m.registry.Snapshot()
}

// cluster sets what a node knows as a member.
func (m *metrics) cluster(state *catalog.State, set func(f *observe.Family, v uint64, labels ...string)) {
	announced := m.node.mesh.Announced()
	var committed uint64
	for d := range state.Domains() {
		committed = max(committed, d.Runtime)
	}
	set(runtimeRevision, committed, "committed")
	set(runtimeRevision, announced.Prepared, "prepared")
	set(runtimeRevision, announced.Ready, "ready")
	var open, committing uint64
	for x := range state.ActiveTransactions() {
		if x.State == catalog.Open {
			open++
		} else {
			committing++
		}
	}
	set(transactions, open, catalog.Open.String())
	set(transactions, committing, catalog.Committing.String())
	if m.node.joined.IsSet() { // until then there is no place for state
		set(stagingBytes, m.node.handoffs.staging.Used(), "used")
		set(stagingBytes, m.node.settings.StagingBytes, "limit")
	}
}

func (m *metrics) synced(took time.Duration) { m.syncs.Observe(took.Seconds(), 1) }

func (m *metrics) authenticated(outcome string) { m.registry.Counter(authAttempts, outcome).Add(1) }

// command counts one statement. Both labels come from closed sets.
func (m *metrics) command(statement string, d sessionpb.Disposition) {
	m.registry.Counter(commands, statement, d.String()).Add(1)
}
