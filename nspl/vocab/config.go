package vocab

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// ConfigKey is one key of a client's CONFIG.
type ConfigKey struct {
	Name     string
	Required bool
	Secret   bool // the value is never shown
	URLs     bool // the value may hold credentials of its own
	// Instance says that the value may hold {{instance}}, which stands for the number
	// of the instance that connects.
	Instance bool
	// Never says why no value is taken: the key belongs to the system, and Plexus
	// sets it, or does without it.
	Never string
	// value checks the text of an entry and says what was expected instead; nil takes
	// any text, "" included.
	value func(text string) (expect string)
}

// clientConfig is what one client type takes.
type clientConfig struct {
	keys []ConfigKey
	// open reports keys that pass through although the table does not hold them.
	open func(key string) bool
	// check looks at the keys together. Each of them is known and fits by itself.
	check func(s *settings)
}

// clientConfigs is indexed by client type. The sets are closed: a key that would
// silently do nothing is refused.
var clientConfigs = [...]clientConfig{
	ClientKafka: kafkaConfig, ClientPulsar: pulsarConfig, ClientRabbitMQ: rabbitMQConfig, ClientRedis: redisConfig,
	ClientMQTT: mqttConfig, ClientNATS: natsConfig, ClientZeroMQ: zeroMQConfig, ClientSyslog: syslogConfig, ClientSQS: sqsConfig,
	ClientHTTP: httpConfig, ClientSentry: sentryConfig, ClientOTEL: otelConfig, ClientPrometheus: prometheusConfig,
	ClientWebSockets: webSocketsConfig, ClientElasticsearch: elasticsearchConfig, ClientInfluxDB: influxDBConfig, ClientIggy: iggyConfig,
	ClientClickHouse: clickHouseConfig, ClientPostgres: postgresConfig, ClientMySQL: mySQLConfig, ClientMongoDB: mongoDBConfig,
	ClientS3: s3Config, ClientGCS: gcsConfig, ClientAzureBlob: azureBlobConfig, ClientIcebergREST: icebergRESTConfig,
}

// The keys that other entities ask for.
const (
	KeyClientID     = "client_id" // the name of an MQTT client at its broker
	KeyCertificate  = "tls_cert_file"
	KeyKafkaServers = "bootstrap.servers"
)

// The keys that several types have.
const (
	keyAddr     = "addr"
	keyUsername = "username"
	keyPassword = "password"
	keyEndpoint = "endpoint"
	keyURL      = "url"
	keyToken    = "token"
	keyDatabase = "database"
	keyProtocol = "protocol"
	keyTimeout  = "timeout_ms"
	keyTLSCA    = "tls_ca_file"
	keyTLSCert  = KeyCertificate
	keyTLSKey   = "tls_key_file"
)

// ConfigKeys lists the keys of the type, in the order of the manual.
func (t ClientType) ConfigKeys() []ConfigKey { return clientConfigs[t].keys }

// OpenConfig reports whether the type takes keys that the list does not hold.
func (t ClientType) OpenConfig() bool { return clientConfigs[t].open != nil }

// Key returns the declaration of a key.
func (t ClientType) Key(name string) (ConfigKey, bool) {
	for _, key := range t.ConfigKeys() {
		if key.Name == name {
			return key, true
		}
	}
	if c := clientConfigs[t]; c.open != nil && c.open(name) {
		return ConfigKey{Name: name, Secret: true}, true // whatever it is, it may be one
	}
	return ConfigKey{}, false
}

// CheckClientConfig checks a configuration as far as it can be checked without
// the network or a file, and returns every fault, at most one for each key.
func CheckClientConfig(t ClientType, config []ConfigEntry) []*ConfigError {
	s := readSettings(t, config)
	misspelt := len(s.faults) > 0 // what is missing may be there under another name
	for _, key := range t.ConfigKeys() {
		value, ok := s.get(key.Name)
		switch {
		case ok && key.Never != "":
			s.fail(key.Name, key.Never)
		case ok && key.value != nil:
			if expect := key.value(value); expect != "" {
				s.fail(key.Name, expect)
			}
		case !ok && key.Required && !misspelt:
			s.fail(key.Name, "is required")
		}
	}
	if check := clientConfigs[t].check; check != nil && len(s.faults) == 0 {
		check(s)
	}
	return s.faults
}

// ConfigError names a key of a client's configuration and what was expected. It
// never holds the value, which may be a secret.
type ConfigError struct {
	Client ClientType
	Key    string
	Expect string
	Err    error
}

func (e *ConfigError) Error() string {
	return "client TYPE " + e.Client.String() + ": key '" + e.Key + "' " + e.Expect
}
func (e *ConfigError) Unwrap() error { return e.Err }

