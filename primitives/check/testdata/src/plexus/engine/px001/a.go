package px001

import (
	"context"
	"time"
)

type holder struct {
	timer *time.Timer // want `PX001: time.Timer; use World.Clock`
}

func refused(ctx context.Context) {
	_ = time.Now()          // want `PX001: time.Now`
	time.Sleep(time.Second) // want `PX001: time.Sleep`
	clock := time.Since     // want `PX001: time.Since`
	_ = clock
	ctx, stop := context.WithTimeout(ctx, time.Second) // want `PX001: context.WithTimeout`
	stop()
	_, stop = context.WithDeadlineCause(ctx, time.Time{}, nil) // want `PX001: context.WithDeadlineCause`
	stop()
}

func accepted(t time.Time) time.Duration {
	return t.Sub(time.Unix(0, 0)).Round(time.Millisecond)
}
