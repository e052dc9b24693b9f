package vocab

import (
	"strconv"
	"strings"
	"time"
)

// The clients whose connectors exist have a typed configuration besides the table
// of their keys: what the connector opens with.

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
	s := readSettings(ClientNATS, config)
	if len(s.faults) > 0 {
		return NATSClient{}, s.err()
	}
	out := readNATS(s)
	return out, s.err()
}

func readNATS(s *settings) NATSClient {
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
	if len(s.faults) == 0 && !out.Servers[0].TLS {
		s.refuseTLSFiles()
	}
	return out
}

// ParseRedis reads the configuration of a Redis client.
func ParseRedis(config []ConfigEntry) (RedisClient, error) {
	s := readSettings(ClientRedis, config)
	if len(s.faults) > 0 {
		return RedisClient{}, s.err()
	}
	out := readRedis(s)
	return out, s.err()
}

func readRedis(s *settings) RedisClient {
	out := RedisClient{TLS: s.tlsFiles()}
	u := s.url(keyAddr, s.required(keyAddr), "redis", "rediss")
	if u == nil {
		return out
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
	return out
}

// ParseHTTP reads the configuration of an HTTP client as a sink takes it: an origin
// and how long a request may last.
func ParseHTTP(config []ConfigEntry) (HTTPClient, error) {
	s := readSettings(ClientHTTP, config)
	if len(s.faults) > 0 {
		return HTTPClient{}, s.err()
	}
	out := HTTPClient{TLS: s.tlsFiles()}
	u := s.url(keyEndpoint, s.endpoint(), "http", "https")
	if u == nil {
		return out, s.err()
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
	return out, s.err()
}

// endpoint is the URL under either of its keys.
func (s *settings) endpoint() string {
	if text, ok := s.get(keyURL); ok {
		return text
	}
	return s.required(keyEndpoint)
}
