package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"plexus/real"
)

// rowsBeside is how many lines arrive while a line is typed.
const rowsBeside = 60

// TestPromptChild is the program of the next test: a prompt on its terminal, beside
// which lines arrive from several tasks.
func TestPromptChild(t *testing.T) {
	if os.Getenv("PLEXUS_PROMPT_CHILD") == "" {
		t.Skip("it is the other end of a test")
	}
	w := real.NewWorld(real.Options{})
	q := &prompt{program: &program{terminal: &terminal{in: os.Stdin, out: os.Stdout, err: os.Stderr}, world: w, options: &options{}}}
	e := newEditor(context.Background(), q, loadHistory())
	e.shell.Prompt.Primary(func() string {
		e.drawn()
		return "plexus> "
	})
	arrived := make(chan bool, 2)
	for task := range 2 {
		go func() {
			defer func() { arrived <- true }()
			for i := range rowsBeside / 2 {
				fmt.Fprintf(e.held, "[rows] %d of %d\n", i, task)
				time.Sleep(3 * time.Millisecond)
			}
		}()
	}
	text, err := e.line("")
	fmt.Printf("typed %q, %v\n", text, err)
	<-arrived
	<-arrived
	e.held.print(os.Stdout)
	os.Exit(0)
}

// Lines that arrive while somebody types stand whole above the prompt, in order, and
// no key gets lost.
func TestRowsAbovePrompt(t *testing.T) {
	typing, program := pseudoTerminal(t)
	child := exec.Command(os.Args[0], "-test.run=^TestPromptChild$")
	child.Env = append(os.Environ(), "PLEXUS_PROMPT_CHILD=1", "TERM=xterm", "XDG_STATE_HOME="+t.TempDir())
	child.Stdin, child.Stdout, child.Stderr = program, program, program
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close()
	shown := make(chan string, 1)
	go func() {
		var all strings.Builder
		chunk := make([]byte, 4096)
		for {
			n, err := typing.Read(chunk)
			all.Write(chunk[:n])
			if err != nil { // the child is gone
				shown <- all.String()
				return
			}
		}
	}()
	const text = "SHOW CREATE RELAY readings;"
	time.Sleep(200 * time.Millisecond) // it may take its terminal over first; keys wait either way
	for _, key := range text + "\r" {
		if _, err := typing.WriteString(string(key)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Millisecond)
	}
	stuck := time.AfterFunc(20*time.Second, func() { child.Process.Kill() })
	defer stuck.Stop()
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	out := <-shown
	if want := fmt.Sprintf("typed %q, <nil>", text); !strings.Contains(out, want) {
		t.Errorf("no %s in %q", want, out)
	}
	for task := range 2 {
		at := 0
		for i := range rowsBeside / 2 {
			row := fmt.Sprintf("[rows] %d of %d\r\n", i, task)
			found := strings.Index(out[at:], row)
			if found < 0 {
				t.Fatalf("%q is torn or missing behind %d of %q", row, at, out)
			}
			at += found
		}
	}
}
