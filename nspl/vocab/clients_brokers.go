package vocab

import (
	"net/url"
	"strings"
	"time"
)

// tlsKeys are the keys of clients that verify a server and may identify
// themselves.
func tlsKeys(keys ...ConfigKey) []ConfigKey {
	return append(keys, ConfigKey{Name: keyTLSCA, value: filled}, ConfigKey{Name: keyTLSCert, value: filled},
		ConfigKey{Name: keyTLSKey, value: filled})
}

// The keys of KAFKA carry the names that Kafka's operators know. The set is
// fixed: the driver has no pass-through.
const (
	kafkaProtocol  = "security.protocol"
	kafkaCA        = "ssl.ca.location"
	kafkaCert      = "ssl.certificate.location"
	kafkaKey       = "ssl.key.location"
	kafkaHostCheck = "ssl.endpoint.identification.algorithm"
	kafkaVerify    = "enable.ssl.certificate.verification"
	kafkaMechanism = "sasl.mechanism"
	kafkaUser      = "sasl.username"
	kafkaPassword  = "sasl.password"
	kafkaAcks      = "acks"
	kafkaIdempot   = "enable.idempotence"

	setByNode = "is set by the node and cannot be written"
)

const bytes32Max = 1<<31 - 1

var kafkaConfig = clientConfig{
	keys: []ConfigKey{
		{Name: KeyKafkaServers, Required: true, value: hostPorts(false)}, {Name: "client.id", value: filled},
		{Name: "metadata.max.age.ms", value: millis}, {Name: "request.timeout.ms", value: millis},
		{Name: "socket.timeout.ms", value: millis}, {Name: "socket.connection.setup.timeout.ms", value: millis},
		{Name: kafkaProtocol, value: oneOf("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")},
		{Name: kafkaCA, value: filled}, {Name: kafkaCert, value: filled}, {Name: kafkaKey, value: filled},
		{Name: kafkaHostCheck, value: oneOf("https", "none")}, {Name: kafkaVerify, value: boolean},
		{Name: kafkaMechanism, value: oneOf("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")},
		{Name: kafkaUser, value: filled}, {Name: kafkaPassword, Secret: true},
		{Name: "auto.offset.reset", value: oneOf("latest", "earliest", "none")},
		{Name: "isolation.level", value: oneOf("read_uncommitted", "read_committed")},
		{Name: "fetch.min.bytes", value: whole(1, bytes32Max)}, {Name: "fetch.wait.max.ms", value: millis},
		{Name: "fetch.max.bytes", value: whole(1, bytes32Max)}, {Name: "max.partition.fetch.bytes", value: whole(1, bytes32Max)},
		{Name: "session.timeout.ms", value: millis}, {Name: "heartbeat.interval.ms", value: millis},
		{Name: "max.poll.interval.ms", value: millis}, {Name: "group.instance.id", Instance: true, value: filled},
		{Name: "partition.assignment.strategy", value: oneOf("range", "roundrobin", "sticky", "cooperative-sticky")},
		{Name: kafkaAcks, value: oneOf("0", "1", "all")}, {Name: kafkaIdempot, value: boolean},
		{Name: "linger.ms", value: whole(0, uint64(timeoutMax/time.Millisecond))}, {Name: "batch.size", value: whole(1, bytes32Max)},
		{Name: "compression.type", value: oneOf("none", "gzip", "snappy", "lz4", "zstd")},
		{Name: "message.max.bytes", value: whole(1000, 1_000_000_000)}, {Name: "message.timeout.ms", value: millis},
		{Name: "queue.buffering.max.messages", value: whole(1, 10_000_000)}, {Name: "queue.buffering.max.kbytes", value: whole(1, bytes32Max)},
		{Name: "group.id", Never: setByNode}, {Name: "enable.auto.commit", Never: setByNode}, {Name: "enable.partition.eof", Never: setByNode},
	},
	check: checkKafka,
}

func checkKafka(s *settings) {
	s.together(kafkaCert, kafkaKey)
	protocol, _ := s.get(kafkaProtocol)
	if !strings.HasSuffix(protocol, "ssl") {
		s.refuse("needs security.protocol ssl or sasl_ssl", kafkaCA, kafkaCert, kafkaKey, kafkaHostCheck, kafkaVerify)
	}
	if strings.HasPrefix(protocol, "sasl_") {
		for _, key := range []string{kafkaMechanism, kafkaUser, kafkaPassword} {
			s.required(key)
		}
	} else {
		s.refuse("needs security.protocol sasl_plaintext or sasl_ssl", kafkaMechanism, kafkaUser, kafkaPassword)
	}
	acks, ok := s.get(kafkaAcks)
	if idempotent, _ := s.get(kafkaIdempot); idempotent == "true" && ok && acks != "all" {
		s.fail(kafkaIdempot, "needs acks=all")
	}
}

var pulsarConfig = clientConfig{
	keys: []ConfigKey{
		{Name: keyAddr, Required: true, URLs: true, value: urlOf("pulsar", "pulsar+ssl")}, {Name: "namespace", value: func(text string) string {
			if !segments(text, 2) {
				return "must be tenant/namespace"
			}
			return ""
		}},
		{Name: keyTLSCA, value: filled}, {Name: "tls_allow_insecure_connection", value: boolean},
		{Name: "tls_hostname_verification_enabled", value: boolean},
		{Name: keyTLSCert, Never: "is not taken: client certificates are not offered"},
		{Name: keyTLSKey, Never: "is not taken: client certificates are not offered"},
	},
	check: func(s *settings) {
		if addr, _ := s.get(keyAddr); scheme(addr) != "pulsar+ssl" {
			s.refuse("needs an address with encryption", keyTLSCA, "tls_allow_insecure_connection", "tls_hostname_verification_enabled")
		}
	},
}

