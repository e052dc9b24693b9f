package main

import (
	"context"
	"fmt"
	"sync/atomic"

	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"
)

// The same pipeline in Benthos at its best: batches in memory on both ends, and
// a mutation, which changes the parsed document in place.
const benthosConfig = `
input:
  bench_source: {}
pipeline:
  threads: %d
  processors:
    - mutation: |
        if this.value.contains("x") {
          root.value = this.value.uppercase()
        } else {
          root = deleted()
        }
output:
  bench_sink: {}
logger:
  level: ERROR
`

// benthosSource reads batches from memory; benthosSink takes the encoded bytes of
// each message.
type benthosSource struct {
	pool [][]byte
	left int
}

func (*benthosSource) Connect(context.Context) error { return nil }
func (*benthosSource) Close(context.Context) error   { return nil }

func (s *benthosSource) ReadBatch(context.Context) (service.MessageBatch, service.AckFunc, error) {
	if s.left <= 0 {
		return nil, nil, service.ErrEndOfInput
	}
	at := s.left % len(s.pool)
	s.left -= batchRows
	messages := make(service.MessageBatch, batchRows)
	for i := range messages {
		messages[i] = service.NewMessage(s.pool[at+i])
	}
	return messages, func(context.Context, error) error { return nil }, nil
}

type benthosSink struct{ rows, bytes atomic.Int64 }

func (*benthosSink) Connect(context.Context) error { return nil }
func (*benthosSink) Close(context.Context) error   { return nil }

func (s *benthosSink) WriteBatch(_ context.Context, messages service.MessageBatch) error {
	size := 0
	for _, m := range messages {
		b, err := m.AsBytes()
		if err != nil {
			return err
		}
		size += len(b)
	}
	s.rows.Add(int64(len(messages)))
	s.bytes.Add(int64(size))
	return nil
}

// runBenthos takes rows messages through a stream of its own.
func runBenthos(pool [][]byte, rows, threads int) (result, error) {
	sink := &benthosSink{}
	env := service.NewEnvironment()
	err := env.RegisterBatchInput("bench_source", service.NewConfigSpec(), func(*service.ParsedConfig, *service.Resources) (service.BatchInput, error) {
		return &benthosSource{pool: pool, left: rows}, nil
	})
	if err != nil {
		return result{}, err
	}
	err = env.RegisterBatchOutput("bench_sink", service.NewConfigSpec(), func(*service.ParsedConfig, *service.Resources) (service.BatchOutput, service.BatchPolicy, int, error) {
		return sink, service.BatchPolicy{}, 64, nil
	})
	if err != nil {
		return result{}, err
	}
	builder := env.NewStreamBuilder()
	if err := builder.SetYAML(fmt.Sprintf(benthosConfig, threads)); err != nil {
		return result{}, err
	}
	stream, err := builder.Build()
	if err != nil {
		return result{}, err
	}
	err = stream.Run(context.Background())
	return result{sink.rows.Load(), sink.bytes.Load()}, err
}
