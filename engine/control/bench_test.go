package control

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
	"plexus/real"
)

// BenchmarkPropose commits commands to a log on this machine's disk: one at a
// time, and many at once, which share synchronisations.
func BenchmarkPropose(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			w := real.NewWorld(real.Options{Log: slog.DiscardHandler})
			defer func() { _ = w.Close(5 * time.Second) }()
			g, err := Open(b.Context(), w, testSettings(b.TempDir()))
			if err != nil {
				b.Fatal(err)
			}
			if err := g.Start(context.Background()); err != nil {
				b.Fatal(err)
			}
			if err := g.Admit(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			tasks := primitives.NewGroup(context.Background(), w)
			for i := range writers {
				tasks.Go("writer", func(ctx context.Context) error {
					for n := i; n < b.N; n += writers {
						command := &catalogpb.Command{Steps: []*catalogpb.Step{createDomain(fmt.Sprintf("d%d", n))}}
						if _, err := g.Propose(ctx, command); err != nil {
							return err
						}
					}
					return nil
				})
			}
			if err := tasks.Wait(context.Background()); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			if err := g.Stop(context.Background()); err != nil {
				b.Fatal(err)
			}
		})
	}
}
