package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
)

type versionCommand struct{}

func (c *versionCommand) run(_ context.Context, p *program) int {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	fmt.Fprintf(p.out, "plexus %s, session protocol v1\n", version)
	return statusDone
}

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"bash, zsh, fish or powershell."`
}

func (c *completionCommand) run(_ context.Context, p *program) int {
	var words []string
	for _, node := range p.kong.Model.Children {
		if !node.Hidden {
			words = append(words, node.Name)
		}
	}
	for _, group := range p.kong.Model.AllFlags(true) {
		for _, flag := range group {
			words = append(words, "--"+flag.Name)
		}
	}
	fmt.Fprintf(p.out, completionScripts[c.Shell], strings.Join(words, " "))
	return statusDone
}

var completionScripts = map[string]string{
	"bash":       "complete -o default -W '%s' plexus\n",
	"zsh":        "#compdef plexus\n_plexus() { compadd -- ${=:-%s}; _files }\ncompdef _plexus plexus\n",
	"fish":       "complete -c plexus -a '%s'\n",
	"powershell": "Register-ArgumentCompleter -Native -CommandName plexus -ScriptBlock { param($word) '%s'.Split(' ') | Where-Object { $_ -like \"$word*\" } }\n",
}
