package ast

// CreateCodec is CREATE CODEC … FROM WIRE JSON SCHEMA.
type CreateCodec struct {
	Create
	Wire    Name
	Schema  Name
	RFC3339 []Name // ENCODE name AS RFC3339
}
