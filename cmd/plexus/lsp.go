package main

import (
	"context"
	"fmt"

	"plexus/engine/lsp"
)

type lspCommand struct{}

func (c *lspCommand) run(_ context.Context, p *program) int {
	status, err := lsp.Serve(p.in, p.out)
	if err != nil {
		fmt.Fprintf(p.err, "plexus: %v\n", err)
	}
	return status
}
