package catalog

// Format numbers commands, records and everything persisted from them. Nodes of
// one cluster run one format.
const Format = 1

// CommandBytesMax bounds one encoded command: it has to fit a raft message with
// room for its neighbours.
const CommandBytesMax = 3 << 19

// ExecutionsMax bounds the history of execution references.
const ExecutionsMax = 65536
