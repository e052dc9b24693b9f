package exchange

import "time"

// Limits are the bounds of an exchange. The zero value of a field is its
// default.
type Limits struct {
	Admission       time.Duration // from the offer of a batch to its verdict
	Request         time.Duration // one question and its answer
	Grant           time.Duration // validity of a grant
	EventRetry      time.Duration // tries of one event
	ReportRetention time.Duration // from a row's outcome until its report is given up
	Progress        time.Duration // between two progress reports
	Sweep           time.Duration // between two sweeps
	StallSweeps     int           // without a report before the verdict
	SilenceSweeps   int           // without a report after admission
	Rotation        time.Duration // idle channels get a new incarnation
	Watermark       time.Duration // idle channels are remembered
	HeldRetry       time.Duration // between two questions of a held delivery
	RetryMin        time.Duration // after a failure, doubling
	RetryMax        time.Duration

	Deliveries  int    // positions of shares
	Admissions  int    // dispatches before their verdict, in each direction
	Generations uint32 // of a position
	Channels    int    // watermarks of all senders

	SendMemory    int64 // encoded bodies
	ReceiveMemory int64 // bodies before their verdict, and watches
	WatchMemory   int64 // of it, watches at most
	Body          int   // bytes of one body
}

// Charges of one watch.
const (
	watchCost    = 256
	watchRowCost = 64
)

// A body is charged with its bytes, its watermarks as slices and its arrays.
const (
	decodeCost    = 4 << 10
	decodeRowCost = 16
)

// noteMax bounds what travels beside a batch.
const noteMax = 16 << 10

func (l Limits) withDefaults() Limits {
	d := Limits{
		Admission: 5 * time.Minute, Request: 10 * time.Second, Grant: 5 * time.Second,
		EventRetry: 5 * time.Second, ReportRetention: 30 * time.Second,
		Progress: 100 * time.Millisecond, Sweep: time.Second, StallSweeps: 5, SilenceSweeps: 15,
		Rotation: 5 * time.Minute, Watermark: 10 * time.Minute,
		HeldRetry: time.Second, RetryMin: 50 * time.Millisecond, RetryMax: time.Second,
		Deliveries: 1 << positionBits, Admissions: 8192, Generations: 1<<generationBits - 1, Channels: 1 << 16,
		SendMemory: 64 << 20, ReceiveMemory: 128 << 20, WatchMemory: 64 << 20, Body: BodyMax,
	}
	or(&l.Admission, d.Admission)
	or(&l.Request, d.Request)
	or(&l.Grant, d.Grant)
	or(&l.EventRetry, d.EventRetry)
	or(&l.ReportRetention, d.ReportRetention)
	or(&l.Progress, d.Progress)
	or(&l.Sweep, d.Sweep)
	or(&l.StallSweeps, d.StallSweeps)
	or(&l.SilenceSweeps, d.SilenceSweeps)
	or(&l.Rotation, d.Rotation)
	or(&l.Watermark, d.Watermark)
	or(&l.HeldRetry, d.HeldRetry)
	or(&l.RetryMin, d.RetryMin)
	or(&l.RetryMax, d.RetryMax)
	or(&l.Deliveries, d.Deliveries)
	or(&l.Admissions, d.Admissions)
	or(&l.Generations, d.Generations)
	or(&l.Channels, d.Channels)
	or(&l.SendMemory, d.SendMemory)
	or(&l.ReceiveMemory, d.ReceiveMemory)
	or(&l.WatchMemory, d.WatchMemory)
	or(&l.Body, d.Body)
	return l
}

func or[T comparable](field *T, standard T) {
	var zero T
	if *field == zero {
		*field = standard
	}
}
