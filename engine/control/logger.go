package control

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"plexus/primitives/invariant"
)

// raftLogger binds the library to the node's log. The library tells much about
// ordinary elections, so its information is for debugging here. Fatal and Panic
// are its broken invariants: the node ends with the message.
type raftLogger struct{ log *slog.Logger }

func (l *raftLogger) Debug(v ...any) { l.debug(func() string { return fmt.Sprint(v...) }) }
func (l *raftLogger) Debugf(f string, v ...any) {
	l.debug(func() string { return fmt.Sprintf(f, v...) })
}
func (l *raftLogger) Info(v ...any) { l.debug(func() string { return fmt.Sprint(v...) }) }
func (l *raftLogger) Infof(f string, v ...any) {
	l.debug(func() string { return fmt.Sprintf(f, v...) })
}
func (l *raftLogger) Warning(v ...any) { l.log.Warn("raft: " + fmt.Sprint(v...)) }
func (l *raftLogger) Warningf(f string, v ...any) {
	l.log.Warn("raft: " + fmt.Sprintf(f, v...))
}
func (l *raftLogger) Error(v ...any)            { l.log.Error("raft: " + fmt.Sprint(v...)) }
func (l *raftLogger) Errorf(f string, v ...any) { l.log.Error("raft: " + fmt.Sprintf(f, v...)) }
func (l *raftLogger) Fatal(v ...any)            { invariant.That(false, "raft: "+fmt.Sprint(v...)) }
func (l *raftLogger) Fatalf(f string, v ...any) { invariant.Thatf(false, "raft: "+f, v...) }
func (l *raftLogger) Panic(v ...any)            { invariant.That(false, "raft: "+fmt.Sprint(v...)) }
func (l *raftLogger) Panicf(f string, v ...any) {
	if strings.HasPrefix(f, "tocommit(") {
		panic(lostLog{})
	}
	invariant.Thatf(false, "raft: "+f, v...)
}

// lostLog is what the library finds when a leader commits entries that this member
// had acknowledged and does not have: its log was cut between two records, which
// recovery cannot tell from an append that never finished.
type lostLog struct{}

// debug builds the text only for a log that shows it: the library says several
// things about every message.
func (l *raftLogger) debug(text func() string) {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		l.log.Debug("raft: " + text())
	}
}
