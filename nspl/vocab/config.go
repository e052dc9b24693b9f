package vocab

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ConfigKey is one key of a client's CONFIG.
type ConfigKey struct {
	Name     string
	Required bool
	Secret   bool // the value is never shown
	URLs     bool // the value may hold credentials of its own
}

const (
	keyAddr     = "addr"
	keyUsername = "username"
	keyPassword = "password"
	keyEndpoint = "endpoint"
	keyTimeout  = "timeout_ms"
	keyTLSCA    = "tls_ca_file"
	keyTLSCert  = "tls_cert_file"
	keyTLSKey   = "tls_key_file"
)

// configKeys is indexed by client type. The sets are closed: a key that would
// silently do nothing is refused.
var configKeys = [...][]ConfigKey{
	ClientHTTP: {
		{Name: keyEndpoint, Required: true, URLs: true}, {Name: keyTimeout, Required: true},
		{Name: keyTLSCA}, {Name: keyTLSCert}, {Name: keyTLSKey},
	},
	ClientNATS: {
		{Name: keyAddr, Required: true, URLs: true},
		{Name: keyTLSCA}, {Name: keyTLSCert}, {Name: keyTLSKey},
	},
	ClientRedis: {
		{Name: keyAddr, Required: true, URLs: true}, {Name: keyUsername}, {Name: keyPassword, Secret: true},
		{Name: keyTLSCA}, {Name: keyTLSCert}, {Name: keyTLSKey},
	},
}

// ConfigKeys lists the keys of the type, in the order of the manual.
func (t ClientType) ConfigKeys() []ConfigKey { return configKeys[t] }

// masked stands for a value that is never shown.
const masked = "<masked>"

// MaskConfig returns the value of an entry as it may be shown: a secret as a
// whole, and the password inside a URL, are replaced.
func MaskConfig(t ClientType, entry ConfigEntry) string {
	for _, key := range t.ConfigKeys() {
		switch {
		case key.Name != entry.Key:
		case key.Secret:
			return masked
		case key.URLs:
			return maskURLs(entry.Value)
		}
	}
	return entry.Value
}

// maskURLs replaces everything between the first colon of the user information
// and its end, in each of a list of URLs. It does not parse: a value that is no
// URL may hold a password as well.
func maskURLs(text string) string {
	parts := strings.Split(text, ",")
	for i, part := range parts {
		scheme, rest, found := strings.Cut(part, "://")
		at := strings.LastIndexByte(rest, '@')
		if !found || at < 0 {
			continue
		}
		user, _, secret := strings.Cut(rest[:at], ":")
		if secret {
			user += ":" + masked
		}
		parts[i] = scheme + "://" + user + rest[at:]
	}
	return strings.Join(parts, ",")
}

// CheckClientConfig checks a configuration as far as it can be checked without
// the network or a file. The error is a *ConfigError.
func CheckClientConfig(t ClientType, config []ConfigEntry) error {
	var err error
	switch t {
	case ClientNATS:
		_, err = ParseNATS(config)
	case ClientRedis:
		_, err = ParseRedis(config)
	case ClientHTTP:
		_, err = ParseHTTP(config)
	}
	return err
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

// Server is one configured address. Host is what certificates are verified
// against, whichever address answers.
type Server struct {
	TLS      bool
	Host     string // name or literal address, without brackets
	Port     uint16
	User     string
	Password Secret
}

// Authority is host and port as they stand in a URL.
func (s Server) Authority() string {
	host := s.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(int(s.Port))
}

// TLSFiles are the PEM files of a client; "" where not configured.
type TLSFiles struct{ CA, Cert, Key string }

// NATSClient is the configuration of a client TYPE NATS.
type NATSClient struct {
	Servers []Server // in written order
	TLS     TLSFiles
}

// RedisClient is the configuration of a client TYPE REDIS.
type RedisClient struct {
	Server   Server // user and password included
	Database int
	TLS      TLSFiles
}

// HTTPClient is the configuration of a client TYPE HTTP.
type HTTPClient struct {
	Origin  Server
	Host    string // the Host header: the port only where it is not the scheme's own
	Timeout time.Duration
	TLS     TLSFiles
}

// ParseNATS reads the configuration of a NATS client.
func ParseNATS(config []ConfigEntry) (NATSClient, error) {
	s, err := readSettings(ClientNATS, config)
	if err != nil {
		return NATSClient{}, err
	}
	out := NATSClient{TLS: s.tlsFiles()}
	for _, text := range strings.Split(s.required(keyAddr), ",") {
		u := s.url(keyAddr, strings.TrimSpace(text), "nats", "tls")
		if u == nil {
			break
		}
		if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
			s.fail(keyAddr, "takes addresses without a path or a query")
		}
		server := s.server(keyAddr, u, 4222)
		server.TLS = u.Scheme == "tls"
		out.Servers = append(out.Servers, server)
		if len(out.Servers) > 1 && server.TLS != out.Servers[0].TLS {
			s.fail(keyAddr, "must not mix nats:// and tls://")
		}
	}
	if s.err == nil && !out.Servers[0].TLS {
		s.refuseTLSFiles()
	}
	return out, s.err
}

