package control

import (
	"encoding/json"

	"google.golang.org/protobuf/proto"
)

func refused(m proto.Message) {
	proto.Marshal(m)                                    // want `PX012: proto.Marshal`
	proto.MarshalOptions{AllowPartial: true}.Marshal(m) // want `PX012: marshalling without Deterministic`
	json.Marshal(map[string]int{})                      // want `PX012: a map as JSON`
}

func accepted(m proto.Message) {
	proto.MarshalOptions{Deterministic: true}.Marshal(m)
	json.Marshal(struct{ A int }{})
}
