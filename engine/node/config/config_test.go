package config

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func inputs(args, env, file string) Inputs {
	variables := map[string]string{}
	for _, one := range strings.Fields(env) {
		name, value, _ := strings.Cut(one, "=")
		variables[name] = value
	}
	return Inputs{
		Args: strings.Fields(args),
		Env:  func(name string) (string, bool) { v, ok := variables[name]; return v, ok },
		ReadFile: func(name string) ([]byte, error) {
			if file == "" {
				return nil, fs.ErrNotExist
			}
			return []byte(file), nil
		},
	}
}

func TestPrecedence(t *testing.T) {
	file := "# comment\n\nnode-id = from-file\nlog-level=warn\ndrain-timeout = 5s\n"
	c, values, err := Load(inputs("--config f --node-id=from-flag --client-insecure", "PLEXUS_NODE_ID=from-env PLEXUS_DRAIN_TIMEOUT=7s PLEXUS_SERVER=x", file))
	if err != nil {
		t.Fatal(err)
	}
	if c.Node.Control.NodeID != "from-flag" || c.Node.DrainTimeout.String() != "7s" || c.LogLevel.String() != "WARN" || !c.ClientInsecure {
		t.Errorf("%+v", c)
	}
	for _, v := range values {
		want := map[string]Origin{"node-id": FromFlag, "drain-timeout": "PLEXUS_DRAIN_TIMEOUT", "log-level": "f:4", "client-insecure": FromFlag}[v.Name]
		if want == "" {
			want = FromDefault
		}
		if v.Origin != want {
			t.Errorf("%s comes from %s, not %s", v.Name, v.Origin, want)
		}
	}
}

func TestPortsOfEveryAddress(t *testing.T) {
	c, _, err := Load(inputs("--http-listen :0 --observability-listen :9090", "", ""))
	if err != nil || c.HTTPListen.String() != "0.0.0.0:0" || c.ObservabilityListen.String() != "0.0.0.0:9090" {
		t.Errorf("%v, %v, %v", c.HTTPListen, c.ObservabilityListen, err)
	}
}

func TestMistakesNameTheirPlace(t *testing.T) {
	for _, c := range []struct{ args, env, file, want string }{
		{args: "--no-such-flag x", want: "--no-such-flag: unknown setting"},
		{args: "serve", want: "serve: unexpected argument"},
		{args: "--drain-timeout soon", want: `--drain-timeout: 'soon' is no positive duration such as 250ms or 15m`},
		{args: "--drain-timeout", want: "--drain-timeout: needs a value"},
		{args: "--node-id a --node-id b", want: "--node-id: given twice"},
		{env: "PLEXUS_HTTP_LISTEN=8080", want: `PLEXUS_HTTP_LISTEN: "8080" is not an address and port such as 127.0.0.1:8080, :8080 for every address, or off`},
		{args: "--config f", want: "--config: file does not exist"},
		{args: "--config f", file: "log-level = info\nlog-levle = info\n", want: "f:2: unknown setting 'log-levle'"},
		{args: "--config f", file: "log-level = info\nlog-level = info\n", want: "f:2: 'log-level' is given twice"},
		{args: "--config f", file: "just words\n", want: `f:1: expected "name = value"`},
		{args: "--config f", file: "raft-snapshot-bytes = 64\n", want: `f:1: raft-snapshot-bytes: '64' is no size such as 64MiB`},
		{args: "--raft-election-timeout 300ms", want: "contradictory settings: raft-election-timeout must be greater than twice raft-heartbeat-interval"},
		{args: "--client-listen 0.0.0.0:1", want: "contradictory settings: --client-listen 0.0.0.0:1 is no loopback address; plaintext there needs --client-insecure"},
	} {
		_, _, err := Load(inputs(c.args, c.env, c.file))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s %s: %v", c.args, c.env, err)
		}
	}
}

func TestSecretsAreMasked(t *testing.T) {
	_, values, err := Load(inputs("--init-password marker-1", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if strings.Contains(v.Text, "marker") {
			t.Errorf("%s shows its secret", v.Name)
		}
	}
}

func TestTextReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Default()
		for _, s := range settings {
			// Any text that reads must, once written, read as the same text again.
			text := rapid.OneOf(rapid.Just(s.fallback), rapid.String(), rapid.SampledFrom([]string{
				"off", "true", "1h2m", "3KiB", "17", "[::1]:80", "http://h:1", "1.2.3.4:5,[::1]:6", "json", "error",
			})).Draw(t, s.name)
			if s.read(c, text) != nil {
				continue
			}
			written := s.text(c)
			if err := s.read(c, written); err != nil || s.text(c) != written {
				t.Fatalf("--%s %q is written %q, which reads as %q, %v", s.name, text, written, s.text(c), err)
			}
		}
	})
}

func FuzzConfigFile(f *testing.F) {
	f.Add("node-id = a\n# c\n\nlog-level = debug")
	f.Add("raft-snapshot-bytes = 18446744073709551615B\n=\n==")
	f.Fuzz(func(t *testing.T, file string) {
		_, _, err := Load(Inputs{
			Args:     []string{"--config", "f"},
			Env:      func(string) (string, bool) { return "", false },
			ReadFile: func(string) ([]byte, error) { return []byte(file), nil },
		})
		var usage *UsageError
		if err != nil && !errors.As(err, &usage) && !errors.Is(err, ErrContradiction) {
			t.Fatalf("untyped error %v", err)
		}
	})
}

func TestStrangersAreNamed(t *testing.T) {
	got := Strangers([]string{
		"PATH=/bin", "PLEXUS_LOG_LEVELL=debug", "PLEXUS_LOG_LEVEL=debug", "PLEXUS_CONFIG=a.conf", "PLEXUS_PASSWORD=x", "PLEXUS_A=",
	})
	if want := []string{"PLEXUS_A", "PLEXUS_LOG_LEVELL"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
