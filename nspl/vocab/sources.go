package vocab

// instancesMax bounds the instances of one ingestor on one node: each holds a
// connection and a task.
const instancesMax = 1024

// The quiesce bodies that entities share.
var (
	suspendOnly   = []QuiesceBody{QuiesceSuspend}
	bufferOrDrop  = []QuiesceBody{QuiesceBuffer, QuiesceDrop}
	connected     = []QuiesceBody{QuiesceSuspend, QuiesceBuffer, QuiesceDrop}
	polled        = []QuiesceBody{QuiesceSuspend, QuiesceBuffer}
	endpointHolds = []QuiesceBody{QuiesceReject, QuiesceEndpointBuffer}
)

// The modes that entities share.
var (
	noAckSequential = []SourceModeKind{NoAckSequential}
	ackSequential   = []SourceModeKind{AckSequential}
	ackAny          = []SourceModeKind{AckSequential, AckParallel}
	ackOrParallel   = []SourceModeKind{AckSequential, AckParallel, NoAckParallel}
)

// cursor completes the declaration of a cursor source.
func cursor(c SourceCapabilities) SourceCapabilities {
	c.Pace, c.Scope, c.Quiesce, c.Modes, c.InstancesMax = CursorTail, ScopeCursor, suspendOnly, ackSequential, 1
	c.Position, c.Confirmation, c.Unadmitted = HostState, StateApplied, RefuseAndCount
	return c
}

