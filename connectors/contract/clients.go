package contract

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"plexus/nspl/vocab"
)

// CheckClient checks a client's configuration as far as it can be checked
// without the network or a file. The key sets are closed: a key that would
// silently do nothing is refused.
func CheckClient(client Client) error {
	var err error
	switch client.Type {
	case vocab.ClientNATS:
		_, err = ParseNATS(client)
	case vocab.ClientRedis:
		_, err = ParseRedis(client)
	case vocab.ClientHTTP:
		_, err = ParseHTTP(client)
	}
	return err
}

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

// ParseNATS reads the configuration of a NATS client.
func ParseNATS(client Client) (NATSClient, error) {
	s, err := readSettings(client, keyAddr, keyTLSCA, keyTLSCert, keyTLSKey)
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
func ParseRedis(client Client) (RedisClient, error) {
	s, err := readSettings(client, keyAddr, keyUsername, keyPassword, keyTLSCA, keyTLSCert, keyTLSKey)
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
func ParseHTTP(client Client) (HTTPClient, error) {
	s, err := readSettings(client, keyEndpoint, keyTimeout, keyTLSCA, keyTLSCert, keyTLSKey)
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
	client Client
	err    error
}

func readSettings(client Client, keys ...string) (*settings, error) {
	s := &settings{client: client}
	for i, entry := range client.Config {
		known := false
		for _, key := range keys {
			known = known || key == entry.Key
		}
		if !known {
			return nil, s.fail(entry.Key, "is not known; known keys are "+strings.Join(keys, ", "))
		}
		for _, earlier := range client.Config[:i] {
			if earlier.Key == entry.Key {
				return nil, s.fail(entry.Key, "is given twice")
			}
		}
	}
	return s, nil
}

func (s *settings) fail(key, expect string) error {
	if s.err == nil {
		s.err = &ConfigError{Client: s.client.Type, Key: key, Expect: expect}
	}
	return s.err
}

func (s *settings) get(key string) (string, bool) {
	for _, entry := range s.client.Config {
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
	known := false
	for _, scheme := range schemes {
		known = known || err == nil && u.Scheme == scheme
	}
	if !known || u.Opaque != "" || u.Hostname() == "" || u.Fragment != "" {
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
