package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"plexus/engine/client"
	"plexus/engine/session/sessionpb"
)

type subscribeCommand struct {
	Name     string   `arg:"" help:"Name of the subscription."`
	Relay    string   `arg:"" help:"Relay to watch."`
	Dropping bool     `help:"Lose rows rather than hold the relay back."`
	Sample   *float64 `placeholder:"R" help:"Share of the rows to see, from 0 to 1."`
	Where    string   `placeholder:"EXPR" help:"Predicate over the relay's record."`
}

func (c *subscribeCommand) statement() string {
	text := "CREATE SUBSCRIPTION " + c.Name + " TO " + c.Relay
	if c.Dropping {
		text += " DROPPING"
	}
	if c.Sample != nil {
		text += " BATCH SAMPLE RATE " + strconv.FormatFloat(*c.Sample, 'f', -1, 64)
	}
	if c.Where != "" {
		text += " WHERE " + c.Where
	}
	return text
}

func (c *subscribeCommand) run(ctx context.Context, p *program) int {
	statement := c.statement()
	if _, err := split(statement); err != nil {
		explain(p.err, err, statement)
		return statusUsage
	}
	session, err := p.connect(ctx, nil)
	if err != nil {
		return p.statusOf(ctx, err)
	}
	stream, err := session.Subscribe(ctx, statement, sessionpb.RowFormat_JSON)
	if err != nil {
		return p.refused(ctx, err)
	}
	for {
		frame, err := stream.Recv()
		switch {
		case errors.Is(context.Cause(ctx), errInterrupted):
			// The interruption is how a subscription is meant to end.
			return statusDone
		case errors.Is(err, io.EOF):
			return statusDone
		case err != nil:
			return p.refused(ctx, err)
		}
		if ended := p.frame(frame, ""); ended {
			return statusFailed
		}
	}
}

// refused tells a statement the node turned down from a connection that failed.
func (p *program) refused(ctx context.Context, err error) int {
	var answered *client.Error
	if errors.As(err, &answered) && answered.Code != client.Unauthenticated && answered.Code != client.Unavailable {
		fmt.Fprintf(p.err, "plexus: %s\n", answered.Message)
		return statusFailed
	}
	return p.statusOf(ctx, err)
}

// frame prints what a subscription delivered and reports whether it ended.
func (p *program) frame(frame *sessionpb.SubscriptionFrame, prefix string) (ended bool) {
	switch body := frame.GetBody().(type) {
	case *sessionpb.SubscriptionFrame_Rows:
		for _, row := range body.Rows.GetJson() {
			fmt.Fprintf(p.out, "%s%s\n", prefix, row)
		}
	case *sessionpb.SubscriptionFrame_Lost:
		fmt.Fprintf(p.err, "%s%d rows were dropped\n", prefix, body.Lost.GetCount())
	case *sessionpb.SubscriptionFrame_Skipped:
		fmt.Fprintf(p.err, "%s%d rows were skipped: %s\n", prefix, body.Skipped.GetCount(), body.Skipped.GetCause())
	case *sessionpb.SubscriptionFrame_Ended:
		fmt.Fprintf(p.err, "%sthe subscription ended: %s\n", prefix, body.Ended.GetReason())
		return true
	}
	return false
}
