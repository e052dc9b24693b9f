package certificates

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Pair is a certificate and its private key, as PEM text. The key is a secret.
type Pair struct{ Certificate, Key []byte }

// Authority signs the certificates of one cluster.
type Authority struct {
	Cluster     string
	certificate *x509.Certificate
	key         crypto.Signer
}

// Validity of what this package makes. A cluster outlives its node certificates,
// which are issued again under the same authority.
const (
	AuthorityValidity = 10 * 365 * 24 * time.Hour
	NodeValidity      = 365 * 24 * time.Hour
	// skew lets a clock that is a little behind accept a new certificate.
	skew = time.Hour
)

// ErrNoAuthority says that a certificate cannot sign for a cluster.
var ErrNoAuthority = errors.New("no authority of a cluster")

const clusterPrefix = "plexus://cluster/"

// NewAuthority makes the authority of a cluster, valid from now on.
func NewAuthority(cluster string, now time.Time) (*Authority, Pair, error) {
	uri, err := url.Parse(clusterPrefix + cluster)
	if err != nil || cluster == "" {
		return nil, Pair{}, fmt.Errorf("cluster id '%s' does not fit into a certificate", cluster)
	}
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, Pair{}, fmt.Errorf("make a key: %w", err)
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "Plexus cluster " + cluster},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.Add(AuthorityValidity),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
		URIs:                  []*url.URL{uri},
	}
	pair, err := sign(template, nil, public, key, key)
	if err != nil {
		return nil, Pair{}, err
	}
	a, err := ReadAuthority(pair)
	return a, pair, err
}

// ReadAuthority reads an authority that NewAuthority made.
func ReadAuthority(p Pair) (*Authority, error) {
	block, _ := pem.Decode(p.Certificate)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, fmt.Errorf("%w: no PEM certificate", ErrNoAuthority)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoAuthority, err)
	}
	if !certificate.IsCA || len(certificate.URIs) != 1 || !strings.HasPrefix(certificate.URIs[0].String(), clusterPrefix) {
		return nil, fmt.Errorf("%w: expected an authority with the URI name %s<cluster>", ErrNoAuthority, clusterPrefix)
	}
	if block, _ = pem.Decode(p.Key); block == nil || block.Type != "PRIVATE KEY" {
		return nil, fmt.Errorf("%w: no PEM private key", ErrNoAuthority)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: the private key does not read", ErrNoAuthority)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok || !key.Public().(ed25519.PublicKey).Equal(certificate.PublicKey) {
		return nil, fmt.Errorf("%w: certificate and key do not go together", ErrNoAuthority)
	}
	return &Authority{
		Cluster: strings.TrimPrefix(certificate.URIs[0].String(), clusterPrefix), certificate: certificate, key: key,
	}, nil
}

// PEM returns the certificate of the authority.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// Node is what a node certificate says.
type Node struct {
	ID    string
	Hosts []string // names and addresses under which peers dial it
	// From and Until bound its validity; zero is now and NodeValidity later.
	From, Until time.Time
}

// Issue makes the certificate of a node and a key for it.
func (a *Authority) Issue(n Node, now time.Time) (Pair, error) {
	uri, err := url.Parse(clusterPrefix + a.Cluster + "/node/" + n.ID)
	switch {
	case err != nil || n.ID == "":
		return Pair{}, fmt.Errorf("node id '%s' does not fit into a certificate", n.ID)
	case len(n.Hosts) == 0:
		return Pair{}, errors.New("a node certificate needs at least one host")
	}
	if n.From.IsZero() {
		n.From = now.Add(-skew)
	}
	if n.Until.IsZero() {
		n.Until = now.Add(NodeValidity)
	}
	if n.Until.After(a.certificate.NotAfter) {
		n.Until = a.certificate.NotAfter
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: n.ID},
		NotBefore:             n.From,
		NotAfter:              n.Until,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
		URIs:                  []*url.URL{uri},
	}
	for _, host := range n.Hosts {
		if addr, err := netip.ParseAddr(host); err == nil {
			template.IPAddresses = append(template.IPAddresses, addr.Unmap().AsSlice())
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("make a key: %w", err)
	}
	return sign(template, a.certificate, public, key, a.key)
}

// sign completes a certificate; without a parent it signs itself.
func sign(template, parent *x509.Certificate, public ed25519.PublicKey, key ed25519.PrivateKey, signer crypto.Signer) (Pair, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return Pair{}, fmt.Errorf("draw a serial number: %w", err)
	}
	template.SerialNumber = serial
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, signer)
	if err != nil {
		return Pair{}, fmt.Errorf("sign the certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("encode the key: %w", err)
	}
	return Pair{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}, nil
}
