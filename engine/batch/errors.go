package batch

import "errors"

// ErrColumnFull says that one column cannot hold the bytes of all rows: the
// caller keeps the batches apart.
var ErrColumnFull = errors.New("column full")
