package main

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"plexus/engine/session/sessionpb"
)

type suggestCommand struct {
	Cursor int    `default:"-1" placeholder:"N" help:"Byte offset of the cursor; the end of the text by default."`
	Text   string `arg:"" help:"The text."`
}

// suggestionsJSON is what the command prints.
type suggestionsJSON struct {
	Status      string           `json:"status"`
	Suggestions []suggestionJSON `json:"suggestions"`
}

type suggestionJSON struct {
	Display     string `json:"display"`
	Kind        string `json:"kind"`
	Start       uint64 `json:"start"`
	End         uint64 `json:"end"`
	Replacement string `json:"replacement"`
	LocalPath   bool   `json:"local_path,omitempty"`
	Detail      string `json:"detail,omitempty"`
}

func (c *suggestCommand) run(ctx context.Context, p *program) int {
	if c.Cursor < 0 {
		c.Cursor = len(c.Text)
	}
	if c.Cursor > len(c.Text) || c.Cursor < len(c.Text) && !utf8.RuneStart(c.Text[c.Cursor]) {
		fmt.Fprintf(p.err, "plexus: --cursor %d lies between no two characters of the text\n", c.Cursor)
		return statusUsage
	}
	session, err := p.connect(ctx, nil)
	if err != nil {
		return p.statusOf(ctx, err)
	}
	reply, err := session.Suggest(ctx, c.Text, c.Cursor)
	if err == nil {
		err = session.Close(ctx)
	}
	if err != nil {
		return p.statusOf(ctx, err)
	}
	line, err := json.Marshal(suggestionsOf(reply))
	if err != nil {
		fmt.Fprintf(p.err, "plexus: %v\n", err)
		return statusFailed
	}
	fmt.Fprintf(p.out, "%s\n", line)
	if reply.GetStatus() == sessionpb.SuggestStatus_LOOKUP_FAILED {
		return statusFailed
	}
	return statusDone
}

func suggestionsOf(reply *sessionpb.SuggestReply) suggestionsJSON {
	out := suggestionsJSON{Status: statusWords[reply.GetStatus()], Suggestions: []suggestionJSON{}}
	for _, s := range reply.GetSuggestions() {
		out.Suggestions = append(out.Suggestions, suggestionJSON{
			s.GetDisplay(), s.GetKind(), s.GetStart(), s.GetEnd(), s.GetReplacement(), s.GetLocalPath(), s.GetDetail(),
		})
	}
	return out
}

var statusWords = map[sessionpb.SuggestStatus]string{
	sessionpb.SuggestStatus_READY: "Ready", sessionpb.SuggestStatus_MISSING_CONTEXT: "MissingContext",
	sessionpb.SuggestStatus_STALE_CONTEXT: "StaleContext", sessionpb.SuggestStatus_LOOKUP_FAILED: "LookupFailed",
}
