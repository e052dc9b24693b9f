package contracttest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"plexus/connectors/contract"
	connector "plexus/connectors/http"
	"plexus/connectors/nats"
	"plexus/connectors/redis"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/real"
	natsdriver "plexus/real/drivers/nats"
	redisdriver "plexus/real/drivers/redis"
)

// authority signs the certificates of one test.
type authority struct {
	t      *testing.T
	random primitives.Entropy
	key    *ecdsa.PrivateKey
	cert   *x509.Certificate
	file   string
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, random: real.NewWorld(real.Options{Log: slog.DiscardHandler}).Entropy()}
	a.key = a.newKey()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(a.random, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.file = a.write("ca.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), a.random)
	if err != nil {
		a.t.Fatal(err)
	}
	return key
}

func (a *authority) write(name, kind string, der []byte) string {
	file := filepath.Join(a.t.TempDir(), name)
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return file
}

// issue returns a certificate for a server or a client, with its files.
func (a *authority) issue(names []string, ips ...net.IP) (pair tls.Certificate, certFile, keyFile string) {
	key := a.newKey()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "test"}, DNSNames: names, IPAddresses: ips,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(a.random, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		a.write("cert.pem", "CERTIFICATE", der), a.write("key.pem", "EC PRIVATE KEY", keyDER)
}

// require is a server configuration that wants a client certificate.
func (a *authority) require(pair tls.Certificate) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
}

// Each connector verifies the configured host against the configured roots and
// offers its identity; the address it reached decides nothing.
func TestEncryptedConnections(t *testing.T) {
	a := newAuthority(t)
	serverPair, _, _ := a.issue([]string{"localhost"})
	_, certFile, keyFile := a.issue(nil)

	identity := []vocab.ConfigEntry{{Key: "tls_ca_file", Value: a.file}, {Key: "tls_cert_file", Value: certFile}, {Key: "tls_key_file", Value: keyFile}}
	anonymous := identity[:1]

	web := httptest.NewUnstartedServer(startHTTP(t))
	web.TLS = a.require(serverPair)
	web.StartTLS()
	t.Cleanup(web.Close)
	srv, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, TLS: true, TLSVerify: true, TLSConfig: a.require(serverPair)})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(srv.Shutdown)
	if !srv.ReadyForConnections(10 * time.Second) {
		t.Fatal("nats-server did not start")
	}
	plain := startRedis(t)
	secured := newTLSRelay(t, plain.relay.addr(), a.require(serverPair))

	port := func(addr net.Addr) string { _, p, _ := net.SplitHostPort(addr.String()); return p }
	// open opens the entity on a host with the files and uses it once.
	systems := []struct {
		name string
		open func(ctx context.Context, w primitives.World, host string, files []vocab.ConfigEntry) error
	}{
		{"http", func(ctx context.Context, w primitives.World, host string, files []vocab.ConfigEntry) error {
			sink, err := connector.OpenSink(ctx, contract.SinkPlan{Client: contract.Client{Type: vocab.ClientHTTP, Config: append([]vocab.ConfigEntry{
				{Key: "endpoint", Value: "https://" + host + ":" + port(web.Listener.Addr())}, {Key: "timeout_ms", Value: "2000"},
			}, files...)}}, env(w, &events{}))
			if err != nil {
				return err
			}
			if out := sink.(contract.HTTPRequestSink).Publish(ctx, requests("a")); out.Failure != nil {
				return out.Failure.Err
			}
			return nil
		}},
		{"nats", func(ctx context.Context, w primitives.World, host string, files []vocab.ConfigEntry) error {
			sink, err := nats.New(natsdriver.Driver{}).OpenSink(ctx, contract.SinkPlan{
				Names: vocab.ExternalNames{{Role: "SUBJECT", Text: "s"}},
				Client: contract.Client{Type: vocab.ClientNATS, Config: append([]vocab.ConfigEntry{
					{Key: "addr", Value: "tls://" + host + ":" + port(srv.Addr())},
				}, files...)}}, env(w, &events{}))
			if err != nil {
				return err
			}
			return errors.Join(equal("publish", outcome(sink.(contract.RecordSink).Publish(ctx, records("a"))), "delivered [1]"), sink.Close(ctx))
		}},
		{"redis", func(ctx context.Context, w primitives.World, host string, files []vocab.ConfigEntry) error {
			sink, err := redis.New(w, redisdriver.Driver{}).OpenSink(ctx, contract.SinkPlan{
				Names: vocab.ExternalNames{{Role: "CHANNEL", Text: "c"}},
				Client: contract.Client{Type: vocab.ClientRedis, Pool: &vocab.Pool{Max: 1}, Config: append([]vocab.ConfigEntry{
					{Key: "addr", Value: "rediss://" + host + ":" + port(secured.listener.Addr())},
				}, files...)}}, env(w, &events{}))
			if err != nil {
				return err
			}
			return errors.Join(equal("publish", outcome(sink.(contract.RecordSink).Publish(ctx, records("a"))), "delivered [1]"), sink.Close(ctx))
		}},
	}
	for _, system := range systems {
		t.Run(system.name, func(t *testing.T) {
			err := realStage(t).run(func(ctx context.Context, w primitives.World) error {
				if err := system.open(ctx, w, "localhost", identity); err != nil {
					return fmt.Errorf("with everything right: %w", err)
				}
				if system.open(ctx, w, "127.0.0.1", identity) == nil {
					return errors.New("a certificate for another host was accepted")
				}
				if system.open(ctx, w, "localhost", nil) == nil {
					return errors.New("an unknown authority was accepted")
				}
				if system.open(ctx, w, "localhost", anonymous) == nil {
					return errors.New("the server was reached without an identity")
				}
				var refused *vocab.ConfigError
				missing := []vocab.ConfigEntry{{Key: "tls_ca_file", Value: filepath.Join(t.TempDir(), "none.pem")}}
				if err := system.open(ctx, w, "localhost", missing); !errors.As(err, &refused) || refused.Key != "tls_ca_file" || !errors.Is(err, os.ErrNotExist) {
					return fmt.Errorf("a missing file: %w", err)
				}
				noPEM := []vocab.ConfigEntry{{Key: "tls_ca_file", Value: a.write("empty.pem", "NOTHING", nil)}}
				if err := system.open(ctx, w, "localhost", noPEM); !errors.As(err, &refused) {
					return fmt.Errorf("a file without a certificate: %w", err)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// newTLSRelay is a relay whose callers speak TLS.
func newTLSRelay(t *testing.T, target string, config *tls.Config) *relay {
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: listener, target: target, conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		listener.Close()
		r.drop()
	})
	go r.accept()
	return r
}
