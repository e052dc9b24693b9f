package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// A file of the resolver that cannot be read is a wrong setting, and is named before
// anything is made.
func TestResolverFiles(t *testing.T) {
	for _, flag := range []string{"--dns-hosts", "--dns-config"} {
		dir := filepath.Join(t.TempDir(), "data")
		var out, problems bytes.Buffer
		status := run([]string{"--data-dir", dir, flag, "/nope"}, &out, &problems)
		if status != statusUsage || !strings.HasPrefix(problems.String(), "plexusd: "+flag+": ") || !strings.Contains(problems.String(), "/nope") {
			t.Errorf("%s: status %d, %s", flag, status, &problems)
		}
		if made, _ := filepath.Glob(dir); made != nil {
			t.Errorf("%s: %v", flag, made)
		}
	}
}