// ParseRedis reads the configuration of a Redis client.
func ParseRedis(config []ConfigEntry) (RedisClient, error) {
	s, err := readSettings(ClientRedis, config)
	if err != nil {
		return RedisClient{}, err
	}
	out := RedisClient{TLS: s.tlsFiles()}
	u := s.url(keyAddr, s.required(keyAddr), "redis", "rediss")
	if u == nil {
		return out, s.err
	}
	out.Server = s.server(keyAddr, u, 6379)
	out.Server.TLS = u.Scheme == "rediss"
	if db := strings.TrimPrefix(u.Path, "/"); db != "" {
		n, err := strconv.ParseUint(db, 10, 31)
		if err != nil {
			s.fail(keyAddr, "takes a database number after the host, as in redis://host:6379/0")
		}
		out.Database = int(n)
	}
	if u.RawQuery != "" {
		s.fail(keyAddr, "takes no query")
	}
	if user, ok := s.get(keyUsername); ok {
		out.Server.User = user
	}
	if password, ok := s.get(keyPassword); ok {
		out.Server.Password = NewSecret(password)
	}
	if !out.Server.TLS {
		s.refuseTLSFiles()
	}
	return out, s.err
}

// timeoutMax keeps the end of a request inside the range of the clock.
const timeoutMax = 24 * time.Hour

// ParseHTTP reads the configuration of an HTTP client.
func ParseHTTP(config []ConfigEntry) (HTTPClient, error) {
	s, err := readSettings(ClientHTTP, config)
	if err != nil {
		return HTTPClient{}, err
	}
	out := HTTPClient{TLS: s.tlsFiles()}
	u := s.url(keyEndpoint, s.required(keyEndpoint), "http", "https")
	if u == nil {
		return out, s.err
	}
	if u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery {
		s.fail(keyEndpoint, "must be an origin only: scheme, host and optional port")
	}
	port := uint16(80)
	if u.Scheme == "https" {
		port = 443
	}
	out.Origin = s.server(keyEndpoint, u, port)
	out.Origin.TLS = u.Scheme == "https"
	out.Host = strings.TrimSuffix(out.Origin.Authority(), ":"+strconv.Itoa(int(port)))
	ms, err := strconv.ParseUint(s.required(keyTimeout), 10, 63)
	if err != nil || ms == 0 || ms > uint64(timeoutMax/time.Millisecond) {
		s.fail(keyTimeout, "must be a whole number of milliseconds from 1 through 86400000")
	}
	out.Timeout = time.Duration(ms) * time.Millisecond
	return out, s.err
}

// settings is one configuration whose keys are known. The first mistake stays.
type settings struct {
	client  ClientType
	entries []ConfigEntry
	err     error
}

func readSettings(client ClientType, entries []ConfigEntry) (*settings, error) {
	s := &settings{client: client, entries: entries}
	for i, entry := range entries {
		if !slices.ContainsFunc(client.ConfigKeys(), func(k ConfigKey) bool { return k.Name == entry.Key }) {
			s.fail(entry.Key, "is not known"+s.knownKeys())
		}
		if slices.ContainsFunc(entries[:i], func(e ConfigEntry) bool { return e.Key == entry.Key }) {
			s.fail(entry.Key, "is given twice")
		}
	}
	return s, s.err
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

func (s *settings) fail(key, expect string) {
	if s.err == nil {
		s.err = &ConfigError{Client: s.client, Key: key, Expect: expect}
	}
}

func (s *settings) get(key string) (string, bool) {
	for _, entry := range s.entries {
		if entry.Key == key {
			return entry.Value, true
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

// url parses one URL of the given schemes with a host; nil after a mistake. The
// text of a parse error is dropped, because it quotes the value.
func (s *settings) url(key, text string, schemes ...string) *url.URL {
	if s.err != nil {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Opaque != "" || u.Hostname() == "" || u.Fragment != "" {
		s.fail(key, "must be a URL such as "+schemes[0]+"://host:port (schemes: "+strings.Join(schemes, ", ")+")")
		return nil
	}
	return u
}

func (s *settings) server(key string, u *url.URL, port uint16) Server {
	server := Server{Host: u.Hostname(), Port: port}
	if text := u.Port(); text != "" {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n == 0 {
			s.fail(key, "has a port that is not from 1 through 65535")
		}
		server.Port = uint16(n)
	}
	if strings.Contains(server.Host, ":") {
		if _, err := netip.ParseAddr(server.Host); err != nil {
			s.fail(key, "has a malformed IPv6 address")
		}
	}
	if u.User != nil {
		server.User = u.User.Username()
		password, _ := u.User.Password()
		server.Password = NewSecret(password)
	}
	return server
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

func (s *settings) refuseTLSFiles() {
	for _, key := range []string{keyTLSCA, keyTLSCert, keyTLSKey} {
		if _, ok := s.get(key); ok {
			s.fail(key, "needs an address with encryption")
		}
	}
}
