#!/usr/bin/env bash
# Static checks: everything builds in every configuration, nothing escapes the
# primitives, sources are formatted, generated files are current.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { echo "check: $*"; }

step "build"
go build ./...
step "build with planted defects"
go build -tags planted ./...
step "build primitives, real and engine for wasip1"
GOOS=wasip1 GOARCH=wasm go build ./primitives/... ./real ./engine/...
step "build the simulator for 386"
GOARCH=386 go build -o /dev/null ./cmd/plexus-sim
step "vet"
go vet ./...
step "plexus-vet, with and without planted defects"
mkdir -p bin
go build -o bin/plexus-vet ./cmd/plexus-vet
bin/plexus-vet ./...

step "format"
unformatted=$(git ls-files '*.go' | xargs gofmt -l)
if [[ -n $unformatted ]]; then
	echo "not formatted; run make fmt:"
	echo "$unformatted"
	exit 1
fi

step "generated files"
tools/generate.sh --check

step "tools module"
(cd tools && go vet ./...)
echo "check: passed"
