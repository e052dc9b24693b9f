package dns

import "time"

const (
	// lookupsMax keeps a burst of reconnects from flooding the name servers.
	lookupsMax = 64

	cacheEntriesMax = 4096
	positiveTTLMax  = time.Hour
	// negativeTTLMax is short: a name that was missing is usually being created.
	negativeTTLMax = 30 * time.Second

	// serversAtOnce is the number of servers that one question goes to together.
	serversAtOnce = 2

	// datagramBytesMax is announced with EDNS; it passes every common path
	// without fragments.
	datagramBytesMax = 1232
	// receiveBytesMax is room for servers that send more than they should.
	receiveBytesMax = 4096

	// Names, in their textual form without the final dot.
	nameBytesMax  = 253
	labelBytesMax = 63

	// aliasesMax bounds the CNAME records followed within one answer.
	aliasesMax = 16

	// fileBytesMax bounds the configuration and hosts files.
	fileBytesMax = 4 << 20

	// Options of the configuration file are capped as the C library caps them.
	ndotsMax    = 15
	timeoutMax  = 30 * time.Second
	attemptsMax = 5

	serverPort = 53
)
