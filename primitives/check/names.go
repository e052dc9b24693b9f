package check

import (
	"go/ast"
	"go/types"
	"strings"
)

// ban forbids names of one package. A name is that of a package-level object or
// "Type.Method"; a trailing * stands for any rest.
type ban struct {
	pkg     string
	names   string // separated by spaces
	but     string // names that are allowed nevertheless
	instead string
}

// forbid reports every use of a banned name.
func (f *found) forbid(bans []ban) {
	each(f, func(id *ast.Ident) {
		obj := f.TypesInfo.Uses[id]
		if obj == nil || obj.Pkg() == nil {
			return
		}
		name := qualified(obj)
		if name == "" {
			return
		}
		for _, b := range bans {
			if obj.Pkg().Path() == b.pkg && matches(name, b.names) && !matches(name, b.but) {
				f.at(id.Pos(), "%s.%s; use %s", obj.Pkg().Name(), name, b.instead)
				return
			}
		}
	})
}

// qualified returns the name of a package-level object or method, and nothing
// for others.
func qualified(obj types.Object) string {
	if fn, ok := obj.(*types.Func); ok {
		if recv := fn.Signature().Recv(); recv != nil {
			t := recv.Type()
			if p, ok := t.(*types.Pointer); ok {
				t = p.Elem()
			}
			named, ok := t.(*types.Named)
			if !ok {
				return ""
			}
			return named.Obj().Name() + "." + fn.Name()
		}
	}
	if obj.Parent() != obj.Pkg().Scope() {
		return ""
	}
	return obj.Name()
}

// matches reports whether a name is in a list of patterns. A pattern without a
// dot never means a method.
func matches(name, patterns string) bool {
	for pattern := range strings.FieldsSeq(patterns) {
		if strings.Contains(name, ".") != strings.Contains(pattern, ".") {
			continue
		}
		if prefix, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasPrefix(name, prefix) || name == pattern {
			return true
		}
	}
	return false
}

func checkClock(f *found) {
	f.forbid([]ban{
		{pkg: "time", names: "Now Since Until Sleep After AfterFunc Tick NewTimer NewTicker Timer Ticker", instead: "World.Clock and primitives.Sleep, AtCase, Ticker"},
		{pkg: "context", names: "WithTimeout* WithDeadline*", instead: "primitives.WithDeadline, or an Instant"},
	})
}

func checkTasks(f *found) {
	each(f, func(s *ast.GoStmt) { f.at(s.Pos(), "go statement; use primitives.Group") })
	f.forbid([]ban{
		{pkg: "context", names: "WithCancel* AfterFunc", instead: "primitives.WithCancel, OnCancel"},
		{pkg: "runtime", names: "Gosched Goexit LockOSThread SetFinalizer AddCleanup", instead: "primitives.Tasks, and an explicit Close"},
		{pkg: "golang.org/x/sync/errgroup", names: "*", instead: "primitives.Group"},
		{pkg: "golang.org/x/sync/singleflight", names: "*", instead: "primitives.Event"},
	})
}

func checkLocks(f *found) {
	f.forbid([]ban{
		{pkg: "sync", names: "*", instead: "sync/atomic, or the constructs of primitives"},
		{pkg: "golang.org/x/sync/semaphore", names: "*", instead: "primitives.Semaphore"},
	})
}

func checkSockets(f *found) {
	f.forbid([]ban{
		{pkg: "net", names: "Dial* Listen* File* Interface* Pipe Dialer ListenConfig", instead: "World.Net"},
		{pkg: "net/http", names: "Get Head Post PostForm Client Server Transport DefaultClient DefaultTransport DefaultServeMux Handle HandleFunc Serve* ListenAndServe*", instead: "a port that real/ and sim/ implement"},
		{pkg: "net/http/httputil", names: "*", instead: "http.ReadRequest, http.ReadResponse, Request.Write"},
		{pkg: "crypto/tls", names: "Dial* Listen* Dialer NewListener", instead: "tls.Client or tls.Server over a connection of World.Net"},
	})
}

func checkResolution(f *found) {
	f.forbid([]ban{
		{pkg: "net", names: "Lookup* Resolver DefaultResolver ResolveTCPAddr ResolveUDPAddr ResolveIPAddr ResolveUnixAddr", instead: "World.Resolver"},
	})
}

func checkProcess(f *found) {
	f.forbid([]ban{
		{pkg: "os", names: "*", but: "Err* FileMode FileInfo DirEntry PathError SyscallError Mode*", instead: "World.Files, or a value of the configuration"},
		{pkg: "os/exec", names: "*", instead: "nothing: the product starts no processes"},
		{pkg: "os/signal", names: "*", instead: "real.World.StopSignals"},
		{pkg: "os/user", names: "*", instead: "a value of the configuration"},
		{pkg: "io/ioutil", names: "*", instead: "World.Files"},
		{pkg: "path/filepath", names: "Walk* Glob Abs EvalSymlinks", instead: "World.Files"},
		{pkg: "syscall", names: "*", but: "E* Errno", instead: "World"},
		{pkg: "golang.org/x/sys/unix", names: "*", instead: "World"},
	})
}

func checkRandomness(f *found) {
	const instead = "World.Entropy"
	f.forbid([]ban{
		{pkg: "math/rand", names: "*", instead: instead},
		{pkg: "math/rand/v2", names: "*", instead: instead},
		{pkg: "crypto/rand", names: "*", instead: instead},
		{pkg: "hash/maphash", names: "*", instead: "xxh3, whose hashes are the same everywhere"},
		{pkg: "github.com/google/uuid", names: "New* Must", instead: "primitives.NewUUIDv7"},
	})
}

func checkOutput(f *found) {
	f.forbid([]ban{
		{pkg: "fmt", names: "Print Printf Println", instead: "World.Log"},
		{pkg: "log", names: "*", instead: "World.Log"},
		{pkg: "log/slog", names: "Debug* Info* Warn* Error* Log LogAttrs Default SetDefault SetLogLoggerLevel", instead: "World.Log"},
	})
}