// settings is one configuration whose keys are known.
type settings struct {
	client  ClientType
	entries []ConfigEntry
	faults  []*ConfigError
}

func readSettings(client ClientType, entries []ConfigEntry) *settings {
	s := &settings{client: client, entries: entries}
	for i, entry := range entries {
		if _, known := client.Key(entry.Key); !known {
			s.fail(entry.Key, "is not known"+s.knownKeys())
		}
		if slices.ContainsFunc(entries[:i], func(e ConfigEntry) bool { return e.Key == entry.Key }) {
			s.fail(entry.Key, "is given twice")
		}
	}
	return s
}

func (s *settings) knownKeys() string {
	text := "; known keys are "
	for i, key := range s.client.ConfigKeys() {
		if i > 0 {
			text += ", "
		}
		text += key.Name
	}
	return text
}

// err is the first fault.
func (s *settings) err() error {
	if len(s.faults) == 0 {
		return nil
	}
	return s.faults[0]
}

// fail reports a key once.
func (s *settings) fail(key, expect string) {
	for _, f := range s.faults {
		if f.Key == key {
			return
		}
	}
	s.faults = append(s.faults, &ConfigError{Client: s.client, Key: key, Expect: expect})
}

func (s *settings) get(key string) (string, bool) {
	for _, entry := range s.entries {
		if entry.Key == key {
			return entry.Value, true
		}
	}
	return "", false
}

// has reports whether any of the keys is given, and which.
func (s *settings) has(keys ...string) (string, bool) {
	for _, key := range keys {
		if _, ok := s.get(key); ok {
			return key, true
		}
	}
	return "", false
}

func (s *settings) required(key string) string {
	value, ok := s.get(key)
	if !ok {
		s.fail(key, "is required")
	}
	return value
}

// together demands that all of the keys are given, or none.
func (s *settings) together(keys ...string) {
	given, any := s.has(keys...)
	if !any {
		return
	}
	for _, key := range keys {
		if _, ok := s.get(key); !ok {
			s.fail(key, "is required with "+given)
		}
	}
}

// excludes refuses keys beside another.
func (s *settings) excludes(key string, others ...string) {
	if _, ok := s.get(key); !ok {
		return
	}
	if other, ok := s.has(others...); ok {
		s.fail(other, "cannot stand beside "+key)
	}
}

// refuse reports each of the keys that is given.
func (s *settings) refuse(expect string, keys ...string) {
	for _, key := range keys {
		if _, ok := s.get(key); ok {
			s.fail(key, expect)
		}
	}
}

// url parses one URL of the given schemes with a host; nil after a mistake. The
// text of a parse error is dropped, because it quotes the value.
func (s *settings) url(key, text string, schemes ...string) *url.URL {
	if len(s.faults) > 0 {
		return nil
	}
	u := parseURL(text, schemes...)
	if u == nil {
		s.fail(key, expectURL(schemes...))
	}
	return u
}

func parseURL(text string, schemes ...string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Opaque != "" || u.Hostname() == "" || u.Fragment != "" {
		return nil
	}
	return u
}

func expectURL(schemes ...string) string {
	return "must be a URL such as " + schemes[0] + "://host:port (schemes: " + strings.Join(schemes, ", ") + ")"
}

func (s *settings) server(key string, u *url.URL, port uint16) Server {
	server := Server{Host: u.Hostname(), Port: port}
	if text := u.Port(); text != "" {
		n, ok := portNumber(text)
		if !ok {
			s.fail(key, expectPort)
		}
		server.Port = n
	}
	if !hostOK(server.Host) {
		s.fail(key, "has a malformed IPv6 address")
	}
	if u.User != nil {
		server.User = u.User.Username()
		password, _ := u.User.Password()
		server.Password = NewSecret(password)
	}
	return server
}

const expectPort = "has a port that is not from 1 through 65535"

func portNumber(text string) (uint16, bool) {
	n, err := strconv.ParseUint(text, 10, 16)
	return uint16(n), err == nil && n > 0
}

func hostOK(host string) bool {
	if !strings.Contains(host, ":") {
		return true
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

func (s *settings) tlsFiles() TLSFiles {
	var files TLSFiles
	files.CA, _ = s.get(keyTLSCA)
	files.Cert, _ = s.get(keyTLSCert)
	files.Key, _ = s.get(keyTLSKey)
	if files.Cert != "" && files.Key == "" {
		s.fail(keyTLSKey, "is required with tls_cert_file")
	}
	if files.Key != "" && files.Cert == "" {
		s.fail(keyTLSCert, "is required with tls_key_file")
	}
	return files
}

// refuseTLSFiles refuses files of an encryption that the address does not ask
// for.
func (s *settings) refuseTLSFiles() {
	s.refuse("needs an address with encryption", keyTLSCA, keyTLSCert, keyTLSKey)
}
