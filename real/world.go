package real

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"time"

	"plexus/primitives"
	"plexus/primitives/dns"
)

// Options configure a World.
type Options struct {
	// Log receives the node's log; nil writes text to standard error.
	Log slog.Handler
	// Panicked ends the process when a task panicked; without it the Go runtime does,
	// with its own status.
	Panicked func(task string, cause any, stack []byte)
}

// World is a node's view of this machine.
type World struct {
	clock    *clock
	tasks    *tasks
	net      *network
	files    files
	resolver primitives.Resolver
	log      *slog.Logger
}

// NewWorld returns a World without a resolver; LoadResolver adds it.
func NewWorld(options Options) *World {
	if options.Log == nil {
		options.Log = slog.NewTextHandler(os.Stderr, nil)
	}
	c := &clock{origin: time.Now()}
	return &World{
		clock:    c,
		tasks:    newTasks(c, options.Panicked),
		net:      newNetwork(c),
		resolver: noResolver{},
		log:      slog.New(options.Log),
	}
}

// LoadResolver reads the resolver's configuration and puts the resolver in
// place. It is called once, before anything looks a name up.
func (w *World) LoadResolver(ctx context.Context, options dns.Options) error {
	config, err := dns.Load(ctx, w, options)
	if err != nil {
		return err
	}
	w.resolver = dns.New(w, config)
	return nil
}

// Close closes every socket that is still open, which wakes the tasks blocked on
// them, and waits for all tasks to end. Tasks that outlive the bound are a
// *TasksRunningError.
func (w *World) Close(bound time.Duration) error {
	w.net.closeAll()
	return w.Join(bound)
}

// Join waits for all tasks to end. Tasks that outlive the bound are a
// *TasksRunningError.
func (w *World) Join(bound time.Duration) error {
	if !w.tasks.join(bound) {
		return &TasksRunningError{Tasks: w.TaskList()}
	}
	return nil
}

// OpenSockets returns the number of sockets opened and not closed.
func (w *World) OpenSockets() int { return w.net.open() }

// Clock implements primitives.World.
func (w *World) Clock() primitives.Clock { return w.clock }

// Tasks implements primitives.World.
func (w *World) Tasks() primitives.Tasks { return w.tasks }

// Net implements primitives.World.
func (w *World) Net() primitives.Net { return w.net }

// Resolver implements primitives.World.
func (w *World) Resolver() primitives.Resolver { return w.resolver }

// Entropy implements primitives.World.
func (w *World) Entropy() primitives.Entropy { return entropy{} }

// Files implements primitives.World.
func (w *World) Files() primitives.Files { return w.files }

// Log implements primitives.World.
func (w *World) Log() *slog.Logger { return w.log }

type noResolver struct{}

func (noResolver) Lookup(context.Context, string, primitives.Instant) ([]netip.Addr, error) {
	return nil, ErrNoResolver
}

var _ primitives.World = (*World)(nil)
