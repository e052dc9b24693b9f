package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTLSFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tls")
	try := func(want int, text string, args ...string) {
		t.Helper()
		var out, problems bytes.Buffer
		if status := run(append([]string{"tls"}, args...), &out, &problems); status != want || !strings.Contains(out.String()+problems.String(), text) {
			t.Errorf("%v: status %d, out %q, problems %q", args, status, &out, &problems)
		}
	}
	try(statusFailed, "plexusd tls init makes", "issue", "--dir", dir, "--node", "n1", "--host", "127.0.0.1")
	try(statusStopped, "ca.pem", "init", "--dir", dir, "--cluster-id", "orders")
	try(statusFailed, "exists", "init", "--dir", dir)
	try(statusStopped, "n1.pem", "issue", "--dir", dir, "--node", "n1", "--host", "127.0.0.1", "--host=n1.example")
	try(statusFailed, "exists", "issue", "--dir", dir, "--node", "n1", "--host", "127.0.0.1")
	try(statusUsage, "--node and --host are needed", "issue", "--dir", dir, "--node", "n2")
	try(statusUsage, "--host: 'a b' is no host name and no address", "issue", "--dir", dir, "--node", "n2", "--host", "a b")
	try(statusUsage, "must be without a port: --host n2.example", "issue", "--dir", dir, "--node", "n2", "--host", "n2.example:47395")
	try(statusUsage, "node-id: '../x' must be", "issue", "--dir", dir, "--node", "../x", "--host", "127.0.0.1")
	try(statusUsage, "node-id: 'BAD_' must be", "issue", "--dir", dir, "--node", "BAD_", "--host", "127.0.0.1")
	try(statusUsage, "cluster-id: 'a/b' must be", "init", "--dir", dir, "--cluster-id", "a/b")
	try(statusUsage, "--cluster-id needs a name", "init", "--dir", dir, "--cluster-id", "")
	try(statusUsage, "no command", "sign")
	try(statusUsage, "not defined", "init", "--node", "n1")
	try(statusUsage, "unexpected argument", "init", "more")
	try(statusStopped, "Usage", "--help")
	try(statusStopped, "Usage", "issue", "--help")

	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "n1.pem"), filepath.Join(dir, "n1.key"))
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	for _, host := range []string{"127.0.0.1", "n1.example"} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
			t.Error(err)
		}
	}
	if uri := pair.Leaf.URIs[0].String(); uri != "plexus://cluster/orders/node/n1" {
		t.Errorf("URI %s", uri)
	}
	for _, name := range []string{"ca.key", "n1.key"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}
