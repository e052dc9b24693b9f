package simworld

import (
	"context"
	"fmt"
	"testing"

	"plexus/features/harness"
)

func TestSystemsBehindRelays(t *testing.T) {
	st, err := New().Open(harness.Scenario{Seed: 3, ID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	stage := st.(*stage)
	defer stage.sim.Close()
	err = stage.Do("streams", func(ctx context.Context) error {
		system, err := stage.System(ctx, "nats")
		if err != nil {
			return err
		}
		d := harness.Destination{Kind: "nats", Noun: "stream", Name: "orders"}
		if err := system.Create(ctx, d, map[string]string{"ack_wait": "1s"}); err != nil {
			return err
		}
		if err := system.Produce(ctx, d, []harness.Record{{Payload: "one"}, {Payload: "two"}}); err != nil {
			return err
		}
		records, err := system.Received(ctx, d, 0)
		if err != nil {
			return err
		}
		if got := fmt.Sprint(records); got != "[{one []} {two []}]" {
			return fmt.Errorf("received %s", got)
		}
		through, err := system.AcknowledgedThrough(ctx, d)
		if err == nil && through != 0 {
			err = fmt.Errorf("acknowledged through %d", through)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = stage.Do("receiver", func(ctx context.Context) error {
		system, err := stage.System(ctx, "http")
		if err != nil {
			return err
		}
		origin, err := system.Address(harness.Destination{})
		if err != nil {
			return err
		}
		r, err := harness.Exchange(ctx, stage.World(), origin[len("http://"):], harness.Request{Method: "POST", Host: "h", Path: "/p", Body: "hello"})
		if err == nil && r.Status != 200 {
			err = fmt.Errorf("status %d", r.Status)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
