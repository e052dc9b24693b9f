package main

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// pseudoTerminal returns the two ends of a terminal: the one of who types, and
// the one of the program.
func pseudoTerminal(t *testing.T) (typing, program *os.File) {
	t.Helper()
	typing, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals here:", err)
	}
	t.Cleanup(func() { typing.Close() })
	var locked, number int32
	control(t, typing, syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	control(t, typing, syscall.TIOCGPTN, unsafe.Pointer(&number))
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return typing, program
}

func control(t *testing.T, file *os.File, request uintptr, argument unsafe.Pointer) {
	t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), request, uintptr(argument)); errno != 0 {
		t.Fatal(errno)
	}
}

func echoes(t *testing.T, file *os.File) bool {
	t.Helper()
	var settings syscall.Termios
	control(t, file, syscall.TCGETS, unsafe.Pointer(&settings))
	return settings.Lflag&syscall.ECHO != 0
}

// One signal ends the program while it asks for the password, and the terminal
// shows what is typed again.
func TestSignalEndsTheQuestionForThePassword(t *testing.T) {
	t.Chdir(t.TempDir()) // no node left its password here
	t.Setenv("PLEXUS_PASSWORD", "")
	typing, program := pseudoTerminal(t)
	ended := make(chan int, 1)
	var out, errs bytes.Buffer
	go func() { ended <- run([]string{"exec", "LIST DOMAINS"}, &terminal{in: program, out: &out, err: &errs}) }()
	for deadline := time.Now().Add(10 * time.Second); echoes(t, typing); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the terminal still shows what is typed")
		}
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case status := <-ended:
		if status != statusInterrupted {
			t.Errorf("status %d: %s", status, errs.String())
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the program still waits for the password")
	}
	if !echoes(t, typing) {
		t.Error("the terminal does not show what is typed")
	}
}
