package vocab

import (
	"strings"
)

// The clients of services that speak HTTP. Their TLS keys may stand beside a plain
// address, because a redirect may need them.

var httpConfig = clientConfig{
	keys: tlsKeys(
		ConfigKey{Name: keyEndpoint, URLs: true, value: urlOf("http", "https")},
		ConfigKey{Name: keyURL, URLs: true, value: urlOf("http", "https")},
		ConfigKey{Name: "method", value: func(text string) string {
			if err := HTTPMethod(text); err != nil {
				return err.Error()
			}
			return ""
		}},
		ConfigKey{Name: keyTimeout, value: millis}, ConfigKey{Name: "max_body_bytes", value: whole(1, bytes32Max)},
	),
	check: func(s *settings) {
		s.tlsFiles()
		s.excludes(keyEndpoint, keyURL)
		s.endpoint()
	},
}

var prometheusConfig = clientConfig{
	keys: tlsKeys(ConfigKey{Name: keyAddr, Required: true, URLs: true, value: urlOf("http", "https")},
		ConfigKey{Name: keyTimeout, value: millis}),
	check: func(s *settings) { s.tlsFiles() },
}

var sentryConfig = clientConfig{
	keys: tlsKeys(ConfigKey{Name: "dsn", Required: true, Secret: true, value: func(text string) string {
		u := parseURL(text, "https", "http")
		if u == nil || u.User.Username() == "" || strings.Trim(u.Path, "/") == "" {
			return "must be a DSN: scheme, public key, host and project"
		}
		return ""
	}}, ConfigKey{Name: keyTimeout, value: millis}),
	check: func(s *settings) { s.tlsFiles() },
}

var otelConfig = clientConfig{
	keys: tlsKeys(ConfigKey{Name: keyEndpoint, Required: true, URLs: true, value: urlOf("http", "https")},
		ConfigKey{Name: keyProtocol, Required: true, value: oneOf("grpc", "http/protobuf")},
		ConfigKey{Name: "headers", Secret: true, value: func(text string) string {
			for _, pair := range strings.Split(text, ",") {
				name, value, ok := strings.Cut(pair, "=")
				if !ok || HTTPHeaderName(strings.TrimSpace(name)) != nil || HTTPHeaderValue(strings.TrimSpace(value)) != nil {
					return "must be headers such as name=value,name=value"
				}
			}
			return ""
		}},
		ConfigKey{Name: "compression", value: oneOf("none", "gzip")}, ConfigKey{Name: keyTimeout, value: millis}),
	check: func(s *settings) { s.tlsFiles() },
}

var webSocketsConfig = clientConfig{
	keys: tlsKeys(ConfigKey{Name: keyEndpoint, Required: true, URLs: true, value: urlOf("ws", "wss")}),
	check: func(s *settings) {
		s.tlsFiles()
		if endpoint, _ := s.get(keyEndpoint); scheme(endpoint) != "wss" {
			s.refuseTLSFiles()
		}
	},
}

var elasticsearchConfig = clientConfig{
	keys: tlsKeys(ConfigKey{Name: keyEndpoint, Required: true, URLs: true, value: urlOf("http", "https")},
		ConfigKey{Name: keyUsername, value: filled}, ConfigKey{Name: keyPassword, Secret: true},
		ConfigKey{Name: "api_key", Secret: true, value: filled}, ConfigKey{Name: keyTimeout, value: millis}),
	check: func(s *settings) {
		s.tlsFiles()
		s.together(keyUsername, keyPassword)
		s.excludes("api_key", keyUsername)
	},
}

var influxDBConfig = clientConfig{
	keys: tlsKeys(ConfigKey{Name: keyURL, Required: true, URLs: true, value: urlOf("http", "https")},
		ConfigKey{Name: "org", Required: true, value: filled}, ConfigKey{Name: "bucket", Required: true, value: filled},
		ConfigKey{Name: keyToken, Required: true, Secret: true, value: filled}, ConfigKey{Name: keyTimeout, value: millis}),
	check: func(s *settings) { s.tlsFiles() },
}

var iggyConfig = clientConfig{
	keys: tlsKeys(ConfigKey{Name: keyEndpoint, Required: true, URLs: true, value: urlOf("http", "https")},
		ConfigKey{Name: keyUsername, value: filled}, ConfigKey{Name: keyPassword, Secret: true},
		ConfigKey{Name: keyToken, Secret: true, value: filled}, ConfigKey{Name: keyTimeout, value: millis},
		ConfigKey{Name: "max_message_size", value: whole(1, bytes32Max)}),
	check: func(s *settings) {
		s.tlsFiles()
		s.together(keyUsername, keyPassword)
		s.excludes(keyToken, keyUsername)
		if _, ok := s.has(keyUsername, keyToken); !ok {
			s.fail(keyUsername, "is required, with password, or else token")
		}
	},
}
