package expr

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/batch"
	"plexus/nspl/vocab"
)

// ErrorSchema is the scope error of an error route.
var ErrorSchema = &vocab.Schema{Name: "error", Fields: []vocab.Field{
	{Name: "reference", Type: vocab.Scalar(vocab.String)},
	{Name: "code", Type: vocab.Scalar(vocab.String)},
	{Name: "message", Type: vocab.Scalar(vocab.String)},
	{Name: "operation", Type: vocab.Scalar(vocab.String)},
	{Name: "operation_index", Type: vocab.Scalar(vocab.U32), Optional: true},
	{Name: "fields", Type: vocab.VecOf(vocab.Scalar(vocab.String))},
	{Name: "occurred_at", Type: vocab.Scalar(vocab.Datetime)},
}}

var errorLayout = batch.ArrowSchema(ErrorSchema)

// Failure is the content of the scope error for one row.
type Failure struct {
	Reference  string
	Code       Code
	Message    string
	Operation  Operation
	Index      int // or NoIndex
	Fields     []string
	OccurredAt int64 // Unix nanoseconds
}

// Code classes a message error.
type Code string

// The codes.
const (
	CodeEvaluation Code = "evaluation"
	CodeValidation Code = "validation"
	CodeExternal   Code = "external"
	CodeInternal   Code = "internal"
)

// Failure describes the fault of a row.
func (f *Fault) Failure(reference string, occurredAt int64) Failure {
	return Failure{reference, CodeEvaluation, f.Message(), f.Operation, f.Index, f.Fields, occurredAt}
}

// FailureRecord returns the scope error as a batch, one row for each failure.
func FailureRecord(mem memory.Allocator, failures []Failure) arrow.RecordBatch {
	b := array.NewRecordBuilder(mem, errorLayout)
	defer b.Release()
	text := func(column int, s string) { b.Field(column).(*array.StringBuilder).Append(s) }
	index := b.Field(4).(*array.Uint32Builder)
	fields := b.Field(5).(*array.ListBuilder)
	field := fields.ValueBuilder().(*array.StringBuilder)
	occurred := b.Field(6).(*array.TimestampBuilder)
	for i := range failures {
		e := &failures[i]
		text(0, e.Reference)
		text(1, string(e.Code))
		text(2, e.Message)
		text(3, string(e.Operation))
		if e.Index == NoIndex {
			index.AppendNull()
		} else {
			index.Append(uint32(e.Index))
		}
		fields.Append(true)
		for _, name := range slices.Compact(slices.Sorted(slices.Values(e.Fields))) {
			field.Append(name)
		}
		occurred.Append(arrow.Timestamp(e.OccurredAt))
	}
	return b.NewRecordBatch()
}
