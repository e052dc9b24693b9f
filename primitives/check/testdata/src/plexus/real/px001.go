package real

import "time"

func acceptedInReal() time.Time { return time.Now() }
