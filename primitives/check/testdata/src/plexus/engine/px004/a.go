package px004

import (
	"sync"
	"sync/atomic"
)

type refused struct {
	mu   sync.Mutex // want `PX004: sync.Mutex`
	pool sync.Pool  // want `PX004: sync.Pool`
}

type accepted struct{ n atomic.Int64 }
