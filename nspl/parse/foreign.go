package parse

import (
	"slices"
	"strings"

	"plexus/nspl/vocab"
)

// typeWords are the words that types begin with.
var typeWords = func() []string {
	words := []string{"VEC", "ARRAY"}
	for _, s := range scalars {
		words = append(words, s.name)
	}
	return words
}()

// foreignWords are words of other languages and what they are called here; the
// first that can stand is meant.
var foreignWords = map[string][]string{
	"INT": {"I64", "INTEGER", "INT"}, "INTEGER": {"I64", "INT", "INTEGER"}, "BIGINT": {"I64", "LONG", "INTEGER"}, "LONG": {"I64", "INTEGER"},
	"SMALLINT": {"I16", "INT", "INTEGER"}, "TINYINT": {"I8", "INT", "INTEGER"}, "BYTE": {"U8", "INT", "INTEGER"}, "SHORT": {"I16", "INT", "INTEGER"},
	"UINT": {"U64", "LONG", "INTEGER"}, "UNSIGNED": {"U64", "LONG", "INTEGER"}, "INT8": {"I8"}, "INT16": {"I16"}, "INT32": {"I32"}, "INT64": {"I64"},
	"UINT8": {"U8"}, "UINT16": {"U16"}, "UINT32": {"U32"}, "UINT64": {"U64"}, "SERIAL": {"I64"},
	"U8": {"INTEGER", "INT"}, "U16": {"INTEGER", "INT"}, "U32": {"INTEGER", "LONG"}, "U64": {"INTEGER", "LONG"},
	"I8": {"INTEGER", "INT"}, "I16": {"INTEGER", "INT"}, "I32": {"INTEGER", "INT"}, "I64": {"INTEGER", "LONG"}, "F32": {"NUMBER", "FLOAT"}, "F64": {"NUMBER", "DOUBLE"},
	"FLOAT": {"F64", "NUMBER"}, "DOUBLE": {"F64", "NUMBER"}, "REAL": {"F32", "NUMBER", "FLOAT"}, "FLOAT32": {"F32", "NUMBER", "FLOAT"}, "FLOAT64": {"F64", "NUMBER", "DOUBLE"},
	"DECIMAL": {"F64", "NUMBER", "DOUBLE"}, "NUMERIC": {"F64", "NUMBER", "DOUBLE"}, "NUMBER": {"F64", "DOUBLE"},
	"BOOLEAN": {"BOOL"}, "BOOL": {"BOOLEAN"},
	"VARCHAR": {"STRING"}, "CHAR": {"STRING"}, "TEXT": {"STRING"}, "STR": {"STRING"}, "UTF8": {"STRING"}, "UUID": {"STRING"}, "JSON": {"STRING", "OBJECT"},
	"BLOB": {"BYTES"}, "BYTEA": {"BYTES"}, "BINARY": {"BYTES"}, "VARBINARY": {"BYTES"},
	"TIMESTAMP": {"DATETIME", "STRING", "LONG"}, "TIMESTAMPTZ": {"DATETIME", "STRING", "LONG"}, "DATE": {"DATETIME", "STRING"}, "TIME": {"DATETIME", "STRING"},
	"DATETIME": {"STRING", "LONG"}, "LIST": {"VEC", "ARRAY"}, "VECTOR": {"VEC", "ARRAY"}, "VEC": {"ARRAY"}, "STRUCT": {"OBJECT", "RECORD"}, "OBJECT": {"RECORD"}, "RECORD": {"OBJECT"},
	"COLUMN": {"FIELD"}, "COLUMNS": {"FIELD"}, "INTO": {"TO"}, "REMOVE": {"DROP"}, "DELETE": {"DROP"}, "MODIFY": {"ALTER"}, "CHANGE": {"ALTER"}, "UPDATE": {"ALTER", "SET"},
	"PARTITIONED": {"BRANCHED"}, "PARTITION": {"BRANCHED"}, "GROUP": {"BRANCHED"}, "DATABASE": {"DOMAIN"}, "NAMESPACE": {"DOMAIN"}, "STREAM": {"RELAY"}, "TABLE": {"RELAY"},
	"SOURCE": {"INGESTOR"}, "SINK": {"EMITTER"}, "FUNCTION": {"UDF"}, "CONNECTION": {"CLIENT"}, "CONNECTOR": {"CLIENT"}, "WINDOW": {"WINDOW PROCESSOR"}, "WASM": {"WASM PROCESSOR"},
	"DEFINE": {"CREATE"}, "DECLARE": {"CREATE"}, "NEW": {"CREATE"}, "ADD": {"CREATE"},
	"HAVING": {"WHERE"}, "IF": {"WHERE"}, "SELECT": {"SET"}, "ORDER": {"BY"}, "SORT": {"BY"}, "IDENTIFIED": {"WITH"}, "ROLLBACK": {"REVERT"}, "ABORT": {"REVERT"}, "CONNECT": {"USE"},
	"RUN": {"START"}, "RESUME": {"START"}, "PAUSE": {"STOP"}, "HALT": {"STOP"}, "ERROR": {"ON"}, "SKIP": {"IGNORE", "DROP"}, "DISCARD": {"DROP", "IGNORE"}, "NOACK": {"NO_ACK"},
	"WEBSOCKET": {"WEBSOCKETS"}, "POSTGRESQL": {"POSTGRES"}, "ELASTIC": {"ELASTICSEARCH"}, "INFLUX": {"INFLUXDB"}, "OPENTELEMETRY": {"OTEL"}, "OTLP": {"OTEL"}, "MONGO": {"MONGODB"},
	"MARIADB": {"MYSQL"}, "AMQP": {"RABBITMQ"}, "JETSTREAM": {"NATS"}, "AZURE": {"AZURE_BLOB"}, "ICEBERG": {"ICEBERG_REST"}, "ABS": {"AZURE_BLOB"},
}

