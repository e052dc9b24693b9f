package interconnect

import (
	"errors"
	"time"

	"plexus/engine/observe"
	"plexus/primitives/dns"
)

// The families of the interconnect. The label operation is the lane.
var (
	connectionsOpen = &observe.Family{Name: "plexus_interconnect_connections", Help: "Established connections between nodes.",
		Kind: observe.KindGauge, Labels: []string{"class", "direction"}}
	streamsOpen = &observe.Family{Name: "plexus_interconnect_streams", Help: "Exchanges in progress.",
		Kind: observe.KindGauge, Labels: []string{"class"}}
	operationsPending = &observe.Family{Name: "plexus_interconnect_pending_operations", Help: "Exchanges in progress, by the capacity they draw on.",
		Kind: observe.KindGauge, Labels: []string{"direction", "operation"}}
	connectionsEstablished = &observe.Family{Name: "plexus_interconnect_connections_established_total", Help: "Connections that were established.",
		Labels: []string{"class"}}
	connectionFailures = &observe.Family{Name: "plexus_interconnect_connection_failures_total", Help: "Connections that were lost, or not established.",
		Labels: []string{"class", "reason"}}
	streamResets = &observe.Family{Name: "plexus_interconnect_stream_resets_total", Help: "Exchanges that ended early.",
		Labels: []string{"class", "reason"}}
	quotaFailures = &observe.Family{Name: "plexus_interconnect_quota_failures_total", Help: "Exchanges that found no room.",
		Labels: []string{"direction", "operation"}}
	requestsDone = &observe.Family{Name: "plexus_interconnect_requests_total", Help: "Requests to other nodes that ended.",
		Labels: []string{"operation"}}
	requestSeconds = &observe.Family{Name: "plexus_interconnect_request_seconds_total", Help: "Time of requests to other nodes.",
		Labels: []string{"operation"}, Nanoseconds: true}
	bulkBytes = &observe.Family{Name: "plexus_interconnect_bulk_bytes_total", Help: "Bytes of messages of the classes relay and bulk.",
		Labels: []string{"class", "direction"}}
	memoryCapacity = &observe.Family{Name: "plexus_execution_memory_capacity_bytes", Help: "Memory budget of a class of messages between nodes.",
		Kind: observe.KindGauge, Labels: []string{"class"}}
	memoryReserved = &observe.Family{Name: "plexus_execution_memory_reserved_bytes", Help: "Memory that messages between nodes have taken.",
		Kind: observe.KindGauge, Labels: []string{"class"}}
	memoryRejections = &observe.Family{Name: "plexus_execution_memory_rejections_total", Help: "Messages that found no memory at once.",
		Labels: []string{"class"}}
)

// direction tells what this node began from what it serves.
type direction uint8

const (
	outward direction = iota
	inward
	directions
)

var directionNames = [directions]string{"outbound", "inbound"}

func directionOf(opened bool) direction {
	if opened {
		return outward
	}
	return inward
}

// failureReason is why a connection failed.
type failureReason uint8

const (
	failedSetup failureReason = iota
	failedHandshake
	failedCapacity
	failedClosed
	failedResolution
	failureReasons
)

var failureNames = [failureReasons]string{"setup", "handshake", "capacity", "closed", "resolution"}

// resetReason is why an exchange ended early.
type resetReason uint8

const (
	resetByDeadline resetReason = iota
	resetByCapacity
	resetByPeer
	resetByShutdown
	resetByMalformed
	resetReasons
)

var resetNames = [resetReasons]string{"deadline", "capacity", "peer", "shutdown", "malformed"}

// metrics are the instruments of one mesh.
type metrics struct {
	connections [classCount][directions]*observe.Gauge
	streams     [classCount]*observe.Gauge
	pending     [directions][laneCount]*observe.Gauge
	established [classCount]*observe.Counter
	failures    [classCount][failureReasons]*observe.Counter
	resets      [classCount][resetReasons]*observe.Counter
	quota       [directions][laneCount]*observe.Counter
	requests    [laneCount]*observe.Counter
	seconds     [laneCount]*observe.Counter
	bulk        [classCount][directions]*observe.Counter
}

