package contract

import (
	"crypto/tls"
	"crypto/x509"
	"errors"

	"plexus/nspl/vocab"
	"plexus/primitives"
)

// Trust says what tls_ca_file does to the platform's roots.
type Trust uint8

// The rules of trust.
const (
	TrustAdded    Trust = iota // the file's roots are added
	TrustReplaced              // the file's roots are the only ones
)

var (
	errNoCertificate = errors.New("no certificate in PEM form")
	errKeyMismatch   = errors.New("key does not belong to the certificate")
)

// pemBytesMax bounds a certificate file.
const pemBytesMax = 4 << 20

// ClientTLS reads the files and returns the configuration of connections to the
// host. Files are read once, when a connector opens.
func ClientTLS(w primitives.World, f TLSFiles, client vocab.ClientType, trust Trust, host string) (*tls.Config, error) {
	config := &tls.Config{
		ServerName: host,
		MinVersion: tls.VersionTLS12,
		Rand:       w.Entropy(),
		Time:       w.Clock().Wall,
	}
	fail := func(key, path string, err error) error {
		return &vocab.ConfigError{Client: client, Key: key, Expect: "names an unusable file " + path, Err: err}
	}
	if f.CA != "" {
		pem, err := readFile(w.Files(), f.CA)
		if err != nil {
			return nil, fail("tls_ca_file", f.CA, err)
		}
		config.RootCAs = x509.NewCertPool()
		if trust == TrustAdded {
			if platform, err := x509.SystemCertPool(); err == nil {
				config.RootCAs = platform
			}
		}
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fail("tls_ca_file", f.CA, errNoCertificate)
		}
	}
	if f.Cert != "" {
		cert, err := readFile(w.Files(), f.Cert)
		if err != nil {
			return nil, fail("tls_cert_file", f.Cert, err)
		}
		key, err := readFile(w.Files(), f.Key)
		if err != nil {
			return nil, fail("tls_key_file", f.Key, err)
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fail("tls_key_file", f.Key, errKeyMismatch) // the library's text may quote contents
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

func readFile(files primitives.Files, name string) ([]byte, error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	if size > pemBytesMax {
		return nil, errors.New("larger than 4 MiB")
	}
	content := make([]byte, size)
	n, err := file.ReadAt(content, 0)
	if n < len(content) {
		return nil, err
	}
	return content, nil
}
