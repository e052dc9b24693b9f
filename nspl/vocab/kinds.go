package vocab

import "strings"

// EntityKind is a kind of declared thing. Names are unique per kind within a
// domain; domains and users are unique in the cluster.
type EntityKind uint8

// The kinds, configuration before runtime nodes.
const (
	EntityDomain EntityKind = iota + 1
	EntityUser
	EntityResource
	EntitySchema
	EntityWireJSON
	EntityWireCBOR
	EntityWireAvro
	EntityCodec
	EntityBranch
	EntityRelay
	EntityClient
	EntityVHost
	EntityEndpoint
	EntitySignaling
	EntityHashMap
	EntityUDF
	EntityPlacement
	EntityIngestor
	EntityReingestor
	EntityGenerator
	EntityJunction
	EntityDeduplicator
	EntityReorderer
	EntityCorrelator
	EntityWindow
	EntityInferencer
	EntityWASM
	EntityEmitter
)

var entityKindNames = [...]string{
	EntityDomain: "DOMAIN", EntityUser: "USER", EntityResource: "RESOURCE", EntitySchema: "SCHEMA",
	EntityWireJSON: "WIRE JSON SCHEMA", EntityWireCBOR: "WIRE CBOR SCHEMA", EntityWireAvro: "WIRE AVRO SCHEMA",
	EntityCodec: "CODEC", EntityBranch: "BRANCH", EntityRelay: "RELAY", EntityClient: "CLIENT", EntityVHost: "VHOST",
	EntityEndpoint: "ENDPOINT", EntitySignaling: "SIGNALING PROTOCOL", EntityHashMap: "HASH MAP", EntityUDF: "UDF",
	EntityPlacement: "PLACEMENT", EntityIngestor: "INGESTOR", EntityReingestor: "REINGESTOR", EntityGenerator: "GENERATOR",
	EntityJunction: "JUNCTION", EntityDeduplicator: "DEDUPLICATOR", EntityReorderer: "REORDERER",
	EntityCorrelator: "CORRELATOR", EntityWindow: "WINDOW PROCESSOR", EntityInferencer: "INFERENCER",
	EntityWASM: "WASM PROCESSOR", EntityEmitter: "EMITTER",
}

// EntityKinds lists every kind, in this order.
func EntityKinds() []EntityKind {
	list := make([]EntityKind, len(entityKindNames)-1)
	for i := range list {
		list[i] = EntityKind(i + 1)
	}
	return list
}

// Valid reports whether the kind is one of these.
func (k EntityKind) Valid() bool { return k > 0 && int(k) < len(entityKindNames) }

// String returns the keywords, as statements and errors write them.
func (k EntityKind) String() string { return entityKindNames[k] }

// Words returns the kind in lower case words, as results write it.
func (k EntityKind) Words() string { return strings.ToLower(entityKindNames[k]) }

// Snake returns the kind in lower snake case, as listings write it.
func (k EntityKind) Snake() string { return strings.ReplaceAll(k.Words(), " ", "_") }
