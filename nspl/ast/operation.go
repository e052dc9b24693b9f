package ast

import "plexus/nspl/vocab"

// AlterRelay is ALTER RELAY.
type AlterRelay struct {
	Alter
	Changes []RelayChange
}

// RelayOp says which operation of ALTER RELAY it is.
type RelayOp uint8

// The operations.
const (
	RelaySetCapacity RelayOp = iota // SET CAPACITY n
	RelaySetSchema                  // SET SCHEMA s
	RelaySetBranch                  // SET BRANCHED BY b | SET UNBRANCHED
	RelaySetState                   // SET MATERIALIZED STATE LAST BY TIMESTAMP
	RelayDropState                  // DROP MATERIALIZED STATE
)

// RelayChange is one operation. The fields belong to the operations of their name.
type RelayChange struct {
	Op       RelayOp
	Capacity Uint
	Schema   Name
	Branch   BranchUse
	Span     vocab.Span
}

// AlterNode is ALTER of a runtime node other than a relay.
type AlterNode struct {
	Alter
	Kind    vocab.EntityKind
	Changes []NodeChange
}

// NodeOp says which operation of ALTER of a runtime node it is.
type NodeOp uint8

// The operations.
const (
	NodeAddInput        NodeOp = iota // ADD FROM r (WHERE e)?
	NodeDropInput                     // DROP FROM r
	NodeSetInputWhere                 // ALTER FROM r SET WHERE e
	NodeDropInputWhere                // ALTER FROM r DROP WHERE
	NodeSetCollect                    // SET COLLECT FOR …
	NodeDropCollect                   // DROP COLLECT
	NodeSetFilter                     // SET FILTER WHERE e
	NodeDropFilter                    // DROP FILTER WHERE
	NodeSetAttachment                 // SET ATTACHED | SET DETACHED
	NodeSetBranch                     // SET BRANCHED BY b | SET UNBRANCHED
	NodeAddState                      // ADD MATERIALIZED STATE r policy
	NodeDropState                     // DROP MATERIALIZED STATE r
	NodeSetStatePolicy                // ALTER MATERIALIZED STATE r SET policy
	NodeAddRoute                      // ADD ROUTE TO r …
	NodeDropRoute                     // DROP ROUTE TO r
	NodeReplaceRoute                  // REPLACE ROUTE TO r …
	NodeSetKeys                       // SET DEDUPLICATE ON e, … | SET BY e, …
	NodeSetMaxTime                    // SET MAX TIME d
	NodeSetFeed                       // SET MATERIALIZED STATE r
	NodeSetEach                       // SET EACH d
	NodeSetSource                     // SET FROM source
	NodeSetQuiesce                    // SET QUIESCE body
	NodeSetDecode                     // SET DECODE USING c
	NodeSetTimestamp                  // SET TIMESTAMP NOW | SET TIMESTAMP AT f
	NodeDropTimestamp                 // DROP TIMESTAMP
	NodeSetGeneralError               // SET GENERAL ERROR IGNORE | LOG
	NodeSetSink                       // SET TO sink
	NodeSetMode                       // SET MODE body
	NodeSetClient                     // SET CLIENT c
	NodeSetEncode                     // SET ENCODE USING c
	NodeDropEncode                    // DROP ENCODE
	NodeSetBatch                      // SET BATCH MAX MESSAGES n MAX SIZE b
	NodeDropBatch                     // DROP BATCH
	NodeSetFlush                      // SET FLUSH …
	NodeSetCommit                     // SET COMMIT EACH d MAX SIZE b
)

// NodeChange is one operation. The fields belong to the operations of their name;
// Name is the relay, codec or client that the operation names.
type NodeChange struct {
	Op           NodeOp
	Name         Name
	Where        Expr
	Collect      *Collect
	Attachment   Attachment
	Branch       BranchUse
	State        StateDep
	Route        Route
	Keys         []Expr
	Duration     Duration
	Source       Source
	Quiesce      Quiesce
	Timestamp    *Timestamp
	GeneralError GeneralError
	Sink         Sink
	Body         *Body // of SET TO HTTP
	Mode         SinkMode
	Batch        Batch
	Flush        Flush
	Commit       CommitEach
	Span         vocab.Span
}