// sources is indexed by entity - 1.
var sources = [...]SourceCapabilities{
	SourceKafkaTopic - 1: {
		Head: "KAFKA TOPIC", Lead: "KAFKA", Client: ClientKafka,
		Names: []NameRule{
			{Role: "TOPIC", Check: KafkaTopic},
			{Role: "OFFSET BY CONSUMER GROUP", Or: "OFFSET BY DOMAIN", Check: consumerGroup},
		},
		Headers: true, Scope: ScopeKafka, Quiesce: suspendOnly, InstancesMax: instancesMax, Modes: ackOrParallel,
		Position: LogAddressed, Confirmation: BrokerConfirmed, Unadmitted: RefuseAndCount,
	},
	SourcePulsarTopic - 1: {
		Head: "PULSAR TOPIC", Lead: "PULSAR", Client: ClientPulsar,
		Names:   []NameRule{{Role: "TOPIC", Check: PulsarTopic}, {Role: "SUBSCRIPTION", Check: consumerGroup}},
		Headers: true, Scope: ScopeHeaders, Quiesce: suspendOnly, InstancesMax: instancesMax, Modes: ackOrParallel,
		Position: BrokerRedelivered, Confirmation: BrokerConfirmed, Unadmitted: RefuseAndCount,
	},
	SourceRabbitMQQueue - 1: {
		Head: "RABBITMQ QUEUE", Lead: "RABBITMQ", Client: ClientRabbitMQ, Names: []NameRule{{Role: "QUEUE", Check: RabbitMQQueue}},
		Headers: true, Scope: ScopeHeaders, Quiesce: suspendOnly, InstancesMax: instancesMax, Modes: ackSequential,
		Position: BrokerRedelivered, Confirmation: HandedOver, Unadmitted: RefuseAndCount,
	},
	SourceSQSQueue - 1: {
		Head: "SQS QUEUE", Lead: "SQS", Client: ClientSQS, Names: []NameRule{{Role: "QUEUE", Check: SQSQueue}},
		Headers: true, Scope: ScopeHeaders, Quiesce: suspendOnly, InstancesMax: instancesMax, Modes: ackSequential,
		Position: BrokerRedelivered, Confirmation: BrokerConfirmed, Unadmitted: RefuseAndCount,
	},
	SourceMQTTTopic - 1: {
		Head: "MQTT TOPIC", Lead: "MQTT", Client: ClientMQTT, Names: []NameRule{{Role: "TOPIC", Check: MQTTFilter}},
		Quiesce: connected, InstancesMax: instancesMax,
		Modes:    []SourceModeKind{AckSequential, AckParallel, NoAckParallel, NoAckSequential},
		Position: BrokerRedelivered, Confirmation: HandedOver, Unadmitted: RefuseAndCount,
	},
	SourceNATSSubject - 1: {
		Head: "NATS SUBJECT", Lead: "NATS", Client: ClientNATS,
		Names:   []NameRule{{Role: "SUBJECT", Check: NATSSubjectPattern}, {Role: "QUEUE GROUP", Check: NATSQueueGroup}},
		Headers: true, Scope: ScopeHeaders, Quiesce: bufferOrDrop, InstancesMax: instancesMax, InstancesRequired: true,
		Modes: noAckSequential, Unadmitted: WaitForPlace,
	},
	SourceNATSStream - 1: {
		Head: "NATS STREAM", Lead: "NATS", Client: ClientNATS,
		Names:   []NameRule{{Role: "STREAM", Check: JetStreamName}, {Role: "CONSUMER", Check: JetStreamName}},
		Headers: true, Scope: ScopeHeaders, Quiesce: suspendOnly, InstancesMax: instancesMax, Modes: ackAny,
		Position: BrokerRedelivered, Confirmation: BrokerConfirmed, Unadmitted: RefuseAndCount,
	},
	SourceRedisChannel - 1: {
		Head: "REDIS CHANNEL", Lead: "REDIS PUBSUB", Client: ClientRedis, Names: []NameRule{{Role: "CHANNEL", Check: RedisChannel}},
		Quiesce: bufferOrDrop, InstancesMax: 1, Modes: noAckSequential, Unadmitted: RefuseAndCount,
	},
	SourceZeroMQSocket - 1: {
		Head: "ZEROMQ SOCKET", Lead: "ZEROMQ", Client: ClientZeroMQ,
		Quiesce: connected, InstancesMax: 1, Modes: noAckSequential, Unadmitted: WaitForPlace,
	},
	SourceSyslogListener - 1: {
		Head: "SYSLOG LISTENER", Lead: "SYSLOG", Client: ClientSyslog, Listener: true,
		Scope: ScopeSyslog, Quiesce: connected, InstancesMax: 1, Modes: noAckSequential, Unadmitted: WaitForPlace,
	},
	SourceWebSocketsConnection - 1: {
		Head: "WEBSOCKETS CONNECTION", Lead: "WEBSOCKETS CONNECTION", Client: ClientWebSockets,
		Quiesce: bufferOrDrop, InstancesMax: 1, Modes: noAckSequential, Unadmitted: RefuseAndCount, Grouping: FlushEachMessage,
	},
	SourceHTTPPoll - 1: {
		Head: "HTTP POLL", Lead: "HTTP", Client: ClientHTTP, Pace: Polled,
		Headers: true, Scope: ScopeHeaders, Quiesce: polled, InstancesMax: 1, Unadmitted: WaitForPlace,
	},
	SourcePrometheusQuery - 1: {
		Head: "PROMETHEUS QUERY", Lead: "PROMETHEUS", Client: ClientPrometheus, Pace: Polled,
		Names:   []NameRule{{Role: "QUERY", Quoted: true, Check: notEmpty}},
		Quiesce: polled, InstancesMax: 1, Unadmitted: WaitForPlace, Payload: JSONRows,
	},
	SourceHTTPEndpoint - 1: {
		Head: "HTTP ENDPOINT", Lead: "HTTP ENDPOINT", Subject: SubjectEndpoint, Endpoint: EndpointHTTP, Listener: true,
		Headers: true, Scope: ScopeHeaders, Quiesce: endpointHolds, InstancesMax: 1, Modes: noAckSequential,
		Unadmitted: RefuseAndCount,
	},
	SourceWebSocketsEndpoint - 1: {
		Head: "WEBSOCKETS ENDPOINT", Lead: "WEBSOCKETS ENDPOINT", Subject: SubjectEndpoint, Endpoint: EndpointWebSockets, Listener: true,
		Headers: true, Scope: ScopeHeaders, Quiesce: endpointHolds, InstancesMax: 1, Modes: noAckSequential,
		Unadmitted: RefuseAndCount, Grouping: FlushEachMessage,
	},
	SourceClientSchema - 1: {
		Head: "CLIENT SCHEMA", Lead: "CLIENT SCHEMA", Subject: SubjectSchema,
		Quiesce: suspendOnly, InstancesMax: 1, Modes: ackAny,
		Position: BrokerRedelivered, Confirmation: BrokerConfirmed, Unadmitted: RefuseAndCount, Payload: NativeArrow,
	},
	SourcePostgresTable - 1: cursor(SourceCapabilities{
		Head: "POSTGRES TABLE", Lead: "POSTGRES", Client: ClientPostgres, Names: []NameRule{{Role: "TABLE", Check: SQLTable}},
		Payload: JSONRows,
	}),
	SourceRandomSequence - 1: cursor(SourceCapabilities{
		Head: "RANDOM SEQUENCE", Lead: "RANDOM SEED", Subject: SubjectNone, Payload: JSONRows,
	}),
	SourceElasticsearchIndex - 1: cursor(SourceCapabilities{
		Head: "ELASTICSEARCH INDEX", Lead: "ELASTICSEARCH", Client: ClientElasticsearch,
		Names:   []NameRule{{Role: "INDEX", Quoted: true, Check: ElasticsearchIndex}, {Role: "BY CURSOR", Check: ColumnName}},
		Payload: JSONRows,
	}),
	SourceInfluxDBMeasurement - 1: cursor(SourceCapabilities{
		Head: "INFLUXDB MEASUREMENT", Lead: "INFLUXDB", Client: ClientInfluxDB,
		Names:   []NameRule{{Role: "MEASUREMENT", Quoted: true, Check: InfluxDBMeasurement}},
		Payload: JSONRows,
	}),
	SourceHTTPPush - 1: cursor(SourceCapabilities{
		Head: "HTTP PUSH", Lead: "HTTP PUSH", Subject: SubjectEndpoint, Endpoint: EndpointHTTP, Listener: true, Headers: true,
	}),
	SourceIggyTopic - 1: cursor(SourceCapabilities{
		Head: "IGGY TOPIC", Lead: "IGGY", Client: ClientIggy,
		Names: []NameRule{{Role: "STREAM", Check: IggyName}, {Role: "TOPIC", Check: IggyName}}, Headers: true,
	}),
}
