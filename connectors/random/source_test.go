package random

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"plexus/connectors/contract"
	"plexus/nspl/vocab"
)

// The context is never waited on: the source has nothing to wait for.
var ctx = context.Background()

func open(t interface{ Fatal(...any) }, seed uint64, rows int) contract.StatefulSource {
	src, err := Open(ctx, contract.SourcePlan{Seed: seed, Cursor: vocab.Cursor{MaxRows: uint64(rows)}}, 0, contract.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return src.(contract.StatefulSource)
}

// read takes one batch and returns copies of its payloads.
func read(t interface{ Fatal(...any) }, src contract.StatefulSource, limit int) ([]string, contract.State) {
	batch, err := src.NextBatch(ctx, contract.BatchRequest{Max: limit})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range batch.Messages {
		out = append(out, string(m.Payload))
	}
	state := *batch.State
	return out, state
}

func TestRows(t *testing.T) {
	src := open(t, 0, 2)
	if !src.NeedsResume() {
		t.Fatal("ready before its first resume")
	}
	if r, err := src.Resume(ctx); err != nil || !r.Ready() {
		t.Fatal(r, err)
	}
	batch, err := src.NextBatch(ctx, contract.BatchRequest{Max: 10})
	if err != nil {
		t.Fatal(err)
	}
	// splitmix64 of seed 0 begins e220a8397b1dcdaf 6e789e6aa1b965f4 06c45d188009454f.
	want := `{"sequence":0,"id":"e220a8397b1dcdaf6e789e6aa1b965f4","value":0.026433771592597743,"text":"jcdwuroatmfe"}`
	for i, m := range batch.Messages {
		var row struct {
			Sequence uint64
			ID       string
			Value    float64
			Text     string
		}
		if err := json.Unmarshal(m.Payload, &row); err != nil {
			t.Fatal(err)
		}
		if row.Sequence != uint64(i) || row.ID != m.Metadata.RecordID || row.Value < 0 || row.Value >= 1 || len(row.Text) != textLetters {
			t.Errorf("%s with id %s", m.Payload, m.Metadata.RecordID)
		}
	}
	if got := string(batch.Messages[0].Payload); got[:63] != want[:63] {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestFreshStartWithoutState(t *testing.T) {
	src := open(t, 7, 3)
	if err := src.Restore(ctx, contract.State{}, false); err != nil {
		t.Fatal(err)
	}
	got, _ := read(t, src, 10)
	if want, _ := read(t, open(t, 7, 3), 10); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestUnusableState(t *testing.T) {
	_, state := read(t, open(t, 7, 3), 10)
	for cut := range state.Bytes {
		broken := state
		broken.Bytes = state.Bytes[:cut]
		var unusable *contract.StateUnusableError
		if err := open(t, 7, 3).Restore(ctx, broken, true); !errors.As(err, &unusable) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
	foreign, newer := state, state
	foreign.Connector, newer.Version = "POSTGRES TABLE", stateVersion+1
	for _, s := range []contract.State{foreign, newer} {
		if err := open(t, 7, 3).Restore(ctx, s, true); err == nil {
			t.Errorf("%s version %d was restored", s.Connector, s.Version)
		}
	}
}

func TestResultWithoutABatch(t *testing.T) {
	src := open(t, 7, 3)
	if src.Acknowledge(ctx, nil) == nil || src.Reject(ctx, nil, contract.Refusal{}) == nil {
		t.Error("a result for nothing was taken")
	}
}

// Whatever is acknowledged, rejected and restarted in between, the acknowledged
// batches are the sequence from its beginning, without a gap or a repetition; and
// a restart from a persisted state that was never applied continues behind it.
func TestAnyHistoryYieldsTheSequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, rows := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 4).Draw(t, "rows")
		src := open(t, seed, rows)
		var accepted []string
		var saved *contract.State
		restart := func() {
			src = open(t, seed, rows)
			state, found := contract.State{}, saved != nil
			if found {
				state = *saved
			}
			if err := src.Restore(ctx, state, found); err != nil {
				t.Fatal(err)
			}
		}
		for range rapid.IntRange(1, 12).Draw(t, "batches") {
			batch, state := read(t, src, rapid.IntRange(1, 5).Draw(t, "max"))
			switch rapid.IntRange(0, 3).Draw(t, "result") {
			case 0:
				if err := src.Reject(ctx, nil, contract.Refusal{}); err != nil {
					t.Fatal(err)
				}
			case 1: // crash before the state was saved
				restart()
			case 2: // crash after it
				saved = &state
				accepted = append(accepted, batch...)
				restart()
			default:
				saved = &state
				accepted = append(accepted, batch...)
				if err := src.Acknowledge(ctx, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(accepted) == 0 {
			return
		}
		want, _ := read(t, open(t, seed, len(accepted)), len(accepted))
		if fmt.Sprint(accepted) != fmt.Sprint(want) {
			t.Fatalf("%v, want %v", accepted, want)
		}
	})
}

func TestExhaustion(t *testing.T) {
	encoded, err := contract.StateFields{{Key: keySequence, Uint: 1<<64 - 2}, {Key: keyWord}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	src := open(t, 1, 3)
	if err := src.Restore(ctx, contract.State{Connector: "RANDOM SEQUENCE", Version: stateVersion, Bytes: encoded}, true); err != nil {
		t.Fatal(err)
	}
	if _, err := src.NextBatch(ctx, contract.BatchRequest{Max: 10}); !errors.Is(err, errExhausted) {
		t.Fatal(err)
	}
}
