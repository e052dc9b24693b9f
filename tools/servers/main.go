// Command servers starts the external systems of the local acceptance world on
// free loopback ports and ends exactly those again.
//
//	servers start   starts what can be found, prints one line per system
//	servers stop    ends the recorded processes by their process id
//
// What runs is recorded under the state directory: <name>.pid, <name>.port and
// the file env, which a shell can source.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	startWithin = 30 * time.Second
	stopWithin  = 10 * time.Second
	pollEvery   = 50 * time.Millisecond
)

// system is one server this command knows how to run.
type system struct {
	name string
	// variable names the address in the file env.
	variable string
	scheme   string
	// command returns the program and its arguments, or why it cannot run here.
	command func(dir string, port int) ([]string, error)
}

func systems(natsServer string) []system {
	return []system{
		{
			name: "nats", variable: "PLEXUS_TEST_NATS", scheme: "nats",
			command: func(dir string, port int) ([]string, error) {
				if _, err := os.Stat(natsServer); err != nil {
					return nil, fmt.Errorf("its program is missing: %w", err)
				}
				return []string{natsServer, "-host", "127.0.0.1", "-port", strconv.Itoa(port), "-store", dir}, nil
			},
		},
		{
			name: "redis", variable: "PLEXUS_TEST_REDIS", scheme: "redis",
			command: func(dir string, port int) ([]string, error) {
				for _, program := range []string{"redis-server", "valkey-server"} {
					if path, err := exec.LookPath(program); err == nil {
						return []string{path, "--bind", "127.0.0.1", "--port", strconv.Itoa(port),
							"--save", "", "--appendonly", "no", "--dir", dir}, nil
					}
				}
				return nil, errors.New("neither redis-server nor valkey-server is installed (Debian: apt-get install redis-server)")
			},
		},
	}
}

func main() {
	state := flag.String("state", ".cache/servers", "directory of process ids, ports and logs")
	natsServer := flag.String("natsserver", ".cache/bin/natsserver", "program of the NATS server")
	flag.Parse()
	var err error
	switch flag.Arg(0) {
	case "start":
		err = start(*state, *natsServer)
	case "stop":
		err = stop(*state, *natsServer)
	default:
		fmt.Fprintln(os.Stderr, "usage: servers [-state DIR] [-natsserver FILE] start|stop")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(1)
	}
}

func start(state, natsServer string) error {
	if err := os.MkdirAll(state, 0o755); err != nil {
		return err
	}
	var env strings.Builder
	for _, s := range systems(natsServer) {
		if pid, port, err := recorded(state, s.name); err == nil && alive(pid, port, filepath.Join(state, s.name)) {
			fmt.Printf("%-6s already runs on 127.0.0.1:%d (pid %d)\n", s.name, port, pid)
			fmt.Fprintf(&env, "%s=%s://127.0.0.1:%d\n", s.variable, s.scheme, port)
			continue
		}
		port, pid, err := launch(state, s)
		if err != nil {
			fmt.Printf("%-6s skipped: %v\n", s.name, err)
			continue
		}
		fmt.Printf("%-6s runs on 127.0.0.1:%d (pid %d)\n", s.name, port, pid)
		fmt.Fprintf(&env, "%s=%s://127.0.0.1:%d\n", s.variable, s.scheme, port)
	}
	return os.WriteFile(filepath.Join(state, "env"), []byte(env.String()), 0o644)
}

// launch starts one server in a session of its own and waits until its port
// answers.
func launch(state string, s system) (port, pid int, err error) {
	dir, err := filepath.Abs(filepath.Join(state, s.name))
	if err != nil {
		return 0, 0, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, 0, err
	}
	if port, err = freePort(); err != nil {
		return 0, 0, err
	}
	args, err := s.command(dir, port)
	if err != nil {
		return 0, 0, err
	}
	log, err := os.Create(filepath.Join(state, s.name+".log"))
	if err != nil {
		return 0, 0, err
	}
	defer log.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if !filepath.IsAbs(args[0]) {
		if cmd.Path, err = filepath.Abs(args[0]); err != nil {
			return 0, 0, err
		}
	}
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	for deadline := time.Now().Add(startWithin); ; {
		conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
		if err == nil {
			conn.Close()
			break
		}
		select {
		case err := <-exited:
			return 0, 0, fmt.Errorf("ended while starting (%v), see %s", err, log.Name())
		case <-time.After(pollEvery):
		}
		if time.Now().After(deadline) {
			cmd.Process.Kill()
			return 0, 0, fmt.Errorf("no answer on port %d within %s, see %s", port, startWithin, log.Name())
		}
	}
	if err := record(state, s.name, cmd.Process.Pid, port); err != nil {
		cmd.Process.Kill()
		return 0, 0, err
	}
	return port, cmd.Process.Pid, nil
}

func stop(state, natsServer string) error {
	var failed error
	for _, s := range systems(natsServer) {
		pid, port, err := recorded(state, s.name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if alive(pid, port, filepath.Join(state, s.name)) {
			if err := end(pid); err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s (pid %d): %w", s.name, pid, err))
				continue
			}
			fmt.Printf("%-6s stopped (pid %d)\n", s.name, pid)
		}
		os.Remove(filepath.Join(state, s.name+".pid"))
		os.Remove(filepath.Join(state, s.name+".port"))
	}
	os.Remove(filepath.Join(state, "env"))
	return failed
}

// end asks the process to stop and insists after a while.
func end(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return err
	}
	for deadline := time.Now().Add(stopWithin); time.Now().Before(deadline); time.Sleep(pollEvery) {
		if syscall.Kill(pid, 0) != nil {
			return nil
		}
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// alive reports whether the process is still the one that was started. A reused
// process id shows neither the server's directory nor its address: redis rewrites
// its command line to "redis-server 127.0.0.1:port".
func alive(pid, port int, dir string) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return false
	}
	absolute, err := filepath.Abs(dir)
	return err == nil && (strings.Contains(string(line), absolute) || strings.Contains(string(line), fmt.Sprintf("127.0.0.1:%d", port)))
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func record(state, name string, pid, port int) error {
	if err := os.WriteFile(filepath.Join(state, name+".pid"), []byte(strconv.Itoa(pid)), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(state, name+".port"), []byte(strconv.Itoa(port)), 0o644)
}

func recorded(state, name string) (pid, port int, err error) {
	if pid, err = readNumber(filepath.Join(state, name+".pid")); err != nil {
		return 0, 0, err
	}
	port, err = readNumber(filepath.Join(state, name+".port"))
	return pid, port, err
}

func readNumber(file string) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}
