package observe

// graphLabels are the labels of an edge of the graph; absent ones are "-".
var graphLabels = []string{"domain", "target_kind", "target", "physical_node_id", "direction", "stream", "peer_kind", "peer"}

var (
	ingestorLabels = []string{"domain", "ingestor"}
	emitterLabels  = []string{"domain", "emitter"}
	relayLabels    = []string{"domain", "relay"}
)

var (
	batchBuckets = []float64{1, 2, 5, 10, 50, 100, 500, 1000, 1024, 2048, 4096, 8192, 16384, 32768, 65536}
	depthBuckets = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048}
	delayBuckets = []float64{.001, .005, .01, .05, .1, .5, 1, 5, 30}
)

// Metrics of edges.
var (
	Messages         = &Family{Name: "plexus_messages_total", Help: "Records that passed an edge.", Labels: graphLabels}
	Batches          = &Family{Name: "plexus_batches_total", Help: "Batches that passed an edge.", Labels: graphLabels}
	Bytes            = &Family{Name: "plexus_bytes_total", Help: "Logical bytes that passed an edge.", Labels: graphLabels}
	MessagesPerBatch = &Family{Name: "plexus_messages_per_batch", Help: "Records per batch.", Kind: KindHistogram, Labels: graphLabels, Buckets: batchBuckets}
	DeliveryLatency  = &Family{Name: "plexus_delivery_latency_seconds", Help: "From a record's high watermark to its acceptance.", Kind: KindHistogram, Labels: graphLabels, Buckets: delayBuckets}
)

// Metrics of relays and acknowledgements.
var (
	RelayBufferLen     = &Family{Name: "plexus_relay_buffer_len", Help: "Batches in a relay at each admission.", Kind: KindHistogram, Labels: relayLabels, Buckets: depthBuckets}
	RelayCapacityWait  = &Family{Name: "plexus_relay_capacity_wait_seconds_total", Help: "Time dispatches waited for room.", Labels: relayLabels, Nanoseconds: true}
	AckRootsActive     = &Family{Name: "plexus_ack_roots_active", Help: "Messages whose outcome is open.", Kind: KindGauge, Labels: []string{"domain"}}
	AckFailed          = &Family{Name: "plexus_ack_failed_total", Help: "Messages that failed, by class of reason.", Labels: []string{"domain", "reason"}}
	RemoteDeliveries   = &Family{Name: "plexus_remote_deliveries_active", Help: "Batches on their way to other nodes, and those whose rows are open there.", Kind: KindGauge}
	RemoteAckSilence   = &Family{Name: "plexus_remote_ack_silence_total", Help: "Deliveries whose open rows failed because the receiving node reported nothing."}
	RelayAdmissionWait = &Family{Name: "plexus_relay_admission_wait_seconds_total", Help: "Time batches waited for the verdict of another node.", Nanoseconds: true}
	RelayAdmissions    = &Family{Name: "plexus_interconnect_relay_admissions_total", Help: "Verdicts of this node over batches of other nodes.", Labels: []string{"outcome"}}
	MessageErrors      = &Family{Name: "plexus_message_errors_total", Help: "Handled message errors.", Labels: []string{"domain", "target_kind", "target", "code", "operation", "policy"}}
)

// Metrics of ingestors.
var (
	IngestGroups      = &Family{Name: "plexus_ingest_group_closed_total", Help: "Closed ingest groups by cause.", Labels: []string{"domain", "ingestor", "cause"}}
	QuiesceRecords    = &Family{Name: "plexus_ingestor_quiesce_buffered_records", Help: "Payloads held by ON QUIESCE BUFFER.", Kind: KindGauge, Labels: ingestorLabels}
	QuiesceBytes      = &Family{Name: "plexus_ingestor_quiesce_buffered_bytes", Help: "Bytes held by ON QUIESCE BUFFER.", Kind: KindGauge, Labels: ingestorLabels}
	QuiesceDropped    = &Family{Name: "plexus_ingestor_quiesce_dropped_total", Help: "Payloads dropped while quiesced.", Labels: ingestorLabels}
	QuiesceRejected   = &Family{Name: "plexus_ingestor_quiesce_rejected_total", Help: "Requests refused while quiesced.", Labels: ingestorLabels}
	DecodeDropped     = &Family{Name: "plexus_ingestor_decode_dropped_total", Help: "Undecodable payloads consumed.", Labels: ingestorLabels}
	LastDelivery      = &Family{Name: "plexus_ingestor_last_delivery_total", Help: "Messages at their delivery limit.", Labels: ingestorLabels}
	Positions         = &Family{Name: "plexus_ingestor_positions_total", Help: "Source positions by outcome.", Labels: []string{"domain", "ingestor", "outcome"}}
	CursorSaves       = &Family{Name: "plexus_ingestor_cursor_saves_total", Help: "Saves of cursor state by outcome.", Labels: []string{"domain", "ingestor", "outcome"}}
	CursorStateBytes  = &Family{Name: "plexus_ingestor_cursor_state_bytes", Help: "Size of the last saved cursor state.", Kind: KindGauge, Labels: ingestorLabels}
	EmitterAttempts   = &Family{Name: "plexus_emitter_attempts_total", Help: "Publish attempts by outcome.", Labels: []string{"domain", "emitter", "outcome"}}
	EmitterRejected   = &Family{Name: "plexus_emitter_rejected_total", Help: "Records the destination refused for good.", Labels: emitterLabels}
	SubscriptionDrops = &Family{Name: "plexus_session_subscription_dropped_rows_total", Help: "Rows discarded by DROPPING subscriptions.", Labels: relayLabels}
	Subscriptions     = &Family{Name: "plexus_session_subscriptions", Help: "Open subscriptions.", Kind: KindGauge, Labels: relayLabels}
)
