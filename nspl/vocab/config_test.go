package vocab

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func entries(pairs ...string) []ConfigEntry {
	var out []ConfigEntry
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, ConfigEntry{pairs[i], pairs[i+1]})
	}
	return out
}

func TestClientConfigs(t *testing.T) {
	nats, err := ParseNATS(entries("addr", "nats://u:p@a.example:4223, nats://[::1]"))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(nats.Servers[0].Authority(), " ", nats.Servers[1].Authority(), " ", nats.Servers[0].User); got != "a.example:4223 [::1]:4222 u" {
		t.Error(got)
	}
	if nats.Servers[0].Password.Reveal() != "p" || strings.Contains(fmt.Sprintf("%v %+v %#v", nats, nats, nats), "p]") {
		t.Error("the password is lost or shown")
	}
	redis, err := ParseRedis(entries("addr", "rediss://old:x@h/3", "username", "new", "password", "y", "tls_ca_file", "{{ r }}/ca.pem"))
	if err != nil || redis.Database != 3 || redis.Server.User != "new" || redis.Server.Password.Reveal() != "y" || !redis.Server.TLS || redis.Server.Port != 6379 {
		t.Errorf("%+v, %v", redis, err)
	}
	http, err := ParseHTTP(entries("endpoint", "https://api.example/", "timeout_ms", "1500"))
	if err != nil || http.Host != "api.example" || http.Origin.Port != 443 || http.Timeout.String() != "1.5s" {
		t.Errorf("%+v, %v", http, err)
	}
	if http, _ := ParseHTTP(entries("endpoint", "http://[::1]:8080", "timeout_ms", "1")); http.Host != "[::1]:8080" {
		t.Error(http.Host)
	}
}

func TestRefusedClientConfigs(t *testing.T) {
	for _, c := range []struct {
		client ClientType
		config []ConfigEntry
		key    string
	}{
		{ClientNATS, nil, "addr"},
		{ClientNATS, entries("addr", "nats://h", "adr", "x"), "adr"},
		{ClientNATS, entries("addr", "nats://h", "addr", "nats://h"), "addr"},
		{ClientNATS, entries("addr", "http://h"), "addr"},
		{ClientNATS, entries("addr", "nats://"), "addr"},
		{ClientNATS, entries("addr", "nats://h:0"), "addr"},
		{ClientNATS, entries("addr", "nats://h/path"), "addr"},
		{ClientNATS, entries("addr", "nats://h,tls://h"), "addr"},
		{ClientNATS, entries("addr", "nats://h,"), "addr"},
		{ClientNATS, entries("addr", "nats://h", "tls_ca_file", "f"), "tls_ca_file"},
		{ClientNATS, entries("addr", "tls://h", "tls_cert_file", "f"), "tls_key_file"},
		{ClientNATS, entries("addr", "tls://h", "tls_key_file", "f"), "tls_cert_file"},
		{ClientRedis, entries("addr", "redis://h/x"), "addr"},
		{ClientRedis, entries("addr", "redis://h?x=1"), "addr"},
		{ClientRedis, entries("addr", "redis://secret@h:99999"), "addr"},
	} {
		refused := CheckClientConfig(c.client, c.config)
		if len(refused) != 1 || refused[0].Key != c.key || refused[0].Client != c.client {
			t.Errorf("%s %v: %v", c.client, c.config, refused)
			continue
		}
		if strings.Contains(refused[0].Error(), "secret") {
			t.Errorf("the error shows a credential: %v", refused[0])
		}
	}
}

// What a sink takes of an HTTP client is less than what a client may be.
func TestHTTPSinkClients(t *testing.T) {
	for _, c := range []struct {
		config []ConfigEntry
		key    string
	}{
		{entries("endpoint", "http://h"), "timeout_ms"},
		{entries("endpoint", "http://h", "timeout_ms", "0"), "timeout_ms"},
		{entries("endpoint", "http://h", "timeout_ms", "1s"), "timeout_ms"},
		{entries("endpoint", "http://h/p", "timeout_ms", "1"), "endpoint"},
		{entries("url", "http://h/p", "timeout_ms", "1"), "endpoint"},
		{entries("endpoint", "http://u:secret@h", "timeout_ms", "1"), "endpoint"},
		{entries("endpoint", "http://h?", "timeout_ms", "1"), "endpoint"},
		{entries("endpoint", "http://h#f", "timeout_ms", "1"), "endpoint"},
	} {
		_, err := ParseHTTP(c.config)
		var refused *ConfigError
		if !errors.As(err, &refused) || refused.Key != c.key || refused.Client != ClientHTTP || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: %v", c.config, err)
		}
	}
}

