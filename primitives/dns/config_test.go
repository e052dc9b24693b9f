package dns

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plexus/primitives"
)

// fileWorld is a World of nothing but files and a log.
type fileWorld struct {
	primitives.World
	content fstest.MapFS
	log     strings.Builder
}

func newFileWorld(config, hosts string) *fileWorld {
	return &fileWorld{content: fstest.MapFS{"resolv.conf": {Data: []byte(config)}, "hosts": {Data: []byte(hosts)}}}
}

func (w *fileWorld) Files() primitives.Files { return contentFiles{content: w.content} }
func (w *fileWorld) Log() *slog.Logger       { return slog.New(slog.NewTextHandler(&w.log, nil)) }

type contentFiles struct {
	primitives.Files
	content fstest.MapFS
}

func (w contentFiles) Open(name string) (primitives.File, error) {
	f, ok := w.content[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return contentFile{Reader: strings.NewReader(string(f.Data))}, nil
}

type contentFile struct {
	primitives.File
	*strings.Reader
}

func (f contentFile) ReadAt(p []byte, off int64) (int, error) { return f.Reader.ReadAt(p, off) }
func (contentFile) Close() error                              { return nil }
func (contentFile) Size() (int64, error)                      { return 0, nil }

var options = Options{ConfigFile: "resolv.conf", HostsFile: "hosts", HostName: "node.own.example"}

func TestLoad(t *testing.T) {
	w := newFileWorld(`
# comment
; comment
nameserver 10.0.0.1
nameserver	fd00::1   # trailing words are not read
nameserver nonsense
domain first.example
search a.example b.example.
sortlist 1.2.3.4
options ndots:3 rotate timeout:2
options attempts:0 edns0 ndots:x use-vc
`, `
127.0.0.1 localhost localhost.localdomain # comment
fd00::5 Both.Example
10.0.0.5 both.example other
oops name
10.0.0.6 both.example
`)
	c, err := Load(context.Background(), w, options)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%v %v %d %v %d %v", c.Servers, c.Search, c.Ndots, c.Timeout, c.Attempts, c.EDNS0)
	if want := "[10.0.0.1:53 [fd00::1]:53] [a.example b.example] 3 2s 1 true"; got != want {
		t.Errorf("loaded %s, want %s", got, want)
	}
	if got := fmt.Sprint(c.Hosts); got != "map[both.example:[10.0.0.5 10.0.0.6 fd00::5] localhost:[127.0.0.1] localhost.localdomain:[127.0.0.1] other:[10.0.0.5]]" {
		t.Errorf("hosts %s", got)
	}
	for _, want := range []string{`file=resolv.conf line=6 reason="not an address"`, `file=resolv.conf line=11 reason="option ndots without a whole number"`, `file=hosts line=5 reason="not an address"`} {
		if !strings.Contains(w.log.String(), want) {
			t.Errorf("no warning %s in:\n%s", want, w.log.String())
		}
	}
}

func TestLoadDefaults(t *testing.T) {
	o := options
	o.Servers = []netip.AddrPort{netip.MustParseAddrPort("10.9.9.9:5353")}
	c, err := Load(context.Background(), newFileWorld("nameserver 10.0.0.1\n", ""), o)
	if got := fmt.Sprintf("%v %v %d %v %d %v", c.Servers, c.Search, c.Ndots, c.Timeout, c.Attempts, err); got != "[10.9.9.9:5353] [own.example] 1 5s 2 <nil>" {
		t.Errorf("loaded %s", got)
	}
}

func TestLoadFails(t *testing.T) {
	gone, stop := context.WithCancel(context.Background())
	stop()
	o := options
	for _, c := range []struct {
		name   string
		ctx    context.Context
		config string
		change func(*fileWorld)
		cause  error
	}{
		{"no server", context.Background(), "search x\n", nil, ErrNoServer},
		{"search", context.Background(), "nameserver 10.0.0.1\nsearch a..b\n", nil, ErrSearchDomain},
		{"interrupted", gone, "nameserver 10.0.0.1\n", nil, context.Canceled},
		{"no file", context.Background(), "", func(w *fileWorld) { delete(w.content, "resolv.conf") }, fs.ErrNotExist},
		{"no hosts", context.Background(), "", func(w *fileWorld) { delete(w.content, "hosts") }, fs.ErrNotExist},
		{"huge", context.Background(), strings.Repeat("#\n", fileBytesMax/2+1), nil, ErrFileTooLarge},
	} {
		w := newFileWorld(c.config, "")
		if c.change != nil {
			c.change(w)
		}
		if _, err := Load(c.ctx, w, o); !errors.Is(err, ErrUnusable) || !errors.Is(err, c.cause) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("nameserver 10.0.0.1\noptions ndots:2\nsearch a b\n", "127.0.0.1 localhost\n")
	f.Add("nameserver\nsearch .\ndomain\n", "::1")
	f.Fuzz(func(t *testing.T, config, hosts string) {
		c, err := Load(context.Background(), newFileWorld(config, hosts), options)
		if err != nil {
			if !errors.Is(err, ErrNoServer) && !errors.Is(err, ErrSearchDomain) {
				t.Fatalf("unlisted cause: %v", err)
			}
			return
		}
		if len(c.Servers) == 0 || c.Attempts < 1 || c.Timeout <= 0 || c.Ndots < 0 || c.Ndots > ndotsMax {
			t.Fatalf("loaded %+v", c)
		}
		for _, name := range c.completions("host") {
			if !validName(name) {
				t.Fatalf("completion %q", name)
			}
		}
	})
}

func TestCacheKeepsToItsSize(t *testing.T) {
	c := newCache()
	a := answer{addrs: []netip.Addr{netip.IPv4Unspecified()}, ttl: 3 * time.Hour}
	q := func(i int) question { return question{fmt.Sprint(i), 1} }
	for i := range cacheEntriesMax + 10 {
		c.put(q(i), a, 0)
		c.get(q(0), 0)
	}
	if len(c.entries) != cacheEntriesMax || c.recent.Len() != cacheEntriesMax {
		t.Fatalf("%d entries", len(c.entries))
	}
	if _, ok := c.get(q(0), 0); !ok {
		t.Error("a used entry was dropped")
	}
	if _, ok := c.get(q(1), 0); ok {
		t.Error("an unused entry was kept")
	}
	if _, ok := c.get(q(0), primitives.Instant(positiveTTLMax)); ok {
		t.Error("an answer outlived the cap")
	}
	c.put(q(2), answer{negative: &failure{kind: NameNotFound}, ttl: time.Hour}, 0)
	if _, ok := c.get(q(2), primitives.Instant(negativeTTLMax)-1); !ok {
		t.Error("a denial was forgotten")
	}
	if _, ok := c.get(q(2), primitives.Instant(negativeTTLMax)); ok {
		t.Error("a denial outlived the cap")
	}
}
