package px006

import "net"

func refused() {
	net.LookupHost("x")              // want `PX006: net.LookupHost`
	_ = net.DefaultResolver          // want `PX006: net.DefaultResolver`
	net.ResolveTCPAddr("tcp", "x:1") // want `PX006: net.ResolveTCPAddr`
}

func accepted() net.IP { return net.ParseIP("127.0.0.1") }