func TestMaskConfig(t *testing.T) {
	for _, c := range []struct {
		client ClientType
		entry  ConfigEntry
		want   string
	}{
		{ClientRedis, ConfigEntry{"password", "x"}, "<masked>"},
		{ClientRedis, ConfigEntry{"addr", "redis://u:x@h"}, "redis://u:<masked>@h"},
		{ClientRedis, ConfigEntry{"addr", "redis://u:x@y@h"}, "redis://u:<masked>@h"},
		{ClientNATS, ConfigEntry{"addr", "nats://a:b@h,nats://c@h,nats://h"}, "nats://a:<masked>@h,nats://c@h,nats://h"},
		{ClientNATS, ConfigEntry{"tls_ca_file", "/x:y@z"}, "/x:y@z"},
		{ClientHTTP, ConfigEntry{"timeout_ms", "5"}, "5"},
	} {
		if got := MaskConfig(c.client, c.entry); got != c.want {
			t.Errorf("%v: %q, want %q", c.entry, got, c.want)
		}
	}
}

func FuzzClientConfig(f *testing.F) {
	f.Add("nats://u:p@h:4222,tls://[::1]", "f")
	f.Add("redis://:p@h/1", "")
	f.Add("http://h", "250")
	f.Fuzz(func(t *testing.T, url, other string) {
		for _, client := range ClientTypes() {
			keys := client.ConfigKeys()
			CheckClientConfig(client, []ConfigEntry{{keys[0].Name, url}, {keys[1].Name, other}})
			MaskConfig(client, ConfigEntry{keys[0].Name, url})
		}
	})
}

func TestExternalNames(t *testing.T) {
	for _, c := range []struct {
		check   func(string) error
		accepts string
		refuses string
	}{
		{NATSSubject, "a a.b.c $KV.b.k ü.x", " a..b .a a. a.* > a\tb"},
		{NATSSubjectPattern, "a a.*.c a.> > *", " a.>.b a.b* >> a..b"},
		{NATSQueueGroup, "g g.h", " a\x00b"},
		{JetStreamName, "ORDERS in-2 ü", " a.b a*b > a/b a\\b"},
		{RedisChannel, "c *", ""},
	} {
		for _, name := range strings.Split(c.accepts, " ") {
			if err := c.check(name); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
		for _, name := range strings.Split(c.refuses, " ") {
			if c.check(name) == nil {
				t.Errorf("%q passed", name)
			}
		}
	}
	if JetStreamName(strings.Repeat("x", 256)) == nil {
		t.Error("a long name passed")
	}
}

// Every entity is declared completely: what a statement can say has a rule.
func TestCapabilities(t *testing.T) {
	for _, e := range SourceEntities() {
		c := e.Capabilities()
		if c.Head == "" || c.Lead == "" || len(c.Modes) == 0 != (c.Pace == Polled) || len(c.Quiesce) == 0 || c.InstancesMax == 0 {
			t.Errorf("%d is incomplete: %+v", e, c)
		}
		acknowledged := c.Allows(AckSequential) || c.Allows(AckParallel)
		if acknowledged != (c.Position != PositionNone) || acknowledged != (c.Confirmation != ConfirmationNone) {
			t.Errorf("%s: modes, positions and confirmation disagree", e)
		}
		if (c.Subject == SubjectClient) != (c.Client != 0) {
			t.Errorf("%s: subject and type disagree", e)
		}
		if c.Scope == ScopeHeaders && !c.Headers || c.Pace == CursorTail != (c.Position == HostState) {
			t.Errorf("%s: scope, pace and position disagree", e)
		}
		for _, n := range c.Names {
			if n.Check == nil || n.Role == "" {
				t.Errorf("%s: a name without a rule", e)
			}
		}
	}
	for _, e := range SinkEntities() {
		c := e.Capabilities()
		if c.Head == "" || c.Lead == "" || len(c.Modes) == 0 || (c.Client == 0) == (c.Subject == SubjectClient) && e != SinkIcebergTable {
			t.Errorf("%d is incomplete: %+v", e, c)
		}
	}
}
