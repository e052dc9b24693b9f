package vocab

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// NameRule is one external name of a clause: the words that introduce it and
// the check of its owner.
type NameRule struct {
	Role string
	// Or are words that may stand instead of the role and its name.
	Or string
	// Quoted says that the name is always written as a string.
	Quoted bool
	Check  func(text string) error
}

// What is wrong with an external name. The messages complete "<role> '<text>' ".
var (
	errEmpty       = errors.New("must not be empty")
	errToken       = errors.New("has an empty token")
	errSpace       = errors.New("must not contain white space or control characters")
	errControl     = errors.New("must not contain control characters")
	errWildcard    = errors.New("must not contain a wildcard")
	errWildcardPos = errors.New("has a wildcard that is not a whole token, or '>' before the end")
	errStreamChar  = errors.New("must not contain '.', '*', '>', '/' or '\\'")
	errLong        = errors.New("must not be longer than 255 bytes")
	errKafka       = errors.New("must be 1 to 249 letters, digits, '.', '_' or '-', and not '.' or '..'")
	errPulsar      = errors.New("must be a topic, or persistent://tenant/namespace/topic")
	errSQS         = errors.New("must be 1 to 80 letters, digits, '-' or '_', with '.fifo' at the end of a FIFO queue")
	errFilter      = errors.New("has a wildcard that is not a whole level, or '#' before the end")
	errShared      = errors.New("must not begin with '$share/': the node adds its own")
	errIndex       = errors.New("must be lower case, must not begin with '-', '_' or '+', and must not contain any of \\ / ? \" < > | , # or a space")
	errMongo       = errors.New("must not begin with 'system.' or contain '$'")
	errIceberg     = errors.New("must not contain '/'")
	errInflux      = errors.New("must not begin with '_'")
	errTable       = errors.New("must be a table, or a schema and a table joined by '.'")
)

// nameBytesMax is the limit most brokers put on a name.
const nameBytesMax = 255

// KafkaTopic checks a topic.
func KafkaTopic(text string) error {
	if text == "" || len(text) > 249 || text == "." || text == ".." || !consists(text, "._-") {
		return errKafka
	}
	return nil
}

// consumerGroup checks the name under which a broker keeps a position.
func consumerGroup(text string) error {
	if err := named(text); err != nil {
		return err
	}
	if len(text) > nameBytesMax {
		return errLong
	}
	return nil
}

// PulsarTopic checks a topic with or without its namespace.
func PulsarTopic(text string) error {
	if err := printable(text); err != nil {
		return err
	}
	scheme, rest, full := strings.Cut(text, "://")
	if full && (scheme != "persistent" && scheme != "non-persistent" || !segments(rest, 3)) || !full && strings.Contains(text, "/") {
		return errPulsar
	}
	return nil
}

// RabbitMQQueue checks a queue.
func RabbitMQQueue(text string) error { return consumerGroup(text) }

// SQSQueue checks the name of a queue.
func SQSQueue(text string) error {
	if len(text) > 80 || !consists(strings.TrimSuffix(text, FIFOSuffix), "-_") {
		return errSQS
	}
	return nil
}

// FIFOSuffix ends the name of an SQS queue that keeps an order.
const FIFOSuffix = ".fifo"

// mqttBytesMax is what the length field of a topic holds.
const mqttBytesMax = 65_535

// MQTTTopic checks the topic that is published to.
func MQTTTopic(text string) error {
	if err := mqttText(text); err != nil {
		return err
	}
	if strings.ContainsAny(text, "+#") {
		return errWildcard
	}
	return nil
}

// MQTTFilter checks the filter that is subscribed to: '+' stands for one level,
// '#' at the end for the rest.
func MQTTFilter(text string) error {
	if err := mqttText(text); err != nil {
		return err
	}
	if strings.HasPrefix(text, "$share/") {
		return errShared
	}
	for rest, more := text, true; more; {
		var level string
		level, rest, more = strings.Cut(rest, "/")
		if strings.ContainsAny(level, "+#") && (len(level) > 1 || level == "#" && more) {
			return errFilter
		}
	}
	return nil
}

func mqttText(text string) error {
	if len(text) > mqttBytesMax {
		return errLong
	}
	return named(text)
}

