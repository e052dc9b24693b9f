package real_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plexus/primitives"
	"plexus/primitives/dns"
	"plexus/real"
)

func quiet() *real.World { return real.NewWorld(real.Options{Log: slog.DiscardHandler}) }

// TestTaskListSaysWhatTasksWaitFor looks at tasks blocked in the boundary.
func TestTaskListSaysWhatTasksWaitFor(t *testing.T) {
	w := quiet()
	ctx, stop := primitives.WithCancel(context.Background(), w)
	g := primitives.NewGroup(ctx, w)
	g.Go("emitter", func(ctx context.Context) error {
		_, err := primitives.NewQueue[int](w, 1).Recv(ctx)
		return err
	})
	g.Go("scheduler", func(ctx context.Context) error { return primitives.Sleep(ctx, w, time.Hour) })
	want := map[string]string{"emitter": "primitives.(*Queue).Recv", "scheduler": "primitives.Sleep"}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		list := w.TaskList()
		blocked := 0
		for _, task := range list {
			if task.Wait == want[task.Name] && strings.Contains(task.At, "TestTaskListSaysWhatTasksWaitFor") && strings.Contains(task.At, "real_test.go:") {
				blocked++
			}
		}
		if blocked == len(want) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("tasks %v", list)
		}
	}
	var running *real.TasksRunningError
	if err := w.Join(time.Millisecond); !errors.As(err, &running) || len(running.Tasks) != 2 {
		t.Errorf("join gave %v", err)
	}
	stop()
	if err := w.Join(10 * time.Second); err != nil {
		t.Error(err)
	}
}

func TestCloseWakesBlockedSockets(t *testing.T) {
	w := quiet()
	l, err := w.Net().Listen(loopback)
	if err != nil {
		t.Fatal(err)
	}
	w.Tasks().Go("accept", func() { l.Accept() })
	if err := w.Close(10 * time.Second); err != nil {
		t.Error(err)
	}
	if n := w.OpenSockets(); n != 0 {
		t.Errorf("%d sockets left", n)
	}
}

func TestFilesBelongToTheNodeAlone(t *testing.T) {
	w, dir := quiet(), t.TempDir()
	if err := w.Files().MkdirAll(filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	f, err := w.Files().Create(filepath.Join(dir, "d", "f"), true)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for name, want := range map[string]fs.FileMode{"d": 0o700, "d/f": 0o600} { //plexus:orderfree independent cases
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// TestLockBindsProcesses locks a file in this process and asks for it in another.
func TestLockBindsProcesses(t *testing.T) {
	if name := os.Getenv("REAL_TEST_LOCK"); name != "" {
		_, err := quiet().Files().Lock(name)
		if errors.Is(err, primitives.ErrLocked) {
			os.Exit(17)
		}
		os.Exit(0)
	}
	name := filepath.Join(t.TempDir(), "lock")
	lock, err := quiet().Files().Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	other := func() int {
		c := exec.Command(os.Args[0], "-test.run=^TestLockBindsProcesses$")
		c.Env = append(os.Environ(), "REAL_TEST_LOCK="+name)
		c.Run()
		return c.ProcessState.ExitCode()
	}
	if code := other(); code != 17 {
		t.Errorf("another process took a held lock: exit %d", code)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if code := other(); code != 0 {
		t.Errorf("another process could not take a free lock: exit %d", code)
	}
}

func TestWorldWithoutResolver(t *testing.T) {
	w := quiet()
	if _, err := w.Resolver().Lookup(context.Background(), "h", primitives.Never); !errors.Is(err, real.ErrNoResolver) {
		t.Errorf("lookup gave %v", err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"resolv.conf": "nameserver 127.0.0.1\n", "hosts": "10.0.0.1 h\n"} { //plexus:orderfree independent files
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	options := dns.Options{ConfigFile: filepath.Join(dir, "resolv.conf"), HostsFile: filepath.Join(dir, "hosts")}
	if err := w.LoadResolver(context.Background(), options); err != nil {
		t.Fatal(err)
	}
	addrs, err := w.Resolver().Lookup(context.Background(), "h", primitives.Never)
	if err != nil || len(addrs) != 1 || addrs[0].String() != "10.0.0.1" {
		t.Errorf("lookup gave %v, %v", addrs, err)
	}
}

// TestHandOffAllocatesNothing covers both ways a value can go: through the ring
// and to a waiting task.
func TestHandOffAllocatesNothing(t *testing.T) {
	if raced {
		t.Skip("pools drop at random under the race detector")
	}
	w := quiet()
	ctx, stop := primitives.WithCancel(context.Background(), w)
	defer stop()
	there, back := primitives.NewQueue[*int](w, 1), primitives.NewQueue[*int](w, 1)
	w.Tasks().Go("echo", func() {
		for {
			v, err := there.Recv(ctx)
			if err != nil || back.Send(ctx, v) != nil {
				return
			}
		}
	})
	item := new(int)
	if n := testing.AllocsPerRun(1000, func() {
		there.Send(ctx, item)
		back.Recv(ctx)
	}); n > 0 {
		t.Errorf("a round trip allocates %v times", n)
	}
}
