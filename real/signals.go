package real

import (
	"os"
	"os/signal"
	"syscall"

	"plexus/primitives"
)

// StopSignals returns a notice that is raised each time the process is asked to
// end (SIGINT, SIGTERM), from the call on. release gives the signals back to
// their default, so that a second request ends the process at once.
func (w *World) StopSignals() (asked *primitives.Notice, release func()) {
	asked = primitives.NewNotice(w)
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for {
			select {
			case <-signals:
				asked.Raise()
			case <-done:
				return
			}
		}
	}()
	return asked, func() {
		signal.Stop(signals)
		close(done)
	}
}
