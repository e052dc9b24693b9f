package vocab

// ClientType is the TYPE of a client.
type ClientType uint8

// The client types.
const (
	ClientKafka ClientType = iota + 1
	ClientPulsar
	ClientHTTP
	ClientSentry
	ClientOTEL
	ClientPrometheus
	ClientRabbitMQ
	ClientRedis
	ClientMQTT
	ClientNATS
	ClientZeroMQ
	ClientSyslog
	ClientSQS
	ClientWebSockets
	ClientClickHouse
	ClientPostgres
	ClientMySQL
	ClientMongoDB
	ClientS3
	ClientGCS
	ClientAzureBlob
	ClientIcebergREST
	ClientElasticsearch
	ClientInfluxDB
	ClientIggy
)

var clientTypeNames = [...]string{"", "KAFKA", "PULSAR", "HTTP", "SENTRY", "OTEL", "PROMETHEUS", "RABBITMQ", "REDIS", "MQTT",
	"NATS", "ZEROMQ", "SYSLOG", "SQS", "WEBSOCKETS", "CLICKHOUSE", "POSTGRES", "MYSQL", "MONGODB", "S3", "GCS", "AZURE_BLOB",
	"ICEBERG_REST", "ELASTICSEARCH", "INFLUXDB", "IGGY"}

// String returns the keyword.
func (t ClientType) String() string { return clientTypeNames[t] }

// ClientTypes lists every client type, in declaration order.
func ClientTypes() []ClientType {
	list := make([]ClientType, len(clientTypeNames)-1)
	for i := range list {
		list[i] = ClientType(i + 1)
	}
	return list
}

// Pooled reports whether a client of the type declares POOL SIZE.
func (t ClientType) Pooled() bool {
	switch t {
	case ClientPostgres, ClientMySQL, ClientMongoDB, ClientRedis:
		return true
	}
	return false
}

// SourceEntity is what an ingestor reads: connector and noun, which together are
// the head of its statement.
type SourceEntity uint8

// The source entities.
const (
	SourceKafkaTopic SourceEntity = iota + 1
	SourcePulsarTopic
	SourceRabbitMQQueue
	SourceSQSQueue
	SourceMQTTTopic
	SourceNATSSubject
	SourceNATSStream
	SourceRedisChannel
	SourceZeroMQSocket
	SourceSyslogListener
	SourceWebSocketsConnection
	SourceHTTPPoll
	SourcePrometheusQuery
	SourceHTTPEndpoint
	SourceWebSocketsEndpoint
	SourceClientSchema
	SourcePostgresTable
	SourceRandomSequence
	SourceElasticsearchIndex
	SourceInfluxDBMeasurement
	SourceHTTPPush
	SourceIggyTopic
)

// SinkEntity is what an emitter writes.
type SinkEntity uint8

// The sink entities.
const (
	SinkKafkaTopic SinkEntity = iota + 1
	SinkPulsarTopic
	SinkRabbitMQQueue
	SinkNATSSubject
	SinkMQTTTopic
	SinkRedisChannel
	SinkZeroMQSocket
	SinkSyslogSender
	SinkSQSQueue
	SinkSentryEvent
	SinkHTTPRequest
	SinkIggyTopic
	SinkClientSchema
	SinkClickHouseTable
	SinkPostgresTable
	SinkMySQLTable
	SinkMongoDBCollection
	SinkIcebergTable
	SinkOTELLogs
	SinkOTELTraces
	SinkOTELMetric
)

// String returns the head of the statement: connector and noun.
func (e SourceEntity) String() string { return e.Capabilities().Head }

// String returns the head of the statement: connector and noun.
func (e SinkEntity) String() string { return e.Capabilities().Head }

// Capabilities returns the one declaration of the entity. An entity this build
// does not know has none: it panics.
func (e SourceEntity) Capabilities() *SourceCapabilities { return &sources[e-1] }

// Capabilities returns the one declaration of the entity. An entity this build
// does not know has none: it panics.
func (e SinkEntity) Capabilities() *SinkCapabilities { return &sinks[e-1] }

// SourceEntities lists every source entity, in declaration order.
func SourceEntities() []SourceEntity {
	list := make([]SourceEntity, len(sources))
	for i := range list {
		list[i] = SourceEntity(i + 1)
	}
	return list
}

// SinkEntities lists every sink entity, in declaration order.
func SinkEntities() []SinkEntity {
	list := make([]SinkEntity, len(sinks))
	for i := range list {
		list[i] = SinkEntity(i + 1)
	}
	return list
}
