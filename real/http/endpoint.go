package http

import (
	"net/http"
	"net/netip"
	"time"

	"plexus/connectors/contract"
	"plexus/primitives"
)

// endpointReadTime bounds one whole request: 16 MiB on a slow line.
const endpointReadTime = 2 * time.Minute

// EndpointServer serves HTTP endpoints with net/http.
type EndpointServer struct{ listener }

// NewEndpointServer returns a server for an address; port 0 picks a free one.
func NewEndpointServer(w primitives.World, addr netip.AddrPort) *EndpointServer {
	return &EndpointServer{listener{world: w, addr: addr}}
}

// Start implements contract.EndpointServer.
func (s *EndpointServer) Start(handler contract.EndpointHandler) error {
	return s.serve(&http.Server{
		Handler: http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
			answer(out, handler(in.Context(), request(in)))
		}),
		ReadTimeout: endpointReadTime,
	})
}

func request(in *http.Request) *contract.EndpointRequest {
	return &contract.EndpointRequest{
		Method:  in.Method,
		Host:    contract.EndpointHost(in.Host),
		Path:    in.URL.Path,
		Headers: contract.EndpointHeaders(in.Host, in.Header),
		ReadBody: func() ([]byte, error) {
			return contract.ReadEndpointBody(in.Body, in.ContentLength)
		},
	}
}

func answer(out http.ResponseWriter, a contract.EndpointAnswer) {
	for _, field := range a.Fields() {
		out.Header().Set(field.Name, field.Value)
	}
	out.WriteHeader(a.Status)
	out.Write([]byte(a.Body))
}

var _ contract.EndpointServer = (*EndpointServer)(nil)
