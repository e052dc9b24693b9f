package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckCommand(t *testing.T) {
	dir := t.TempDir()
	base := write(t, filepath.Join(dir, "base.nspl"), "CREATE SCHEMA s (id STRING);")
	next := write(t, filepath.Join(dir, "next.nspl"), "CREATE RELAY r SCHEMA s UNBRANCHED;\n")
	if err := os.MkdirAll(filepath.Join(dir, "all", "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "all", "1.nspl"), "CREATE SCHEMA s (id STRING);")
	second := write(t, filepath.Join(dir, "all", "2.nspl"), "CREATE RELAY r SCHEMA s UNBRANCHED;\nCREATE SCHEMA s (id STRING);")
	third := write(t, filepath.Join(dir, "all", "sub", "3.nspl"), "CREATE RELAY r SCHEMA t UNBRANCHED;")
	for _, c := range []struct {
		name   string
		args   []string
		status int
		out    string
	}{
		{"a directory", []string{filepath.Join(dir, "all")}, statusFailed, second + ":1:23: ref.missing: RELAY 'r' requires missing SCHEMA 's'\n" +
			"CREATE RELAY r SCHEMA s UNBRANCHED;\n                      ^\n" + third + ":1:23: "},
		{"a directory against", []string{"--against", base, filepath.Join(dir, "all", "sub")}, statusFailed, third + ":1:23: "},
		{"an empty directory", []string{t.TempDir()}, statusUsage, ""},
		{"alone", []string{next}, statusFailed, next + ":1:23: ref.missing: RELAY 'r' requires missing SCHEMA 's'"},
		{"in order", []string{base, next}, statusDone, ""},
		{"against", []string{"--against", base, next}, statusDone, ""},
		{"json", []string{"--format", "json", next}, statusFailed, `{"findings":[{"file":`},
		{"unreadable", []string{filepath.Join(dir, "none")}, statusUsage, ""},
		{"nothing", nil, statusUsage, ""},
	} {
		status, out, errs := invoke(t, "", append([]string{"check"}, c.args...)...)
		if status != c.status || !strings.HasPrefix(out, c.out) || c.out == "" && out != "" {
			t.Errorf("%s: %d %q %q", c.name, status, out, errs)
		}
	}
	if status, out, _ := invoke(t, "CREATE RELAY r SCHEMA s UNBRANCHED", "check", "-"); status != statusFailed || !strings.HasPrefix(out, "-:1:") {
		t.Errorf("standard input: %d %q", status, out)
	}
}
