package realworld

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// spawner starts child processes from one thread that lives as long as this
// process, because the kernel sends a child its parent-death signal when the
// thread that started it ends.
var spawner = make(chan func())

func init() {
	go func() {
		runtime.LockOSThread()
		for start := range spawner {
			start()
		}
	}()
}

// process is one running child.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed once status holds
	status int
}

// spawn starts the program with its output appended to the file. The child dies
// with this process.
func spawn(program string, args, env []string, dir, output string) (*process, error) {
	out, err := os.OpenFile(output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, out, dir
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	spawner <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	p := &process{cmd: cmd, exited: make(chan struct{})}
	go func() {
		err := cmd.Wait()
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit):
			p.status = exit.ExitCode()
		case err != nil:
			p.status = -1
		}
		close(p.exited)
	}()
	return p, nil
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

func (p *process) signal(s os.Signal) error {
	if !p.running() {
		return errors.New("the process does not run")
	}
	return p.cmd.Process.Signal(s)
}

// wait returns the exit status once the process ended.
func (p *process) wait(within time.Duration) (int, error) {
	select {
	case <-p.exited:
		return p.status, nil
	case <-time.After(within):
		return 0, fmt.Errorf("process %d still runs after %s", p.cmd.Process.Pid, within)
	}
}

// end kills the process and waits for it.
func (p *process) end() {
	if p.running() {
		p.cmd.Process.Kill()
		<-p.exited
	}
}
