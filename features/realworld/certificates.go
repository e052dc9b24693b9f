package realworld

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"plexus/features/harness"
	"plexus/real/certificates"
)

// authorities sign for the nodes of a scenario.
type authorities struct {
	dir          string
	own, foreign *certificates.Authority
}

func newAuthorities(dir string) (*authorities, error) {
	a := &authorities{dir: filepath.Join(dir, "tls")}
	var errs [3]error
	a.own, _, errs[0] = certificates.NewAuthority("default", time.Now())
	a.foreign, _, errs[1] = certificates.NewAuthority("default", time.Now())
	errs[2] = os.MkdirAll(a.dir, 0o700)
	return a, errors.Join(errs[:]...)
}

// Certify implements harness.Certificates.
func (s *stage) Certify(node string, c harness.Certificate) error {
	a := s.authorities
	if a == nil {
		return errors.New("only a scenario tagged @tls has certificates")
	}
	if c.None {
		a.remove(node)
		return nil
	}
	authority, now := a.own, time.Now()
	if c.Foreign {
		authority = a.foreign
	}
	of := certificates.Node{ID: node, Hosts: []string{"127.0.0.1"}}
	if c.Of != "" {
		of.ID = c.Of
	}
	if c.Ends != 0 {
		of.Until = now.Add(c.Ends)
	}
	pair, err := authority.Issue(of, now)
	if err != nil {
		return fmt.Errorf("certificate of %s: %w", node, err)
	}
	// A node trusts whoever signed for it.
	return errors.Join(
		os.WriteFile(a.file(node, "ca"), authority.PEM(), 0o600),
		os.WriteFile(a.file(node, "key"), pair.Key, 0o600),
		os.WriteFile(a.file(node, "pem"), pair.Certificate, 0o600),
	)
}

func (a *authorities) file(node, what string) string { return filepath.Join(a.dir, node+"."+what) }

func (a *authorities) remove(node string) {
	for _, what := range []string{"ca", "key", "pem"} {
		os.Remove(a.file(node, what)) // it need not be there
	}
}

// settings are the flags of a node that has a certificate.
func (a *authorities) settings(node string) harness.Settings {
	if a == nil {
		return nil
	}
	if _, err := os.Stat(a.file(node, "pem")); err != nil {
		return nil
	}
	return harness.Settings{
		{Name: "interconnect-tls-ca", Value: a.file(node, "ca")}, {Name: "interconnect-tls-cert", Value: a.file(node, "pem")},
		{Name: "interconnect-tls-key", Value: a.file(node, "key")},
	}
}

var _ harness.Certificates = (*stage)(nil)
