package vocab

import (
	"net/url"
	"slices"
	"strings"
)

var clickHouseConfig = clientConfig{
	keys: tlsKeys(ConfigKey{Name: keyAddr, Required: true, URLs: true, value: urlOf("http", "https")},
		ConfigKey{Name: "user", value: filled}, ConfigKey{Name: keyPassword, Secret: true}, ConfigKey{Name: keyDatabase, value: filled},
		ConfigKey{Name: keyTimeout, value: millis}),
	check: func(s *settings) { s.tlsFiles() },
}

// postgresQuery are the parameters of a connection URL that would set something
// with a key of its own, or a file that no mount provides.
var postgresQuery = []string{"host", "hostaddr", "port", "user", "password", "passfile", "dbname", "service", "servicefile",
	"sslcert", "sslkey", "sslrootcert", "sslpassword", "sslcrl"}

const postgresMode = "must say sslmode=disable or sslmode=verify-full"

var postgresConfig = clientConfig{
	keys: tlsKeys(ConfigKey{Name: keyAddr, Required: true, URLs: true, value: func(text string) string {
		if expect := urlOf("postgres", "postgresql")(text); expect != "" {
			return expect
		}
		query, err := url.ParseQuery(parseURL(text, "postgres", "postgresql").RawQuery)
		if err != nil {
			return "has a malformed query"
		}
		for _, name := range postgresQuery {
			if query.Has(name) {
				return "must not have " + name + " in its query"
			}
		}
		if mode := query["sslmode"]; len(mode) != 1 || mode[0] != "disable" && mode[0] != "verify-full" {
			return postgresMode
		}
		return ""
	}}),
	check: func(s *settings) {
		s.tlsFiles()
		addr, _ := s.get(keyAddr)
		if u := parseURL(addr, "postgres", "postgresql"); u != nil && u.Query().Get("sslmode") != "verify-full" {
			s.refuse("needs sslmode=verify-full", keyTLSCA, keyTLSCert, keyTLSKey)
		}
	},
}

var mySQLConfig = clientConfig{
	keys: []ConfigKey{
		{Name: keyAddr, Required: true, URLs: true, value: func(text string) string {
			if expect := urlOf("mysql")(text); expect != "" {
				return expect
			}
			u := parseURL(text, "mysql")
			query, err := url.ParseQuery(u.RawQuery)
			switch ssl, asked := query["require_ssl"]; {
			case !segments(strings.TrimPrefix(u.Path, "/"), 1):
				return "must name the database, as in mysql://user@host:3306/shop"
			case err != nil || len(query) > 1 || len(query) == 1 && !asked:
				return "takes no query but require_ssl=true or require_ssl=false"
			case asked && !slices.Contains([]string{"true", "false"}, strings.Join(ssl, ",")):
				return "takes require_ssl=true or require_ssl=false"
			}
			return ""
		}},
		{Name: keyTLSCA, value: filled},
	},
	check: func(s *settings) {
		addr, _ := s.get(keyAddr)
		if u := parseURL(addr, "mysql"); u != nil && u.Query().Get("require_ssl") != "true" {
			s.refuse("needs require_ssl=true", keyTLSCA)
		}
	},
}

var mongoDBConfig = clientConfig{
	keys: []ConfigKey{
		{Name: keyAddr, Required: true, URLs: true, value: func(text string) string {
			if _, _, expect := mongoAddress(text); expect != "" {
				return expect
			}
			return ""
		}},
		{Name: keyDatabase, value: filled}, {Name: keyTLSCA, value: filled},
	},
	check: func(s *settings) {
		addr, _ := s.get(keyAddr)
		database, query, _ := mongoAddress(addr)
		if _, ok := s.get(keyDatabase); !ok && database == "" {
			s.fail(keyDatabase, "is required where addr names none")
		}
		// mongodb+srv encrypts unless it says otherwise.
		tls := query.Get("tls")
		if tls == "" {
			tls = query.Get("ssl")
		}
		if tls == "false" || tls == "" && scheme(addr) == "mongodb" {
			s.refuse("needs tls=true in addr", keyTLSCA)
		}
	},
}

// mongoAddress reads a connection string, whose authority may list several hosts.
func mongoAddress(text string) (database string, query url.Values, expect string) {
	kind, rest, ok := strings.Cut(text, "://")
	if !ok || kind != "mongodb" && kind != "mongodb+srv" {
		return "", nil, "must be mongodb://host:port or mongodb+srv://host"
	}
	rest, asked, _ := strings.Cut(rest, "?")
	query, err := url.ParseQuery(asked)
	if err != nil {
		return "", nil, "has a malformed query"
	}
	hosts, path, _ := strings.Cut(rest, "/")
	if strings.Contains(path, "/") {
		return "", nil, "names at most one database after its hosts"
	}
	hosts = hosts[strings.LastIndexByte(hosts, '@')+1:]
	if kind == "mongodb+srv" && strings.ContainsAny(hosts, ",:") {
		return "", nil, "with mongodb+srv:// names one host without a port"
	}
	if expect := hostPorts(false)(hosts); expect != "" {
		return "", nil, expect
	}
	return path, query, ""
}
