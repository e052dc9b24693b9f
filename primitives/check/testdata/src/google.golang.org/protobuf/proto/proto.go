package proto

type Message interface{}

type MarshalOptions struct{ Deterministic, AllowPartial bool }

func (MarshalOptions) Marshal(Message) ([]byte, error) { return nil, nil }
func Marshal(Message) ([]byte, error)                  { return nil, nil }