// foreign proposes what a word of another language is called among the words that
// can stand.
func foreign(word string, words []string) string {
	for _, meant := range foreignWords[word] {
		first, _, _ := strings.Cut(meant, " ")
		if first != word && slices.Contains(words, first) {
			return "did you mean " + meant + "?"
		}
	}
	return ""
}

// kindHint proposes something for a kind of entity, and for the words of other
// languages that begin a statement, where the statement has none of them.
func (p *parser) kindHint(word string) string {
	if p.furthest == 0 || p.tokens[p.furthest-1].kind == ';' {
		switch word {
		case "SELECT":
			return "CREATE SUBSCRIPTION name TO relay WHERE … shows the rows of a relay"
		case "INSERT", "MERGE", "COPY":
			return "rows come in by an INGESTOR: CREATE INGESTOR name FROM …"
		case "SET", "RENAME", "REPLACE":
			return "ALTER changes an entity"
		case "EXPLAIN", "DESC":
			return "DESCRIBE shows how an entity is doing, SHOW CREATE its definition"
		case "ROLLBACK", "ABORT":
			return "REVERT ends a transaction without applying it"
		}
		return ""
	}
	kind, many, known := p.kindAt(p.furthest)
	switch before := strings.ToUpper(p.text(p.furthest - 1)); {
	case before == "CREATE" && word == "SUBSCRIPTION", before == "EXISTS" && word == "SUBSCRIPTION":
		return "CREATE SUBSCRIPTION takes no IF NOT EXISTS: a session has each name once"
	case before == "DROP" && word == "SUBSCRIPTION":
		return "DELETE SUBSCRIPTION name ends a subscription"
	case before == "DELETE" && known:
		return "DROP " + kind.String() + " name removes it"
	case (before == "ATTACHED" || before == "DETACHED") && known:
		return "only processors and emitters are ATTACHED or DETACHED"
	case before == "ALTER":
		return alterHint(word, kind, known)
	case before == "DROP" && kind == vocab.EntityResource:
		return "a resource goes with its domain"
	case before == "CREATE" && kind == vocab.EntityDomain && p.within("SHOW"):
		return "DESCRIBE DOMAIN shows the selected domain"
	case before == "CREATE" && kind == vocab.EntityUser && p.within("SHOW"):
		return "SHOW USERS lists the users: a password is never shown"
	case before == "SHOW" && (word == "DOMAINS" || word == "DOMAIN"):
		return "LIST DOMAINS shows all, DESCRIBE DOMAIN the selected one"
	case (before == "SHOW" || before == "LIST") && (word == "NODES" || word == "NODE"), before == "DESCRIBE" && word == "NODE", before == "DESCRIBE" && word == "CLUSTER":
		return "SHOW CLUSTER STATUS shows the nodes and what they own"
	case before == "LIST" && known && slices.Contains([]string{"INGESTORS", "PLACEMENTS", "UDFS", "USERS"}, word):
		return "SHOW " + word + " lists them"
	case (before == "SHOW" || before == "LIST") && known && kind > vocab.EntityUser:
		return showHint(kind, many)
	case before == "SHOW" && known && kind == vocab.EntityUser:
		return "SHOW USERS lists them"
	case before == "DESCRIBE" && word == "SUBSCRIPTION":
		return "a subscription belongs to its session: its rows arrive there"
	case before == "DESCRIBE" && known && kind > vocab.EntityUser && !slices.Contains(describeKinds, kind):
		return "SHOW CREATE " + kind.String() + " name shows its definition"
	}
	return ""
}

