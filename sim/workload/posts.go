package workload

import (
	"bytes"
	"context"
	"net/netip"
	"slices"
	"time"

	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/http"
	"plexus/sim/oracle"
)

// LeafPosted is the stream of the endpoint pipeline.
const LeafPosted = 1

// Posts is the workload of callers that post orders to an endpoint, wrong ones
// among them.
type Posts struct {
	World  primitives.World
	Sim    *sim.Simulation
	To     netip.AddrPort
	Orders Orders
	// Sent is called for every order before it is posted.
	Sent func(number uint64)
	// Accepted is called for every order that the endpoint took.
	Accepted func(number uint64)
	// Wrong is called for an answer that no state of the node explains.
	Wrong func(what string, status int)

	last uint64
}

const (
	postBound = 3 * time.Second
	postHost  = "shop.example"
	postPath  = "/orders"
)

// Last returns the number of the latest order.
func (p *Posts) Last() uint64 { return p.last }

// Step posts one order, or something that is none.
func (p *Posts) Step(_ int, r *sim.Stream) {
	request := http.Request{Host: postHost, Path: postPath}
	switch r.Below(64) {
	case 0:
		request.Path = "/nowhere"
		p.refused("a wrong path", request, 404)
	case 1:
		request.Body = []byte(`{"n":`)
		// A quiesced intake keeps a body without looking into it.
		p.refused("a body that breaks off", request, 400, 202)
	case 2:
		request.Method = "GET"
		p.refused("another method", request, 405)
	default:
		p.last++
		p.Sent(p.last)
		o := p.Orders.Order(p.last)
		o.Broken = false
		request.Body = o.AppendPayload(nil)
		number := p.last
		if status := p.call(request); status == 202 {
			p.Accepted(number)
		} else if status != 0 && status != 503 {
			p.Wrong("an order", status)
		}
	}
}

// refused sends what must be refused; a node that does not serve says so too.
func (p *Posts) refused(what string, request http.Request, want ...int) {
	if status := p.call(request); status != 0 && status != 503 && !slices.Contains(want, status) {
		p.Wrong(what, status)
	}
}

// call returns the status of an answer, 0 for none.
func (p *Posts) call(request http.Request) int {
	deadline := p.World.Clock().Now().Add(postBound)
	response, err := http.Call(context.Background(), p.World, p.To, request, deadline)
	if err != nil {
		return 0
	}
	return response.Status
}

// Reference says what the endpoint pipeline makes of each order.
func (p *Posts) Reference() oracle.Reference {
	return oracle.Reference{
		Leaves: []string{"posts"},
		Expect: func(uint64) uint8 { return LeafPosted },
		Number: OrderNumber,
		Check: func(document []byte, _ uint8, number uint64) bool {
			o := p.Orders.Order(number)
			return bytes.Contains(document, bytes.ToUpper([]byte(o.Item)))
		},
	}
}
