package parse

// TextBytesMax bounds the text of one request.
const TextBytesMax = 4 << 20

// HostBytesMax bounds a host name.
const HostBytesMax = 253

const (
	// nestingMax bounds the recursion of expressions and types.
	nestingMax = 128
	// chainMax bounds the operators of one precedence level in a row: a chain is a
	// tree as deep as it is long, and every later pass walks it.
	chainMax = 1024
	// typeNestingMax is how deep lists of lists may go.
	typeNestingMax = 16
	nameBytesMax   = 128
)
