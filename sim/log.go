package sim

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"strings"
	"time"
)

// LogLine is one captured log line of a simulated process.
type LogLine struct {
	At    time.Duration
	Host  string
	Level slog.Level
	Text  string // message and attributes
}

func (l LogLine) String() string {
	return fmt.Sprintf("%12v %-10s %-5s %s", l.At, l.Host, l.Level, l.Text)
}

// recentLogs is how many last log lines a run keeps for its report.
const recentLogs = 512

type logs struct {
	lines []LogLine // a ring
	count int
}

// Logs returns the last log lines, oldest first.
func (s *Simulation) Logs() []LogLine {
	l := &s.logs
	if l.count <= recentLogs {
		return append([]LogLine(nil), l.lines...)
	}
	at := l.count % recentLogs
	return append(append([]LogLine(nil), l.lines[at:]...), l.lines[:at]...)
}

func (s *Simulation) newLogger(p *Process) *slog.Logger {
	return slog.New(&logHandler{process: p})
}

// logHandler captures lines with virtual time. The trace sees level and message
// but no attributes, whose text may hold addresses of memory.
type logHandler struct {
	process *Process
	prefix  string // attributes of With, rendered
	group   string
}

func (h *logHandler) Enabled(_ context.Context, l slog.Level) bool {
	return l >= h.process.sim.opts.LogLevel && !h.process.dead
}

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	s := h.process.sim
	sum := fnv.New64a()
	sum.Write([]byte(r.Message))
	s.note(KindLog, uint64(int64(r.Level)), sum.Sum64())
	var b strings.Builder
	b.WriteString(r.Message)
	b.WriteString(h.prefix)
	r.Attrs(func(a slog.Attr) bool {
		writeAttr(&b, h.group, a)
		return true
	})
	line := LogLine{At: time.Duration(s.now), Host: h.process.host.name, Level: r.Level, Text: b.String()}
	l := &s.logs
	if len(l.lines) < recentLogs {
		l.lines = append(l.lines, line)
	} else {
		l.lines[l.count%recentLogs] = line
	}
	l.count++
	if s.opts.Logs != nil {
		s.opts.Logs(line)
	}
	return nil
}

func writeAttr(b *strings.Builder, group string, a slog.Attr) {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		for _, inner := range v.Group() {
			writeAttr(b, group+a.Key+".", inner)
		}
		return
	}
	fmt.Fprintf(b, " %s%s=%v", group, a.Key, v.Any())
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var b strings.Builder
	b.WriteString(h.prefix)
	for _, a := range attrs {
		writeAttr(&b, h.group, a)
	}
	return &logHandler{h.process, b.String(), h.group}
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{h.process, h.prefix, h.group + name + "."}
}
