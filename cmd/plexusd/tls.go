package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plexus/engine/node"
	"plexus/primitives/dns"
	"plexus/real"
	"plexus/real/certificates"
)

// tlsText is the help of the certificate commands.
const tlsText = `Usage: plexusd tls init  [--dir DIR] [--cluster-id ID]        make an authority for a private cluster
       plexusd tls issue [--dir DIR] --node ID --host HOST...  make a node certificate under it

init writes ca.pem and ca.key, issue writes ID.pem and ID.key. HOST is a name or
an address under which peers dial the node; --host may be repeated. Nothing is
overwritten. Nodes take ca.pem and their own two files:

  plexusd --interconnect-tls-ca ca.pem --interconnect-tls-cert ID.pem --interconnect-tls-key ID.key

ca.key signs for the whole cluster: keep it off the nodes.
`

// hosts collects a flag that may be repeated.
type hosts []string

func (h *hosts) String() string { return fmt.Sprint([]string(*h)) }

func (h *hosts) Set(host string) error {
	*h = append(*h, host)
	return nil
}

// valid refuses what nobody can dial.
func (h hosts) valid() error {
	for _, host := range h {
		if _, err := netip.ParseAddr(host); err == nil || dns.ValidName(host) {
			continue
		}
		if name, _, ok := strings.Cut(host, ":"); ok && dns.ValidName(name) {
			return fmt.Errorf("--host: '%s' must be without a port: --host %s", host, name)
		}
		return fmt.Errorf("--host: '%s' is no host name and no address; repeat --host for several", host)
	}
	return nil
}

// tlsFiles makes certificates: the authority of a cluster, or a node's.
func tlsFiles(args []string, out, problems io.Writer) int {
	verb := ""
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("plexusd tls", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("dir", "plexus-tls", "")
	cluster, nodeID := new(string), new(string)
	var names hosts
	switch verb {
	case "init":
		cluster = flags.String("cluster-id", "default", "")
	case "issue":
		nodeID = flags.String("node", "", "")
		flags.Var(&names, "host", "")
	case "", "--help", "-h", "help":
		fmt.Fprint(out, tlsText)
		return statusStopped
	default:
		return tlsUsage(problems, fmt.Errorf("no command %q", verb))
	}
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, tlsText)
		return statusStopped
	case err != nil:
		return tlsUsage(problems, err)
	case flags.NArg() > 0:
		return tlsUsage(problems, fmt.Errorf("unexpected argument %q", flags.Arg(0)))
	case verb == "init" && *cluster == "":
		return tlsUsage(problems, errors.New("--cluster-id needs a name"))
	case verb == "issue" && (*nodeID == "" || len(names) == 0):
		return tlsUsage(problems, errors.New("--node and --host are needed"))
	}
	if err := errors.Join(validNames(*cluster, *nodeID), names.valid()); err != nil {
		return tlsUsage(problems, err)
	}
	now := real.NewWorld(real.Options{}).Clock().Wall()
	if verb == "init" {
		err = makeAuthority(*dir, *cluster, now, out)
	} else {
		err = issueNode(*dir, *nodeID, names, now, out)
	}
	if err != nil {
		fmt.Fprintf(problems, "plexusd: %v\n", err)
		return statusFailed
	}
	return statusStopped
}

// validNames refuses what no node would start with, before it becomes a certificate
// and the name of a file. An empty name is not asked for.
func validNames(cluster, nodeID string) error {
	s := node.Defaults()
	var errs []error
	for _, name := range [][2]string{{"cluster-id", cluster}, {"node-id", nodeID}} {
		if name[1] != "" {
			errs = append(errs, s.Set(name[0], name[1]))
		}
	}
	return errors.Join(errs...)
}

func tlsUsage(problems io.Writer, err error) int {
	fmt.Fprintf(problems, "plexusd: %v; try plexusd tls --help\n", err)
	return statusUsage
}

func makeAuthority(dir, cluster string, now time.Time, out io.Writer) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory: %w", err)
	}
	_, pair, err := certificates.NewAuthority(cluster, now)
	if err != nil {
		return err
	}
	return writePair(filepath.Join(dir, "ca"), pair, out)
}

func issueNode(dir, node string, names []string, now time.Time, out io.Writer) error {
	var ca certificates.Pair
	var err error
	if ca.Certificate, err = os.ReadFile(filepath.Join(dir, "ca.pem")); err == nil {
		ca.Key, err = os.ReadFile(filepath.Join(dir, "ca.key"))
	}
	if err != nil {
		return fmt.Errorf("read the authority, which plexusd tls init makes: %w", err)
	}
	authority, err := certificates.ReadAuthority(ca)
	if err != nil {
		return fmt.Errorf("authority in %s: %w", dir, err)
	}
	pair, err := authority.Issue(certificates.Node{ID: node, Hosts: names}, now)
	if err != nil {
		return err
	}
	return writePair(filepath.Join(dir, node), pair, out)
}

// writePair writes a certificate and its key, the key readable by its owner only.
func writePair(base string, pair certificates.Pair, out io.Writer) error {
	for _, f := range []struct {
		name string
		text []byte
		mode fs.FileMode
	}{{base + ".key", pair.Key, 0o600}, {base + ".pem", pair.Certificate, 0o644}} {
		file, err := os.OpenFile(f.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode)
		if err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
		_, err = file.Write(f.text)
		if err := errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
		fmt.Fprintln(out, f.name)
	}
	return nil
}
