package vocab

// CodecFormat is the payload format of a codec.
type CodecFormat uint8

// The formats. The first three have wire schemas, in the order of [WireFormat];
// the next five run programs over documents.
const (
	FormatWireJSON CodecFormat = iota
	FormatWireCBOR
	FormatWireAvro
	FormatJSON
	FormatYAML
	FormatTOML
	FormatXML
	FormatCBOR
	FormatProtobuf
	FormatSyslog
)

var codecFormatNames = [...]string{"WIRE JSON", "WIRE CBOR", "WIRE AVRO", "JSON", "YAML", "TOML", "XML", "CBOR", "PROTOBUF", "SYSLOG"}

// String returns the keywords.
func (f CodecFormat) String() string { return codecFormatNames[f] }

// CodecFormats lists every format, in declaration order.
func CodecFormats() []CodecFormat {
	list := make([]CodecFormat, len(codecFormatNames))
	for i := range list {
		list[i] = CodecFormat(i)
	}
	return list
}

// Wire returns the format of the wire schema that a codec of the format has.
func (f CodecFormat) Wire() (WireFormat, bool) { return WireFormat(f), f <= FormatWireAvro }

// Programs reports whether codecs of the format run jq programs.
func (f CodecFormat) Programs() bool { return f >= FormatJSON && f <= FormatProtobuf }

// SignalingFormat is the message format of a signaling protocol.
type SignalingFormat uint8

// The formats.
const (
	SignalingJSON SignalingFormat = iota
	SignalingYAML
	SignalingTOML
	SignalingXML
	SignalingCBOR
	SignalingRaw
	SignalingProtobuf
)

var signalingFormatNames = [...]string{"JSON", "YAML", "TOML", "XML", "CBOR", "RAW", "PROTOBUF"}

// String returns the keyword.
func (f SignalingFormat) String() string { return signalingFormatNames[f] }

// SignalingFormats lists every format, in declaration order.
func SignalingFormats() []SignalingFormat {
	list := make([]SignalingFormat, len(signalingFormatNames))
	for i := range list {
		list[i] = SignalingFormat(i)
	}
	return list
}
