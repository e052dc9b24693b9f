package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"testing"
	"time"
)

func TestIssuedCertificateVerifies(t *testing.T) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	_, pair, err := NewAuthority("orders", now)
	if err != nil {
		t.Fatal(err)
	}
	a, err := ReadAuthority(pair)
	if err != nil || a.Cluster != "orders" {
		t.Fatalf("%v, %v", a, err)
	}
	node, err := a.Issue(Node{ID: "n1", Hosts: []string{"n1.example", "10.0.0.1", "::1"}}, now)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := tls.X509KeyPair(node.Certificate, node.Key)
	if err != nil {
		t.Fatal(err)
	}
	leaf := loaded.Leaf
	if len(leaf.URIs) != 1 || leaf.URIs[0].String() != "plexus://cluster/orders/node/n1" {
		t.Errorf("URIs %v", leaf.URIs)
	}
	for _, host := range []string{"n1.example", "10.0.0.1", "::1"} {
		if err := leaf.VerifyHostname(host); err != nil {
			t.Error(err)
		}
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pair.Certificate)
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth} {
		for _, at := range []struct {
			time  time.Time
			valid bool
		}{{now, true}, {now.Add(NodeValidity - time.Minute), true}, {now.Add(NodeValidity + time.Minute), false}} {
			_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: at.time, KeyUsages: []x509.ExtKeyUsage{usage}})
			if (err == nil) != at.valid {
				t.Errorf("usage %v at %s: %v", usage, at.time, err)
			}
		}
	}
}

func TestAuthoritiesThatDoNotRead(t *testing.T) {
	now := time.Now()
	a, pair, err := NewAuthority("c", now)
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := NewAuthority("c", now)
	if err != nil {
		t.Fatal(err)
	}
	node, err := a.Issue(Node{ID: "n", Hosts: []string{"h"}}, now)
	if err != nil {
		t.Fatal(err)
	}
	noDER := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})
	noKey := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")})
	for name, p := range map[string]Pair{
		"empty": {}, "text": {Certificate: []byte("x"), Key: pair.Key}, "no DER": {noDER, pair.Key}, "a node": node,
		"no key": {pair.Certificate, nil}, "unreadable key": {pair.Certificate, noKey}, "another key": {pair.Certificate, other.Key},
	} {
		if _, err := ReadAuthority(p); !errors.Is(err, ErrNoAuthority) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, n := range []Node{{ID: "n"}, {Hosts: []string{"h"}}, {ID: "%", Hosts: []string{"h"}}} {
		if _, err := a.Issue(n, now); err == nil {
			t.Errorf("%v was issued", n)
		}
	}
}

func TestNodeCertificateEndsWithItsAuthority(t *testing.T) {
	now := time.Now()
	a, _, err := NewAuthority("c", now)
	if err != nil {
		t.Fatal(err)
	}
	node, err := a.Issue(Node{ID: "n", Hosts: []string{"h"}, Until: now.Add(2 * AuthorityValidity)}, now)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(node.Certificate)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil || leaf.NotAfter.After(a.certificate.NotAfter) {
		t.Errorf("valid until %s, %v", leaf.NotAfter, err)
	}
}
