package px005

import (
	"bufio"
	"crypto/tls"
	"net"
	"net/http"
)

func refused() {
	net.Dial("tcp", "x")   // want `PX005: net.Dial`
	net.Listen("tcp", "x") // want `PX005: net.Listen`
	var d net.Dialer       // want `PX005: net.Dialer`
	_ = d
	http.Get("x")             // want `PX005: http.Get`
	_ = http.DefaultClient    // want `PX005: http.DefaultClient`
	_ = &http.Server{}        // want `PX005: http.Server`
	tls.Dial("tcp", "x", nil) // want `PX005: tls.Dial`
}

func accepted(c net.Conn) (*http.Response, error) {
	secure := tls.Client(c, nil)
	return http.ReadResponse(bufio.NewReader(secure), nil)
}