// NATSSubject checks the subject that is published to: tokens joined by dots.
func NATSSubject(text string) error {
	if err := natsTokens(text); err != nil {
		return err
	}
	if strings.ContainsAny(text, "*>") {
		return errWildcard
	}
	return nil
}

// NATSSubjectPattern checks the subject that is subscribed to: '*' stands for one
// token, '>' at the end for one or more.
func NATSSubjectPattern(text string) error {
	if err := natsTokens(text); err != nil {
		return err
	}
	for rest, more := text, true; more; {
		var token string
		token, rest, more = strings.Cut(rest, ".")
		if strings.ContainsAny(token, "*>") && (len(token) > 1 || token == ">" && more) {
			return errWildcardPos
		}
	}
	return nil
}

// NATSQueueGroup checks a queue group.
func NATSQueueGroup(text string) error { return printable(text) }

// JetStreamName checks the name of a stream or of a consumer.
func JetStreamName(text string) error {
	if err := printable(text); err != nil {
		return err
	}
	if strings.ContainsAny(text, `.*>/\`) {
		return errStreamChar
	}
	if len(text) > nameBytesMax {
		return errLong
	}
	return nil
}

// RedisChannel checks a channel, which may be any text.
func RedisChannel(text string) error { return notEmpty(text) }

// SQLTable checks a table with or without its schema.
func SQLTable(text string) error {
	if err := named(text); err != nil {
		return err
	}
	if strings.Count(text, ".") > 1 || strings.HasPrefix(text, ".") || strings.HasSuffix(text, ".") {
		return errTable
	}
	return nil
}

// ColumnName checks a column of a table, or a field of a document.
func ColumnName(text string) error { return named(text) }

// MongoDBCollection checks a collection.
func MongoDBCollection(text string) error {
	if err := consumerGroup(text); err != nil {
		return err
	}
	if strings.HasPrefix(text, "system.") || strings.Contains(text, "$") {
		return errMongo
	}
	return nil
}

// IcebergTable checks a table of the namespace that the domain names.
func IcebergTable(text string) error {
	if err := named(text); err != nil {
		return err
	}
	if strings.Contains(text, "/") {
		return errIceberg
	}
	return nil
}

// ElasticsearchIndex checks an index, an alias or a pattern with '*'.
func ElasticsearchIndex(text string) error {
	if err := consumerGroup(text); err != nil {
		return err
	}
	if strings.ToLower(text) != text || strings.ContainsAny(text, `\/?"<>|,# `) || strings.ContainsAny(text[:1], "-_+") || text == "." || text == ".." {
		return errIndex
	}
	return nil
}

// InfluxDBMeasurement checks a measurement.
func InfluxDBMeasurement(text string) error {
	if err := named(text); err != nil {
		return err
	}
	if text[0] == '_' {
		return errInflux
	}
	return nil
}

// IggyName checks a stream or a topic.
func IggyName(text string) error { return consumerGroup(text) }

func natsTokens(text string) error {
	if err := printable(text); err != nil {
		return err
	}
	if text[0] == '.' || text[len(text)-1] == '.' || strings.Contains(text, "..") {
		return errToken
	}
	return nil
}

func printable(text string) error {
	if text == "" {
		return errEmpty
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] == 0x7f {
			return errSpace
		}
	}
	return nil
}

// named checks a name that may hold spaces.
func named(text string) error {
	if text == "" {
		return errEmpty
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] == 0x7f {
			return errControl
		}
	}
	return nil
}

func notEmpty(text string) error {
	if text == "" {
		return errEmpty
	}
	return nil
}

// consists reports whether a text has only letters and digits of ASCII and the
// given other characters, and at least one of them.
func consists(text, others string) bool {
	for i := range len(text) {
		b := text[i]
		letter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
		if b >= utf8.RuneSelf || !letter && strings.IndexByte(others, b) < 0 {
			return false
		}
	}
	return text != ""
}

// segments reports whether a path has n parts, none of them empty.
func segments(path string, n int) bool {
	parts := strings.Split(path, "/")
	for _, part := range parts {
		if part == "" {
			return false
		}
	}
	return len(parts) == n
}
