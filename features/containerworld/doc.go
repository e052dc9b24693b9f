// Package containerworld runs scenarios against plexusd child processes and
// external systems in containers of the local images `make containers` builds.
package containerworld
