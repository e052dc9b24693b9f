package vocab

// The modes that entities share.
var (
	brokerModes  = []SinkModeKind{SinkNoAck, SinkAckWindow}
	noAckMode    = []SinkModeKind{SinkNoAck}
	windowMode   = []SinkModeKind{SinkAckWindow}
	requestModes = []SinkModeKind{SinkAckRequest}
)

// rows completes the declaration of a sink that writes mapped rows into a table
// or a collection.
func rows(head, lead string, client ClientType, name NameRule) SinkCapabilities {
	return SinkCapabilities{
		Head: head, Lead: lead, Client: client, Names: []NameRule{name},
		Kind: RowKind, Batch: BatchRequired, Codec: CodecDirect, Values: true, Modes: requestModes,
	}
}

// otel is the declaration of one signal.
func otel(head string) SinkCapabilities {
	return SinkCapabilities{
		Head: head, Lead: "OTEL", Client: ClientOTEL,
		Kind: RowRequestKind, Batch: BatchOptional, Codec: CodecDirect, Values: true, Modes: requestModes,
	}
}

// sinks is indexed by entity - 1.
var sinks = [...]SinkCapabilities{
	SinkKafkaTopic - 1: {
		Head: "KAFKA TOPIC", Lead: "KAFKA", Client: ClientKafka, Names: []NameRule{{Role: "TOPIC", Check: KafkaTopic}},
		Headers: HeadersOrderedRepeated, Batch: BatchOptional, Modes: brokerModes,
	},
	SinkPulsarTopic - 1: {
		Head: "PULSAR TOPIC", Lead: "PULSAR", Client: ClientPulsar, Names: []NameRule{{Role: "TOPIC", Check: PulsarTopic}},
		Headers: HeadersLastWins, Batch: BatchOptional, Modes: brokerModes,
	},
	SinkRabbitMQQueue - 1: {
		Head: "RABBITMQ QUEUE", Lead: "RABBITMQ", Client: ClientRabbitMQ, Names: []NameRule{{Role: "QUEUE", Check: RabbitMQQueue}},
		Headers: HeadersLastWins, Batch: BatchOptional, Modes: brokerModes,
	},
	SinkNATSSubject - 1: {
		Head: "NATS SUBJECT", Lead: "NATS", Client: ClientNATS, Names: []NameRule{{Role: "SUBJECT", Check: NATSSubject}},
		Headers: HeadersOrderedRepeated, Batch: BatchOptional, Modes: []SinkModeKind{SinkNoAck, SinkJetStreamAck},
	},
	SinkMQTTTopic - 1: {
		Head: "MQTT TOPIC", Lead: "MQTT", Client: ClientMQTT, Names: []NameRule{{Role: "TOPIC", Check: MQTTTopic}},
		Batch: BatchOptional, Modes: []SinkModeKind{SinkQoS0, SinkQoS1, SinkQoS2},
	},
	SinkRedisChannel - 1: {
		Head: "REDIS CHANNEL", Lead: "REDIS PUBSUB", Client: ClientRedis, Names: []NameRule{{Role: "CHANNEL", Check: RedisChannel}},
		Batch: BatchOptional, Modes: noAckMode,
	},
	SinkZeroMQSocket - 1: {
		Head: "ZEROMQ SOCKET", Lead: "ZEROMQ", Client: ClientZeroMQ, Batch: BatchOptional, Modes: noAckMode,
	},
	SinkSyslogSender - 1: {
		Head: "SYSLOG SENDER", Lead: "SYSLOG", Client: ClientSyslog, Batch: BatchOptional, Modes: noAckMode,
	},
	SinkSQSQueue - 1: {
		Head: "SQS QUEUE", Lead: "SQS", Client: ClientSQS, Names: []NameRule{{Role: "QUEUE", Check: SQSQueue}},
		Headers: HeadersLastWins, Batch: BatchOptional, Group: true, Modes: []SinkModeKind{SinkSingle, SinkBatched},
	},
	SinkSentryEvent - 1: {
		Head: "SENTRY EVENT", Lead: "SENTRY", Client: ClientSentry, Batch: BatchOptional, Modes: requestModes,
	},
	SinkHTTPRequest - 1: {
		Head: "HTTP REQUEST", Lead: "HTTP", Client: ClientHTTP,
		Kind: HTTPRequestKind, Headers: HeadersReplace, Batch: BatchForbidden, Codec: CodecOrWithoutBody, Modes: requestModes,
	},
	SinkIggyTopic - 1: {
		Head: "IGGY TOPIC", Lead: "IGGY", Client: ClientIggy,
		Names:   []NameRule{{Role: "STREAM", Check: IggyName}, {Role: "TOPIC", Check: IggyName}},
		Headers: HeadersLastWins, Batch: BatchOptional, Modes: windowMode,
	},
	SinkClientSchema - 1: {
		Head: "CLIENT SCHEMA", Lead: "CLIENT SCHEMA", Subject: SubjectSchema,
		Kind: NativeKind, Batch: BatchRequired, Codec: CodecNative, Modes: windowMode,
	},
	SinkClickHouseTable - 1: rows("CLICKHOUSE TABLE", "CLICKHOUSE", ClientClickHouse, NameRule{Role: "INSERT TO TABLE", Check: SQLTable}),
	SinkPostgresTable - 1:   rows("POSTGRES TABLE", "POSTGRES", ClientPostgres, NameRule{Role: "INSERT TO TABLE", Check: SQLTable}),
	SinkMySQLTable - 1:      rows("MYSQL TABLE", "MYSQL", ClientMySQL, NameRule{Role: "INSERT TO TABLE", Check: SQLTable}),
	SinkMongoDBCollection - 1: rows("MONGODB COLLECTION", "MONGODB", ClientMongoDB,
		NameRule{Role: "INSERT TO COLLECTION", Check: MongoDBCollection}),
	SinkIcebergTable - 1: {
		Head: "ICEBERG TABLE", Lead: "ICEBERG ON", Names: []NameRule{{Role: "TABLE", Check: IcebergTable}},
		Kind: RowKind, Batch: BatchForbidden, Codec: CodecDirect, Values: true, Commit: true, Modes: requestModes,
	},
	SinkOTELLogs - 1:   otel("OTEL LOGS"),
	SinkOTELTraces - 1: otel("OTEL TRACES"),
	SinkOTELMetric - 1: otel("OTEL METRIC"),
}
