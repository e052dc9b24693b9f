package ast

// CreateWASM is CREATE WASM PROCESSOR.
type CreateWASM struct {
	Processor
	Module    Binding
	File      Text
	MaxFuel   Uint
	MaxMemory Size
	Rejected  RejectedState
	OnError   GeneralError // ON GLOBAL ERROR
}

// RejectedState is ON REJECTED STATE: what happens to a saved state that the
// guest does not take back.
type RejectedState uint8

// What was written; nothing means PRESERVE.
const (
	RejectedOmitted RejectedState = iota
	RejectedPreserve
	RejectedReset
)
