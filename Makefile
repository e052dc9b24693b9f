# Every target works on a fresh clone with Go and make. What a machine lacks is
# skipped with a printed reason.

SHELL := /bin/bash
.DEFAULT_GOAL := help

CACHE := .cache
# The race detector needs cgo and a C compiler; without one the tests run without it.
CC_FOUND := $(shell command -v gcc || command -v clang || command -v cc)
RACE := $(if $(CC_FOUND),-race,)
RACE_LINE := $(if $(CC_FOUND),race detector: on ($(CC_FOUND)),race detector: off, because no C compiler is installed)
# With the race detector: the packages whose tasks share memory. Without: all.
RACE_PACKAGES := ./primitives/... ./real/... ./sim/... ./nspl/... ./engine/... ./connectors/...

# Replay files name the sources they were made with.
REVISION := -X plexus/sim/campaign.revision=$(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)

SEEDS ?= 3
NODES ?= 1,3
TAGS ?= ~@slow
JOB ?=
# Feature files of real worlds that run side by side: they wait most of the time.
TOGETHER ?= 3
FEATURES := go test ./features -count=1 -nodes=$(NODES) -scenarios='$(TAGS)' -keep=$(CURDIR)/$(CACHE)/artifacts

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build plexusd, plexus, plexus-sim and plexus-vet into bin/
	go build -ldflags '$(REVISION)' -o bin/ ./cmd/...

.PHONY: run
run: ## start a node with the first pipeline and show its rows, until Ctrl-C
	@go build -o bin/ ./cmd/plexusd ./cmd/plexus
	@tools/run.sh

.PHONY: cluster
cluster: ## start three nodes with the first pipeline and show what they do, until Ctrl-C
	@go build -o bin/ ./cmd/plexusd ./cmd/plexus
	@tools/cluster.sh

.PHONY: test
test: unit sim local ## unit, property, simulation and local acceptance tests
	@echo "$(RACE_LINE)"

.PHONY: check
check: ## builds on every target, vet, plexus-vet, format, generated files
	@tools/check.sh

.PHONY: unit
unit: ## unit tests and quick properties
	@echo "$(RACE_LINE)"
	go test $(RACE) -timeout 20m $(RACE_PACKAGES)
	$(MAKE) properties
	go test -timeout 10m $$(go list ./... | grep -Ev '^plexus/(primitives|real|sim|nspl|engine|connectors)(/|$$)|^plexus/features$$')

# How often each property of the language is checked.
CHECKS ?= 1000

.PHONY: properties
properties: ## the properties of the language, CHECKS times each
	go test -count=1 -timeout 60m -skip 'TestWalk|TestPrefixes' ./nspl/parse ./nspl/render ./nspl/format ./nspl/complete ./nspl/typed -rapid.checks=$(CHECKS)

.PHONY: sim
sim: build ## determinism sample, corpus and acceptance in the simulated world
	@mkdir -p $(CACHE)
	bin/plexus-sim check --seeds 10
	bin/plexus-sim corpus run
	$(FEATURES) -world=sim -seeds=$(SEEDS) -job='$(JOB)' -skips=$(CURDIR)/$(CACHE)/skips-sim.txt -timeout 20m
	@cat $(CACHE)/skips-sim.txt

.PHONY: local
local: ## acceptance with real processes and servers on loopback
	@mkdir -p $(CACHE)
	$(FEATURES) -parallel $(TOGETHER) -world=local -job='$(if $(JOB),$(JOB)-local)' -skips=$(CURDIR)/$(CACHE)/skips-local.txt -timeout 30m
	@cat $(CACHE)/skips-local.txt

.PHONY: crash-test
crash-test: ## 100,000 records through one node, then three, that are killed in the middle
	@mkdir -p $(CACHE)
	go test ./features -count=1 -v -world=local -nodes=1,3 -scenarios='@crash && @slow' -run 'TestFeatures/(operations|cluster)/crash' -timeout 15m

.PHONY: containers-images
containers-images: ## build the local container images of the test servers
	@tools/containers.sh images

.PHONY: containers
containers: ## acceptance against container images; skipped where no engine runs
	@TAGS='$(TAGS)' NODES='$(NODES)' JOB='$(JOB)' tools/containers.sh test

.PHONY: fuzz-smoke
fuzz-smoke: ## every fuzz target for 20 s, six minutes at most
	@tools/fuzz.sh 20 360

.PHONY: campaign
campaign: build ## 500 seeds of every simulated workload, and the planted defects
	bin/plexus-sim campaign --scenario '*' --seeds 500 --profile mix
	$(MAKE) mutants

.PHONY: mutants
mutants: ## every planted defect: which scenario finds it, after how many seeds, shrunk, replayed
	go build -tags planted -ldflags '$(REVISION)' -o bin/plexus-sim-planted ./cmd/plexus-sim
	bin/plexus-sim-planted mutants --seeds 2000

.PHONY: failover
failover: build ## how long failovers of a cluster take, in virtual time, over 200 seeds
	bin/plexus-sim failover --seeds 200

.PHONY: nightly
nightly: campaign ## campaign, long fuzzing, benchmarks, digests on other architectures
	$(MAKE) properties CHECKS=10000
	tools/fuzz.sh 600 86400
	$(MAKE) bench
	bin/plexus-sim check --seeds 200 --fresh --arch 386

.PHONY: bench
bench: ## benchmarks, beside their peers where there is one
	go test -run '^$$' -bench . -benchmem -benchtime 1s ./primitives/... ./real/... ./sim/... ./engine/... ./nspl/... ./connectors/...
	cd bench && go run .

.PHONY: golden
golden: ## rewrite the golden files; read the difference before committing it
	go test ./nspl/parse ./nspl/typed -count=1 -update
	GOLDEN=1 go test ./engine/decide -count=1 -run TestGolden

.PHONY: generate
generate: ## write the generated files again
	@tools/generate.sh

.PHONY: servers
servers: ## start the servers of the local world on free loopback ports
	@tools/install-servers.sh
	@cd tools && go build -o ../$(CACHE)/bin/ ./natsserver ./servers
	@$(CACHE)/bin/servers -state $(CACHE)/servers -natsserver $(CACHE)/bin/natsserver start

.PHONY: servers-stop
servers-stop: ## end exactly the servers that make servers started
	@test ! -x $(CACHE)/bin/servers || $(CACHE)/bin/servers -state $(CACHE)/servers -natsserver $(CACHE)/bin/natsserver stop

.PHONY: fmt
fmt: ## format the Go sources
	gofmt -w $$(git ls-files '*.go')
