package px007

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

func refused() {
	os.Open("x")       // want `PX007: os.Open`
	_ = os.Getenv("x") // want `PX007: os.Getenv`
	_ = os.Args        // want `PX007: os.Args`
	os.Exit(1)         // want `PX007: os.Exit`
	exec.Command("x")  // want `PX007: exec.Command`
	filepath.Glob("x") // want `PX007: filepath.Glob`
	syscall.Getpid()   // want `PX007: syscall.Getpid`
}

func accepted(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || filepath.Base("x") == ""
}
