package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckCommand(t *testing.T) {
	dir := t.TempDir()
	base := write(t, filepath.Join(dir, "base.nspl"), "CREATE SCHEMA s (id STRING);")
	next := write(t, filepath.Join(dir, "next.nspl"), "CREATE RELAY r SCHEMA s UNBRANCHED;\n")
	for _, c := range []struct {
		name   string
		args   []string
		status int
		out    string
	}{
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