var rabbitMQConfig = clientConfig{
	keys: []ConfigKey{
		{Name: keyAddr, Required: true, URLs: true, value: urlOf("amqp", "amqps")}, {Name: keyTLSCA, value: filled},
	},
	check: func(s *settings) {
		if addr, _ := s.get(keyAddr); scheme(addr) != "amqps" {
			s.refuseTLSFiles()
		}
	},
}

var redisConfig = clientConfig{
	keys: tlsKeys(ConfigKey{Name: keyAddr, Required: true, URLs: true}, ConfigKey{Name: keyUsername}, ConfigKey{Name: keyPassword, Secret: true}),
	check: func(s *settings) {
		addr, _ := s.get(keyAddr)
		if scheme(addr) != "unix" {
			readRedis(s)
			return
		}
		if u, err := url.Parse(addr); err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
			s.fail(keyAddr, "must be unix:// and an absolute path")
		}
		s.refuseTLSFiles()
	},
}

// InstanceWord stands in a template for the number of the instance that connects.
const InstanceWord = "instance"

var mqttConfig = clientConfig{
	keys: tlsKeys(
		ConfigKey{Name: keyAddr, Required: true, URLs: true, value: func(text string) string {
			if u := parseURL(text, "mqtt", "mqtts"); u == nil || u.Port() == "" || u.User != nil {
				return "must be mqtt://host:port or mqtts://host:port; the port is required, and credentials have keys of their own"
			}
			return urlOf("mqtt", "mqtts")(text)
		}},
		ConfigKey{Name: KeyClientID, Instance: true, value: filled}, ConfigKey{Name: keyUsername}, ConfigKey{Name: keyPassword, Secret: true},
		ConfigKey{Name: "session_expiry_s", value: whole(1, 1<<32-1)}, ConfigKey{Name: "keep_alive_s", value: whole(1, 65_535)},
	),
	check: func(s *settings) {
		s.tlsFiles()
		if addr, _ := s.get(keyAddr); scheme(addr) != "mqtts" {
			s.refuseTLSFiles()
		} else if _, ok := s.get(keyTLSCA); !ok {
			s.fail(keyTLSCA, "is required with mqtts://")
		}
	},
}

var natsConfig = clientConfig{
	keys:  tlsKeys(ConfigKey{Name: keyAddr, Required: true, URLs: true}),
	check: func(s *settings) { readNATS(s) },
}

var zeroMQConfig = clientConfig{
	keys: []ConfigKey{
		{Name: keyAddr, Required: true, value: func(text string) string {
			kind, rest, _ := strings.Cut(text, "://")
			if kind == "tcp" && hostPort(strings.Replace(rest, "*:", "any:", 1), true) == "" || kind == "ipc" && rest != "" {
				return ""
			}
			return "must be tcp://host:port or ipc://path"
		}},
		{Name: "bind", value: boolean},
		{Name: "send_timeout", value: func(text string) string {
			if d, err := time.ParseDuration(text); err != nil || d <= 0 {
				return "must be a positive duration such as 5s"
			}
			return ""
		}},
	},
	check: func(s *settings) {
		addr, _ := s.get(keyAddr)
		if bind, _ := s.get("bind"); bind != "true" && strings.HasPrefix(addr, "tcp://*:") {
			s.fail(keyAddr, "can be any address only with bind = true")
		}
	},
}

// SyslogTLS reports whether a SYSLOG client encrypts.
func SyslogTLS(config []ConfigEntry) bool { return entryIs(config, keyProtocol, "tls") }

func entryIs(config []ConfigEntry, key, value string) bool {
	for _, e := range config {
		if e.Key == key {
			return e.Value == value
		}
	}
	return false
}

var syslogConfig = clientConfig{
	keys: tlsKeys(
		ConfigKey{Name: keyProtocol, Required: true, value: oneOf("udp", "tcp", "tls")},
		ConfigKey{Name: keyAddr, Required: true, URLs: true, value: func(text string) string { return hostPort(text, true) }},
		ConfigKey{Name: "max_message_size", value: whole(1, bytes32Max)},
		ConfigKey{Name: "framing", value: oneOf("octet-counting", "non-transparent")},
	),
	check: func(s *settings) {
		s.tlsFiles()
		protocol, _ := s.get(keyProtocol)
		framing, framed := s.get("framing")
		if protocol != "tls" {
			s.refuse("needs protocol tls", keyTLSCA, keyTLSCert, keyTLSKey)
		}
		switch {
		case framed && protocol == "udp":
			s.fail("framing", "has no meaning with protocol udp: a datagram is a frame")
		case framed && protocol == "tls" && framing == "non-transparent":
			s.fail("framing", "must be octet-counting with protocol tls")
		}
	},
}

var sqsConfig = clientConfig{
	keys: []ConfigKey{
		{Name: keyEndpoint, Required: true, URLs: true, value: urlOf("http", "https")}, {Name: "region", value: filled},
		{Name: "access_key_id", value: filled}, {Name: "secret_access_key", Secret: true, value: filled},
		{Name: keyTLSCA, value: filled}, {Name: keyTimeout, value: millis},
	},
	check: func(s *settings) { s.together("access_key_id", "secret_access_key") },
}
