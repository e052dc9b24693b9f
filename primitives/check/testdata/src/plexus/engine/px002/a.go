package px002

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

func refused(ctx context.Context, x *int) {
	go func() {}()                     // want `PX002: go statement`
	runtime.Gosched()                  // want `PX002: runtime.Gosched`
	runtime.SetFinalizer(x, nil)       // want `PX002: runtime.SetFinalizer`
	_, stop := context.WithCancel(ctx) // want `PX002: context.WithCancel`
	stop()
	context.AfterFunc(ctx, func() {}) // want `PX002: context.AfterFunc`
	var g errgroup.Group              // want `PX002: errgroup.Group`
	_ = g
}

func accepted(ctx context.Context) context.Context {
	return context.WithValue(ctx, "key", "value")
}
