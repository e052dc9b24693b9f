package vocab

import "strings"

// EntityKind is a kind of declared thing. Names are unique per kind within a
// domain; domains and users are unique in the cluster.
type EntityKind uint8

// The kinds, configuration before runtime nodes. EntityBranch can be referred
// to, and is then always missing, until branches can be declared.
const (
	EntityDomain EntityKind = iota + 1
	EntityUser
	EntitySchema
	EntityWireJSON
	EntityCodec
	EntityBranch
	EntityRelay
	EntityClient
	EntityVHost
	EntityEndpoint
	EntityPlacement
	EntityIngestor
	EntityJunction
	EntityEmitter
)

var entityKindNames = [...]string{"", "DOMAIN", "USER", "SCHEMA", "WIRE JSON SCHEMA", "CODEC", "BRANCH", "RELAY", "CLIENT",
	"VHOST", "ENDPOINT", "PLACEMENT", "INGESTOR", "JUNCTION", "EMITTER"}

// Valid reports whether the kind is one of these.
func (k EntityKind) Valid() bool { return k > 0 && int(k) < len(entityKindNames) }

// String returns the keywords, as statements and errors write them.
func (k EntityKind) String() string { return entityKindNames[k] }

// Words returns the kind in lower case words, as results write it.
func (k EntityKind) Words() string { return strings.ToLower(entityKindNames[k]) }

// Snake returns the kind in lower snake case, as listings write it.
func (k EntityKind) Snake() string { return strings.ReplaceAll(k.Words(), " ", "_") }
