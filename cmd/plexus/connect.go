package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"golang.org/x/term"

	"plexus/engine/client"
	"plexus/engine/session/sessionpb"
	"plexus/primitives"
	"plexus/primitives/dns"
	"plexus/real/http/sessionclient"
)

// initialPassword is where a node with default settings, started in the same
// directory, leaves the password of its first user.
const initialPassword = "plexus-data/initial-password"

// errNoPassword says that there is no way to learn the password.
var errNoPassword = errors.New("no password: give --password-file, --password or PLEXUS_PASSWORD, or start where " + initialPassword + " lies")

// connect opens a session.
func (p *program) connect(ctx context.Context, notify func(*sessionpb.Event)) (*client.Session, error) {
	password, err := p.password(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.world.LoadResolver(ctx, dns.Options{ConfigFile: "/etc/resolv.conf", HostsFile: "/etc/hosts"}); err != nil {
		return nil, err
	}
	return client.Open(ctx, p.world, client.Options{
		Servers: p.options.Server, Dial: sessionclient.New(p.world, p.options.Username, password),
		Client: "plexus", Domain: p.options.Domain, CallTimeout: p.options.Timeout, Notify: notify,
	})
}

// password looks where the user said, then where a local node leaves it, then
// asks.
func (p *program) password(ctx context.Context) (string, error) {
	switch {
	case p.options.PasswordFile != "": // before PLEXUS_PASSWORD, which may be set for another node
		text, err := os.ReadFile(p.options.PasswordFile)
		return strings.TrimSpace(string(text)), err
	case p.options.Password != "":
		return p.options.Password, nil
	}
	if loopback(p.options.Server) {
		if text, err := os.ReadFile(initialPassword); err == nil {
			return strings.TrimSpace(string(text)), nil
		}
	}
	if !p.interactive() {
		return "", errNoPassword
	}
	return p.ask(ctx, "password of "+p.options.Username+": ")
}

// ask reads a secret from the terminal. When the program is to end meanwhile, it
// gives the terminal back as it was; the read goes on until the program is gone.
func (p *program) ask(ctx context.Context, question string) (string, error) {
	fd := int(p.in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	fmt.Fprint(p.err, question)
	defer fmt.Fprintln(p.err)
	var secret []byte
	var failed error
	answered := primitives.NewEvent(p.world)
	p.world.Tasks().Go("password", func() {
		secret, failed = term.ReadPassword(fd)
		answered.Set()
	})
	if err := answered.Wait(ctx); err != nil {
		return "", errors.Join(err, term.Restore(fd, before))
	}
	return string(secret), failed
}

// loopback reports whether every server is on this machine.
func loopback(servers []string) bool {
	for _, server := range servers {
		at, err := url.Parse(server)
		if err != nil {
			return false
		}
		if host := at.Hostname(); host != "localhost" {
			if addr, err := netip.ParseAddr(host); err != nil || !addr.IsLoopback() {
				return false
			}
		}
	}
	return true
}
