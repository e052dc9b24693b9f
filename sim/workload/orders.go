package workload

import (
	"bytes"
	"strconv"
)

// Orders is a sequence of JSON records of one size. What an order contains, and
// therefore what must become of it in the order pipeline, follows from the seed
// and its number alone.
type Orders struct{ Seed uint64 }

// OrderBytes is the size of every decodable order.
const OrderBytes = 128

// Order is one record.
type Order struct {
	Number uint64
	Broken bool // the payload does not decode
	Test   bool // the pipeline filters it
	Urgent bool
	Item   string
	Qty    int64 // zero for an order whose price cannot be computed
	Cents  int64
}

// Leaf is an end of the order pipeline, as a bit.
type Leaf uint8

// The leaves.
const (
	LeafPriced   Leaf = 1 << iota // the stream of priced orders
	LeafChannel                   // the channel of priced orders
	LeafNotified                  // the requests for urgent orders
	LeafRejected                  // the stream of orders without a price
	// LeafHandled has no external system: the order was consumed on the way.
	LeafHandled
)

// LeafNames are the words of reports, by bit.
var LeafNames = [...]string{"priced", "channel", "notified", "rejected"}

// Leaves returns every end that the order must reach, and no other.
func (o *Order) Leaves() Leaf {
	switch {
	case o.Broken, o.Test:
		return 0
	case o.Qty == 0:
		return LeafRejected
	case o.Urgent:
		return LeafPriced | LeafChannel | LeafNotified
	}
	return LeafPriced | LeafChannel
}

var orderItems = [...]string{"lamp", "chair", "desk", "shelf", "kettle", "carpet", "mirror", "clock"}

// One in this many orders is special.
const (
	brokenEvery = 509
	testEvery   = 8
	zeroEvery   = 127
	urgentEvery = 61
)

// Order returns the order with that number.
func (s Orders) Order(number uint64) Order {
	h := mix(number ^ s.Seed)
	o := Order{
		Number: number,
		Broken: h%brokenEvery == 0,
		Test:   h/brokenEvery%testEvery == 0,
		Urgent: h>>20%urgentEvery == 0,
		Item:   orderItems[h>>40%uint64(len(orderItems))],
		Qty:    1 + int64(h>>44%9),
		Cents:  int64(h >> 48 % 100_000),
	}
	if h>>30%zeroEvery == 0 {
		o.Qty = 0
	}
	return o
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

const orderPadding = "................................................................................"

// AppendPayload appends what the source holds for the order.
func (o *Order) AppendPayload(dst []byte) []byte {
	start := len(dst)
	dst = strconv.AppendUint(append(dst, `{"n":`...), o.Number, 10)
	dst = append(append(dst, `,"item":"`...), o.Item...)
	dst = strconv.AppendInt(append(dst, `","qty":`...), o.Qty, 10)
	dst = strconv.AppendInt(append(dst, `,"cents":`...), o.Cents, 10)
	urgent := `,"urgent":false`
	if o.Urgent {
		urgent = `,"urgent":true`
	}
	dst = append(append(dst, urgent...), `,"note":"`...)
	switch {
	case o.Broken:
		return dst[:len(dst)-1]
	case o.Test:
		dst = append(dst, "test"...)
	}
	left := OrderBytes - (len(dst) - start) - len(`"}`)
	return append(append(dst, orderPadding[:left]...), `"}`...)
}

// AppendExpected appends the document that the leaf must show for the order.
// LeafRejected shows more behind it: a reference that nobody can foresee.
func (o *Order) AppendExpected(dst []byte, leaf Leaf) []byte {
	dst = strconv.AppendUint(append(dst, `{"n":`...), o.Number, 10)
	if leaf == LeafRejected {
		return append(dst, `,"code":"evaluation"`...)
	}
	dst = append(dst, `,"item":"`...)
	dst = append(dst, bytes.ToUpper([]byte(o.Item))...)
	dst = strconv.AppendInt(append(dst, `","each":`...), o.Cents/o.Qty, 10)
	if leaf != LeafNotified {
		dst = strconv.AppendInt(append(dst, `,"qty":`...), o.Qty, 10)
	}
	return append(dst, '}')
}

// OrderNumber reads the number of any document of the pipeline.
func OrderNumber(document []byte) (number uint64, ok bool) {
	const key = `{"n":`
	if len(document) <= len(key) || string(document[:len(key)]) != key {
		return 0, false
	}
	i := len(key)
	for ; i < len(document) && document[i] >= '0' && document[i] <= '9'; i++ {
		number = number*10 + uint64(document[i]-'0')
	}
	return number, i > len(key)
}
