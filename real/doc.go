// Package real builds a World on the operating system: tasks are goroutines,
// sockets and files are the system's, entropy is the kernel's.
//
// A World counts what was started and opened through it, so that a daemon can
// list its tasks with what they wait for and a test can prove that nothing was
// left behind.
//
// The package builds for wasip1 as well. What that platform lacks fails with an
// error that is errors.ErrUnsupported.
//
// It imports primitives, never sim, engine or a connector.
package real
