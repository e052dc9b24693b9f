package main

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/ack"
	"plexus/engine/batch"
	"plexus/engine/codec"
	"plexus/engine/decide"
	"plexus/engine/expr"
	"plexus/engine/observe"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// pipeline is decode, FILTER WHERE contains(value, 'x'), SET value =
// upper(value), encode, as the engine composes it, with an acknowledgement root
// per message.
type pipeline struct {
	mem     memory.Allocator
	decoder *codec.Decoder
	group   *codec.Group
	filter  *expr.Filter
	build   *expr.Construction
	page    *codec.Page
	members codec.Members
	scratch *expr.Scratch
	ledger  *ack.Ledger
	acked   int64
	out     result
}

func newPipeline() (*pipeline, error) {
	text := vocab.Scalar(vocab.String)
	schema := &vocab.Schema{Name: "record", Fields: []vocab.Field{{Name: "value", Type: text}}}
	plan := &decide.CodecPlan{Name: "record", Schema: schema, Wire: decide.WirePlan{Strict: true, Fields: []decide.WireField{{Name: "value"}}}}
	value := &typed.Expr{Op: typed.OpColumn, Type: text, Column: typed.Column{Name: "value"}}
	p := &pipeline{mem: new(batch.Pool), scratch: expr.NewScratch(), ledger: ack.NewLedger("bench", observe.NewRegistry(), nil)}
	var err error
	if p.decoder, err = codec.NewDecoder(plan); err != nil {
		return nil, err
	}
	encoder, err := codec.NewEncoder(plan)
	if err != nil {
		return nil, err
	}
	p.group, p.page = p.decoder.NewGroup(p.mem), encoder.NewPage()
	p.filter, err = expr.CompileFilter(&typed.Expr{Op: typed.OpCall, Func: "contains", Type: vocab.Scalar(vocab.Bool), Args: []*typed.Expr{
		value, {Op: typed.OpLiteral, Type: text, Literal: typed.Literal{Str: "x"}}}}, expr.FilterWhere)
	if err != nil {
		return nil, err
	}
	p.build, err = expr.CompileConstruction(&typed.Construction{Output: schema, Steps: []typed.Step{
		{Expr: &typed.Expr{Op: typed.OpCall, Func: "upper", Type: text, Args: []*typed.Expr{value}}}}}, false)
	return p, err
}

// run takes payloads through the pipeline until rows have passed.
func (p *pipeline) run(pool [][]byte, rows int) (result, error) {
	p.out, p.acked = result{}, 0
	for done := 0; done < rows; done += batchRows {
		at := done % len(pool)
		if err := p.batch(pool[at : at+batchRows]); err != nil {
			return p.out, err
		}
	}
	if p.acked != int64(rows) {
		return p.out, fmt.Errorf("%d of %d messages were acknowledged", p.acked, rows)
	}
	return p.out, nil
}

func (p *pipeline) batch(payloads [][]byte) error {
	for _, payload := range payloads {
		if _, err := p.decoder.Decode(payload, p.group); err != nil {
			return err
		}
	}
	n := p.group.Rows()
	_, shares := p.ledger.Open(n, 0, func(o ack.Outcome) {
		if !o.Failed {
			p.acked += int64(n)
		}
	})
	rec := p.group.Finish()
	defer rec.Release()
	ctx := &expr.Context{Memory: p.mem}
	rows := &expr.Rows{Input: rec, Select: batch.All(n)}
	kept, failed := p.filter.Run(ctx, rows, p.scratch)
	if failed != nil {
		return fmt.Errorf("the filter failed for %d rows", len(failed))
	}
	shares = shares.Select(kept.AppendRows(nil), 0)
	rows.Select = kept
	built := p.build.Run(ctx, rows, p.scratch)
	defer built.Release()
	// One relay with one attached consumer lies between route and emitter.
	shares = shares.Fork(1, 0)[0]
	p.page.Bind(built.Batch)
	p.members.Reset()
	p.page.EncodeRows(&p.members, batch.All(int(built.Batch.NumRows())))
	p.out.rows += int64(len(p.members.Ends))
	p.out.bytes += int64(len(p.members.Bytes))
	shares.OK(0)
	return nil
}
