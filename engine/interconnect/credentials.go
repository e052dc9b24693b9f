package interconnect

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	credentialsRenewed = invariant.Sometimes("new credentials took the place of older ones")
	credentialsTorn    = invariant.Sometimes("credentials that were being written were left alone")
)

// CredentialFiles name the PEM files of a node: the certificates of the cluster's
// authority, the node's own certificate with its chain, and its private key.
type CredentialFiles struct{ CA, Certificate, Key string }

func (f *CredentialFiles) check() error {
	if f.CA == "" || f.Certificate == "" || f.Key == "" {
		return errors.New("interconnect-tls-ca, interconnect-tls-cert and interconnect-tls-key belong together")
	}
	return nil
}

// CredentialError says what is wrong with the files of a node. It never holds
// their content.
type CredentialError struct {
	File string
	What string
	Err  error
}

func (e *CredentialError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("interconnect credentials %s: %s", e.File, e.What)
	}
	return fmt.Sprintf("interconnect credentials %s: %s: %v", e.File, e.What, e.Err)
}

// Unwrap returns the cause.
func (e *CredentialError) Unwrap() error { return e.Err }

// identityURI is how a certificate names a node.
func identityURI(cluster, node string) string {
	return "plexus://cluster/" + cluster + "/node/" + node
}

// certified is who a certificate says its holder is.
type certified struct {
	cluster, node string
	expires       time.Time
}

// certifiedBy reads the identity out of a certificate: exactly one URI.
func certifiedBy(leaf *x509.Certificate) (*certified, error) {
	if len(leaf.URIs) != 1 {
		return nil, fmt.Errorf("the certificate has %d URI names, expected one: %s", len(leaf.URIs), identityURI("<cluster>", "<node>"))
	}
	rest, ok := strings.CutPrefix(leaf.URIs[0].String(), "plexus://cluster/")
	cluster, node, found := strings.Cut(rest, "/node/")
	if !ok || !found || cluster == "" || !validNode(node) {
		return nil, fmt.Errorf("the certificate's URI name is no %s", identityURI("<cluster>", "<node>"))
	}
	return &certified{cluster: cluster, node: node, expires: leaf.NotAfter}, nil
}

// bundle is one complete reading of the files.
type bundle struct {
	digest      [sha256.Size]byte
	authorities *x509.CertPool
	certificate tls.Certificate
	identity    *certified
}

// credentials hold the bundle that new connections use.
type credentials struct {
	files   CredentialFiles
	cluster string
	node    string
	host    string
	current atomic.Pointer[bundle]
	// next was read once and is used when it reads the same again.
	next    [sha256.Size]byte
	refused [sha256.Size]byte // of the last reading that was logged as unusable
}

// fileMax bounds a PEM file.
const fileMax = 1 << 20

func readPEM(files primitives.Files, name string) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := func() ([]byte, error) {
		size, err := f.Size()
		if err != nil {
			return nil, err
		}
		if size > fileMax {
			return nil, fmt.Errorf("%d bytes, at most %d", size, fileMax)
		}
		b := make([]byte, size)
		n, err := f.ReadAt(b, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return b[:n], nil
	}()
	return b, errors.Join(err, f.Close())
}

// read reads and checks the files as one bundle.
func (c *credentials) read(w primitives.World) (*bundle, error) {
	var parts [3][]byte
	digest := sha256.New()
	for i, name := range []string{c.files.CA, c.files.Certificate, c.files.Key} {
		b, err := readPEM(w.Files(), name)
		if err != nil {
			return nil, &CredentialError{File: name, What: "cannot be read", Err: err}
		}
		parts[i] = b
		fmt.Fprintf(digest, "%d ", len(b))
		digest.Write(b)
	}
	b := &bundle{authorities: x509.NewCertPool()}
	digest.Sum(b.digest[:0])
	return b, c.complete(w, b, parts[0], parts[1], parts[2])
}