func newMetrics(r *observe.Registry) *metrics {
	m := new(metrics)
	for class, name := range classNames {
		for d, direction := range directionNames {
			m.connections[class][d] = r.Gauge(connectionsOpen, name, direction)
			if Class(class) == Relay || Class(class) == Bulk {
				m.bulk[class][d] = r.Counter(bulkBytes, name, direction)
			}
		}
		m.streams[class] = r.Gauge(streamsOpen, name)
		m.established[class] = r.Counter(connectionsEstablished, name)
		for reason, text := range failureNames {
			m.failures[class][reason] = r.Counter(connectionFailures, name, text)
		}
		for reason, text := range resetNames {
			m.resets[class][reason] = r.Counter(streamResets, name, text)
		}
	}
	for lane, name := range laneNames {
		for d, direction := range directionNames {
			m.pending[d][lane] = r.Gauge(operationsPending, direction, name)
			m.quota[d][lane] = r.Counter(quotaFailures, direction, name)
		}
		m.requests[lane] = r.Counter(requestsDone, name)
		m.seconds[lane] = r.Counter(requestSeconds, name)
	}
	return m
}

// began and ended count the exchanges in progress.
func (m *metrics) began(s *Stream) {
	m.streams[s.c.class].Add(1)
	m.pending[directionOf(s.opened)][s.op.Lane()].Add(1)
}

func (m *metrics) ended(s *Stream, failure error) {
	m.streams[s.c.class].Add(-1)
	m.pending[directionOf(s.opened)][s.op.Lane()].Add(-1)
	if failure != nil {
		m.resets[s.c.class][resetReasonOf(failure)].Add(1)
	}
}

func resetReasonOf(failure error) resetReason {
	var e *TransportError
	switch {
	case !errors.As(failure, &e):
		return resetByPeer // a refusal
	case errors.Is(failure, ErrStopped):
		return resetByShutdown
	case errors.Is(failure, ErrMalformed), errors.Is(failure, ErrTooLarge), e.Phase == PhaseDecode:
		return resetByMalformed
	case e.Phase == PhaseTimeout, errors.Is(failure, ErrNoProgress):
		return resetByDeadline
	case e.Phase == PhaseAdmission:
		return resetByCapacity
	}
	return resetByPeer
}

// request counts an exchange that ended.
func (m *metrics) request(op Operation, took time.Duration) {
	m.requests[op.Lane()].Add(1)
	m.seconds[op.Lane()].Add(int(took))
}

// carried counts bytes of a message.
func (m *metrics) carried(c Class, d direction, n int) {
	if counter := m.bulk[c][d]; counter != nil {
		counter.Add(n)
	}
}

func (m *metrics) failed(c Class, reason failureReason) { m.failures[c][reason].Add(1) }

// attemptReason is why an attempt to connect failed.
func attemptReason(err error) failureReason {
	var (
		lookup  *dns.LookupError
		refused *SetupError
	)
	switch {
	case errors.As(err, &lookup):
		return failedResolution
	case errors.As(err, &refused) && (refused.Code == SetupBusy || refused.Code == SetupStopping):
		return failedCapacity
	case InPhase(err, PhaseAuthentication):
		return failedHandshake
	}
	return failedSetup
}

// observe shows what is not counted as it happens.
func (m *Mesh) observe(r *observe.Registry) {
	for class, memory := range m.memory {
		if Class(class) == Replication {
			continue // shares that of commands
		}
		r.Gauge(memoryCapacity, classNames[class]).Set(memory.size)
		memory.taken = r.Gauge(memoryReserved, classNames[class])
		memory.rejected = r.Counter(memoryRejections, classNames[class])
	}
}
