package px015

import (
	"fmt"
	"log"
	"log/slog"
)

func refused() {
	fmt.Println("x") // want `PX015: fmt.Println`
	log.Print("x")   // want `PX015: log.Print`
	slog.Info("x")   // want `PX015: slog.Info`
}

func accepted(l *slog.Logger) string {
	l.Info("x", slog.Int("n", 1))
	return fmt.Sprintf("x")
}
