package nats

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plexus/connectors/contract"
)

// The measure is what stands on the wire: the header block and the payload.
func TestMessageBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) contract.Header {
			return contract.Header{
				Name:  rapid.StringMatching(`[!-9;-~]{1,8}`).Draw(t, "name"),
				Value: rapid.StringMatching(`[ \t]?[a-zé\r\n ]{0,8}[ \t]?`).Draw(t, "value"),
			}
		}), 0, 6).Draw(t, "headers")
		headers, valid := canonicalHeaders(drawn, nil)
		if !valid {
			t.Fatalf("%v was refused", drawn)
		}
		payload := rapid.String().Draw(t, "payload")
		block := ""
		for i, h := range headers {
			if i == 0 {
				block = "NATS/1.0\r\n"
			}
			block += h.Name + ": " + h.Value + "\r\n"
		}
		if block != "" {
			block += "\r\n"
		}
		if got, want := messageBytes(headers, []byte(payload)), len(block)+len(payload); got != want {
			t.Fatalf("%d bytes, written %d", got, want)
		}
		for i := 1; i < len(headers); i++ {
			if headers[i-1].Name > headers[i].Name {
				t.Fatalf("names out of order: %v", headers)
			}
		}
		again, _ := canonicalHeaders(headers, nil)
		if fmt.Sprint(again) != fmt.Sprint(headers) {
			t.Fatalf("%v becomes %v", headers, again)
		}
	})
}

func TestHeaderNames(t *testing.T) {
	for _, name := range []string{"", "a b", "a:b", "ü", "a\r", "\x7f"} {
		if _, valid := canonicalHeaders([]contract.Header{{Name: name}}, nil); valid {
			t.Errorf("%q passed", name)
		}
	}
}

func TestStreamAnswer(t *testing.T) {
	other := errors.New("other")
	for _, c := range []struct {
		err  error
		want contract.AnswerKind
	}{
		{nil, contract.Confirmed},
		{&StreamError{Code: codeMessageTooLarge}, contract.Refused},
		{fmt.Errorf("x: %w", &StreamError{Code: codeMessageTooLarge}), contract.Refused},
		{&StreamError{Code: 10023}, contract.AnswerUnknown},
		{ErrNoStream, contract.AnswerUnknown},
		{other, contract.AnswerUnknown},
	} {
		if got := StreamAnswer(c.err); got.Kind != c.want || got.Kind == contract.AnswerUnknown && !errors.Is(got.Err, c.err) {
			t.Errorf("%v: %+v", c.err, got)
		}
	}
	if text := (&SlowConsumerError{3}).Error(); !strings.Contains(text, "3 messages") {
		t.Error(text)
	}
}