// kindAt returns the kind that the tokens name, perhaps in the plural.
func (p *parser) kindAt(at int) (kind vocab.EntityKind, many, known bool) {
	for _, k := range vocab.EntityKinds() {
		words := strings.Fields(k.String())
		matched := 0
		for i, word := range words {
			last := i == len(words)-1
			switch {
			case p.is(at+i, word):
				matched++
			case last && (p.is(at+i, word+"S") || p.is(at+i, word+"ES")):
				matched, many = matched+1, true
			}
		}
		if matched == len(words) {
			return k, many, true
		}
		many = false
	}
	return 0, false, false
}

// operationHint says what to do about an operation that the ALTER of a kind does
// not have.
func (p *parser) operationHint(word string) string {
	first := p.first()
	kind, _, known := p.kindAt(first + 1)
	operation := strings.ToUpper(p.text(max(p.furthest-1, 0)))
	if !p.is(first, "ALTER") || !known || kind <= vocab.EntityUser || !slices.Contains(operationWords[:], operation) || operation == "MODE" {
		return ""
	}
	return "ALTER " + kind.String() + " has no " + operation + " " + word + ": DROP and CREATE in one transaction change the rest"
}

func alterHint(word string, kind vocab.EntityKind, known bool) string {
	switch {
	case word == "NODE":
		return "CORDON NODE, UNCORDON NODE, DRAIN NODE and DROP NODE change a node"
	case kind == vocab.EntityResource:
		return "UPLOAD RESOURCE adds a version, REBIND RESOURCE moves what uses it"
	case kind == vocab.EntityVHost:
		return "there is no ALTER VHOST: REBIND RESOURCE moves it to another certificate, DROP and CREATE in one transaction change the rest"
	case known:
		return "there is no ALTER " + kind.String() + ": DROP and CREATE it in one transaction, which is one change of it"
	case word == "FUNCTION":
		return "there is no ALTER UDF: DROP and CREATE it in one transaction, which is one change of it"
	case word == "WINDOW", word == "WASM":
		return "there is no ALTER " + word + " PROCESSOR: DROP and CREATE it in one transaction, which is one change of it"
	}
	return ""
}

func showHint(kind vocab.EntityKind, many bool) string {
	what := "SHOW CREATE " + kind.String() + " name shows its definition"
	if slices.Contains(describeKinds, kind) {
		what += ", DESCRIBE " + kind.String() + " name how it is doing"
	}
	if kind == vocab.EntityRelay {
		what += ", SHOW RELAY name MATERIALIZED STATE its records"
	}
	if many {
		return "there is no list of them: " + what
	}
	return what
}
