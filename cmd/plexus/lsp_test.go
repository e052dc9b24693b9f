package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLanguageServer speaks with the binary over its standard streams.
func TestLanguageServer(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "plexus")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var in strings.Builder
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","method":"initialized","params":{}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///x","text":"CREATE RELAY r SCHEMA s UNBRANCHED"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`,
		`{"jsonrpc":"2.0","method":"exit"}`,
	} {
		fmt.Fprintf(&in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	server := exec.Command(binary, "lsp")
	server.Stdin = strings.NewReader(in.String())
	server.WaitDelay = 10 * time.Second
	var out, errs bytes.Buffer
	server.Stdout, server.Stderr = &out, &errs
	if err := server.Run(); err != nil || errs.Len() > 0 {
		t.Errorf("%v %s", err, errs.String())
	}
	for _, want := range []string{`"positionEncoding":"utf-16"`, `"code":"ref.missing"`, `"id":2,"result":null`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
}
