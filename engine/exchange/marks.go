package exchange

import (
	"encoding/binary"

	"plexus/engine/observe"
	"plexus/primitives/invariant"
)

// Branches that campaigns must reach.
var (
	channelBusy             = invariant.Sometimes("a delivery waited for the slot of its channel")
	channelRotated          = invariant.Sometimes("an idle delivery channel got a new incarnation")
	positionsFull           = invariant.Sometimes("a delivery waited for a position")
	generationsOver         = invariant.Sometimes("a delivery position ran out of generations")
	peerUnknown             = invariant.Sometimes("a delivery waited for a process of its node")
	fiveMinutes             = invariant.Sometimes("a delivery gave up at its admission bound")
	cancelledUnsent         = invariant.Sometimes("a delivery was cancelled before its body was sent")
	cancelUnanswered        = invariant.Sometimes("a cancellation of a delivery found no answer")
	cancelUnreachable       = invariant.Sometimes("a cancellation did not wait for a node that is out of reach")
	admittedWhileCancelling = invariant.Sometimes("admission won against cancellation")
	cancelWon               = invariant.Sometimes("cancellation won against admission")
	statusAfterLoss         = invariant.Sometimes("a delivery was reconciled by its status")
	transferLost            = invariant.Sometimes("the transfer of a relay body broke")
	notReadyYet             = invariant.Sometimes("a receiver was not ready for a delivery")
	offeredAgain            = invariant.Sometimes("a delivery was offered again under the next identity")
	departedOpen            = invariant.Sometimes("rows were open at a process that departed")
	departedUndecided       = invariant.Sometimes("a delivery was undecided at a process that departed")
	retargeted              = invariant.Sometimes("a delivery went to the next process of its node")
	staleReport             = invariant.Sometimes("a row report named an old registration")
	staleProgress           = invariant.Sometimes("an older progress report came later")
	reportBeforeVerdict     = invariant.Sometimes("a row report overtook the verdict")
	ackSilence              = invariant.Sometimes("a forwarded acknowledgement was lost in silence")
	deliveryHeld            = invariant.Sometimes("a delivery was held for lack of memory")
	grantLapsed             = invariant.Sometimes("a grant of a delivery lapsed")
	watermarksFull          = invariant.Sometimes("no new delivery channel could be remembered")
	contentConflict         = invariant.Sometimes("one delivery identity came with two contents")
	repeatedIdentity        = invariant.Sometimes("a decided delivery was asked for again")
	superseded              = invariant.Sometimes("a newer incarnation of a channel ended an older one")
	cancelRaced             = invariant.Sometimes("a cancellation met the decision of the graph")
	fencedUnseen            = invariant.Sometimes("a cancellation came before the grant request")
	senderReplaced          = invariant.Sometimes("deliveries of a replaced process were dropped")
	rowsBeforeVerdict       = invariant.Sometimes("rows finished before their delivery was admitted")
	reportGivenUp           = invariant.Sometimes("row reports were given up")
	sendMemoryFull          = invariant.Sometimes("a batch waited for memory to be encoded")
	eventExhausted          = invariant.Sometimes("an event of a delivery found no confirmation")
	exchangeStalled         = invariant.Sometimes("an undecided delivery stalled")
)

// series are the metrics of the exchange of a node.
type series struct {
	active        *observe.Gauge
	silence       *observe.Counter
	admissionWait *observe.Counter
	verdicts      [states]*observe.Counter // as a receiver
}

func newSeries(r *observe.Registry) *series {
	s := &series{
		active:        r.Gauge(observe.RemoteDeliveries),
		silence:       r.Counter(observe.RemoteAckSilence),
		admissionWait: r.Counter(observe.RelayAdmissionWait),
	}
	for _, v := range []state{stateAdmitted, stateRejected, stateCancelled} {
		s.verdicts[v] = r.Counter(observe.RelayAdmissions, v.String())
	}
	return s
}

// number is an epoch in events.
func number(e Epoch) uint64 { return binary.BigEndian.Uint64(e[:]) }