// complete parses a bundle and checks it against the node's own settings.
func (c *credentials) complete(w primitives.World, b *bundle, ca, certificate, key []byte) error {
	authorities, err := parseAuthorities(ca)
	if err != nil {
		return &CredentialError{File: c.files.CA, What: "holds no authority", Err: err}
	}
	for _, a := range authorities {
		b.authorities.AddCert(a)
	}
	if b.certificate, err = tls.X509KeyPair(certificate, key); err != nil {
		return &CredentialError{File: c.files.Certificate, What: "certificate and key do not go together", Err: err}
	}
	leaf := b.certificate.Leaf
	if b.identity, err = certifiedBy(leaf); err != nil {
		return &CredentialError{File: c.files.Certificate, What: "names nobody", Err: err}
	}
	switch {
	case b.identity.cluster != c.cluster:
		return &CredentialError{File: c.files.Certificate, What: fmt.Sprintf("is of cluster '%s', this node is of '%s'", b.identity.cluster, c.cluster)}
	case b.identity.node != c.node:
		return &CredentialError{File: c.files.Certificate, What: fmt.Sprintf("is of node '%s', this node is '%s'", b.identity.node, c.node)}
	}
	if err := leaf.VerifyHostname(c.host); err != nil {
		return &CredentialError{File: c.files.Certificate, What: fmt.Sprintf("does not cover the advertised host '%s'", c.host), Err: err}
	}
	intermediates := x509.NewCertPool()
	for _, der := range b.certificate.Certificate[1:] {
		if cert, err := x509.ParseCertificate(der); err == nil {
			intermediates.AddCert(cert)
		}
	}
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		_, err := leaf.Verify(x509.VerifyOptions{
			Roots: b.authorities, Intermediates: intermediates, CurrentTime: w.Clock().Wall(), KeyUsages: []x509.ExtKeyUsage{usage},
		})
		if err != nil {
			return &CredentialError{File: c.files.Certificate, What: "is not valid for client and server use under the authority", Err: err}
		}
	}
	return nil
}

func parseAuthorities(text []byte) (list []*x509.Certificate, err error) {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		if !cert.IsCA {
			return nil, errors.New("a certificate in it is no authority")
		}
		list = append(list, cert)
	}
	if len(list) == 0 {
		return nil, errors.New("no certificate")
	}
	return list, nil
}

// CheckCredentials reads the files as Start will, before the node has an identity:
// a node that could not serve should not found anything.
func (m *Mesh) CheckCredentials(node string) error {
	if m.settings.TLS == nil {
		return nil
	}
	endpoint := m.settings.Advertise
	if endpoint == "" {
		endpoint = m.settings.Listen.String()
	}
	host, _, err := splitEndpoint(endpoint)
	if err != nil {
		return err
	}
	c := &credentials{files: *m.settings.TLS, cluster: m.settings.ClusterID, node: node, host: host}
	_, err = c.read(m.world)
	return err
}

// loadCredentials reads the files for the first time; host is the advertised one.
func (m *Mesh) loadCredentials(host string) error {
	if m.settings.TLS == nil {
		return nil
	}
	c := &credentials{files: *m.settings.TLS, cluster: m.settings.ClusterID, node: m.Process().Node, host: host}
	b, err := c.read(m.world)
	if err != nil {
		return err
	}
	c.current.Store(b)
	m.credentials = c
	return nil
}

// renew reads the files again and again. A bundle takes effect when it is valid
// and reads the same twice; connections of the older one drain.
func (m *Mesh) renew(ctx context.Context) error {
	c := m.credentials
	ticker := primitives.NewTicker(m.world, credentialsEvery)
	defer ticker.Stop()
	for {
		if err := ticker.Next(ctx); err != nil {
			return nil
		}
		b, err := c.read(m.world)
		switch {
		case b == nil || err != nil:
			c.next = [sha256.Size]byte{}
			m.reportCredentials(b, err)
			continue
		case b.digest == c.current.Load().digest:
			c.next = [sha256.Size]byte{}
			continue
		case b.digest != c.next:
			credentialsTorn.HitIf(c.next != [sha256.Size]byte{})
			c.next = b.digest
			continue
		}
		credentialsRenewed.Hit()
		c.current.Store(b)
		m.world.Log().Info("interconnect credentials replaced", "certificate", c.files.Certificate, "expires", b.identity.expires)
		m.retireAll(drainWithin)
	}
}

// reportCredentials logs a reading that cannot be used, once.
func (m *Mesh) reportCredentials(b *bundle, err error) {
	digest := sha256.Sum256([]byte(err.Error()))
	if b != nil {
		digest = b.digest
	}
	if digest != m.credentials.refused {
		m.credentials.refused = digest
		m.world.Log().Warn("interconnect credentials left as they were", "error", err)
	}
}

// retireAll drains every connection; those of slots are established anew.
func (m *Mesh) retireAll(within time.Duration) {
	until := m.world.Clock().Now().Add(within)
	for _, c := range m.snapshot() {
		m.tasks.Go("interconnect drain", func(ctx context.Context) error {
			c.retire(ctx, until)
			return nil
		})
	}
}

// expiry is when a connection under certificates ends, on the monotonic clock.
func (m *Mesh) expiry(peer *certified) primitives.Instant {
	if m.credentials == nil || peer == nil {
		return primitives.Never
	}
	ends := m.credentials.current.Load().identity.expires
	if peer.expires.Before(ends) {
		ends = peer.expires
	}
	return m.world.Clock().Now().Add(ends.Sub(m.world.Clock().Wall()))
}
