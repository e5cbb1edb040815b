# drtmx: build, run, test. `make` lists the targets.

GO ?= go
GO_MIN := 1.26
BIN := bin
# A longer limit than go test's own: two slow cores run everything here.
TEST_TIMEOUT ?= 60m
# Go test starts packages in the order in which they are named: the longest come first, for the last of them would run alone.
TEST_FIRST := ./kernel ./dashboard ./engine ./notebooks/figures/chapter2 ./cluster/drtmx ./engine/explore ./engine/workload
# Packages at a time: no more than cores, for tests of the kernel hold how soon an interrupt stops an endless loop.
TEST_JOBS ?= $(shell getconf _NPROCESSORS_ONLN)
# Tests open many small systems. With garbage collected less often, up to a limit, they take a quarter less of CPU time.
TEST_HEAP := GOGC=400 GOMEMLIMIT=1500MiB
# What the benchmark's mix spends its time with: all that is built here is built with this profile and the same flags, tests included. So
# each package is compiled once, and tests run the code that programs ship. It is no default.pgo beside a main package, for then every
# build and test of all packages would compile them once more for each program.
PGO := cluster/bench/profile.pgo
export GOFLAGS := $(strip $(GOFLAGS) -trimpath -pgo=$(CURDIR)/$(PGO))

# The golden systems (engine/testdata/digests.json) whose digests are computed again under the race detector, on arm64, and with what
# the hardware models assert of themselves. Make test computes all of them once, as the programs do; make soak computes all everywhere,
# and has all tests of the engine run with those assertions.
RACE_DIGESTS := cycle rococo xstore-d
ARM64_DIGESTS := cc=2pl drtm+h micro-write rococo-tpcc rolex-d tpce-xstore xstore-e ts.scheme=vts
INVARIANT_DIGESTS := farm micro-write rococo xstore-d
ALL_DIGESTS = $(shell sed -n 's/^ *"\(.*\)": {$$/\1/p' engine/testdata/digests.json)
# Go test's pattern for some of them.
space := $(subst ,, )
digests = ^TestGoldenDigests$$/^($(subst +,[+],$(subst $(space),|,$(strip $(1)))))$$

.DEFAULT_GOAL := help
.PHONY: help planted run test check lint notebook bench pgo soak fit identify predictions gallery build generate goversion deps assets system invariants race arm64 proven clean

help:
	@echo "make run       build and start the live cluster with the page on http://127.0.0.1:7070"
	@echo "make test      everything that has to hold; installs what it may"
	@echo "make check     vet, staticcheck and the short tests: before a commit"
	@echo "make notebook  install the kernel and start Jupyter in notebooks/"
	@echo "make bench     the benchmarks of the handbook, peers included"
	@echo "make fit       fit the fitted numbers of PROFILE (val) to the calibration table"
	@echo "make gallery      compute all figures at quick scale and record them (FIGURE=4-9a: one)"
	@echo "make predictions  compute the thesis's numbers of systems anew and record them (CHAPTER=4, SCALE=quick)"
	@echo "make pgo       record anew the profile that the programs are built with"
	@echo "make proven    golden systems, and the note that results of before are valid still"
	@echo "make soak      all planted bugs, generated programs in the kernel and in Go, random configurations under the checkers, SOAK=1000 of them or for SOAK=10m, and all that make test draws a sample of"
	@echo "make build     bin/drtmx and bin/drtmx-kernel"
	@echo "make generate  what is committed and made: the notebooks' outputs"

goversion:
	@command -v $(GO) >/dev/null || { echo "drtmx needs Go $(GO_MIN) or newer: https://go.dev/dl" >&2; exit 1; }
	@v=$$($(GO) env GOVERSION | sed 's/^go//;s/[^0-9.].*//'); \
	[ "$$(printf '%s\n%s\n' $(GO_MIN) $$v | sort -V | head -n 1)" = "$(GO_MIN)" ] || \
	{ echo "drtmx needs Go $(GO_MIN) or newer, this is $$v: https://go.dev/dl" >&2; exit 1; }

# The chart library, by npm. Without it pages draw plain SVG and say so.
assets: goversion
	@$(GO) run ./dashboard/charts/fetch

$(BIN)/drtmx: goversion assets
	@mkdir -p $(BIN)
	@$(GO) build -o $(BIN)/drtmx ./cluster/drtmx

$(BIN)/drtmx-kernel: goversion assets
	@mkdir -p $(BIN)
	@$(GO) run ./kernel/mkkernel -o $(BIN)/drtmx-kernel

.PHONY: $(BIN)/drtmx $(BIN)/drtmx-kernel

build: $(BIN)/drtmx $(BIN)/drtmx-kernel

# After a change of the API or of what a run computes.
generate: goversion assets
	DRTMX_REQUIRE=all $(GO) test ./kernel -count=1 -run TestNotebooks -update

run: $(BIN)/drtmx
	@exec $(BIN)/drtmx up $(ARGS)

system:
	@.ci/system

test: goversion assets system build lint
	@$(GO) build -o $(BIN)/budget ./cluster/bench/budget
	$(TEST_HEAP) $(BIN)/budget -p $(TEST_JOBS) -vet=off -timeout $(TEST_TIMEOUT) $(TEST_FIRST) ./...
	@$(MAKE) --no-print-directory -j2 arm64 race invariants planted

# Staticcheck is pinned in a module file of its own: in go.mod it would raise golang.org/x/tools, which the kernel is built with.
STATICCHECK := $(GO) tool -modfile=tools.mod staticcheck

lint: goversion
	$(GO) vet ./...
	$(GO) run ./kernel/mkkernel -vet
	$(STATICCHECK) ./...

# Before a commit.
check: lint
	$(TEST_HEAP) $(GO) test -p $(TEST_JOBS) -vet=off -short -timeout 5m $(TEST_FIRST) ./...

# After a change of the base under which all golden digests are equal: results of before stay valid.
proven: goversion
	PROVE=1 $(GO) test ./engine -count=1 -run '^TestGoldenDigests$$'

# Known bugs, planted one at a time: a share of them that the commit chooses. make soak plants all. Without a repository the share is the first.
PLANTED ?= $(shell git rev-parse HEAD 2>/dev/null || echo none)
planted: goversion
	@$(GO) run ./engine/planted -share $(PLANTED)

# With what the hardware models assert of themselves.
INVARIANT_TESTS ?= $(call digests,$(INVARIANT_DIGESTS))
invariants:
	$(TEST_HEAP) $(GO) test -vet=off -pgo=off -short -timeout $(TEST_TIMEOUT) -tags invariants ./rdpma/... ./engine/fabric/... ./engine/r2/...
	$(TEST_HEAP) $(GO) test -vet=off -pgo=off -timeout $(TEST_TIMEOUT) -tags invariants -run '$(INVARIANT_TESTS)' ./engine

# Some digests under the race detector, and no race in what computes them. It wants cgo.
RACE_TESTS ?= $(call digests,$(RACE_DIGESTS))|^TestDeterminism$$/^(drtm[+]h|tpcc)$$|^TestChangesReplay$$/^0$$
race:
	@cc=$$($(GO) env CC); \
	if [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v $${cc%% *} >/dev/null; then \
	  $(GO) test -vet=off -pgo=off -race -timeout $(TEST_TIMEOUT) -run '$(RACE_TESTS)' ./engine; \
	elif [ "$$DRTMX_REQUIRE" = all ]; then echo "a C compiler is missing: apt-get install gcc libc6-dev" >&2; exit 1; \
	else echo "skipped: digests under the race detector (apt-get install gcc libc6-dev)"; fi

# Some digests on the other architecture, under emulation: a process for each, for
# the emulator keeps tables of all addresses that a process ever had.
arm64:
	@if command -v qemu-aarch64 >/dev/null; then \
	  mkdir -p $(BIN) && CGO_ENABLED=0 GOARCH=arm64 $(GO) test -c -o $(BIN)/engine.arm64.test ./engine && cd engine && for d in $(ARM64_DIGESTS); do \
	    sub=$$(printf %s "$$d" | sed 's/+/[+]/') && \
	    out=$$(qemu-aarch64 ../$(BIN)/engine.arm64.test -test.v -test.timeout $(TEST_TIMEOUT) -test.run "^TestGoldenDigests$$/^$$sub$$"); \
	    case "$$out" in *"--- PASS: TestGoldenDigests/$$d "*) echo "arm64 digest of $$d: equal";; *) echo "arm64 digest of $$d:"; echo "$$out"; exit 1;; esac; done; \
	elif [ "$$DRTMX_REQUIRE" = all ]; then echo "qemu-aarch64 is missing: apt-get install qemu-user" >&2; exit 1; \
	else echo "skipped: digests on arm64 (apt-get install qemu-user)"; fi

notebook: build
	@$(BIN)/drtmx kernel install
	@for j in lab notebook; do if command -v jupyter-$$j >/dev/null; then cd notebooks && exec jupyter $$j; fi; done; \
	echo "Jupyter is missing: apt-get install --no-install-recommends jupyter-notebook jupyter-client, or pip install jupyterlab" >&2; exit 1

bench: goversion
	@$(GO) run ./cluster/bench

# Records the profile anew.
pgo: goversion
	@mkdir -p $(BIN)/pgo && $(GO) build -pgo=off -o $(BIN)/pgo/one ./cluster/bench/one
	@for s in read smallbank new-order; do echo "a profile of $$s"; $(BIN)/pgo/one -spec $$s -span 8ms -cpuprofile $(BIN)/pgo/$$s.prof >/dev/null || exit 1; done
	@$(GO) tool pprof -proto $(BIN)/pgo/*.prof > $(PGO)

# Whatever make test draws a sample of: random systems, and what DRTMX_SOAK makes whole. Then all digests everywhere, with what shows
# races and broken assertions.
SOAK ?= 1000
soak: goversion
	$(GO) run ./engine/planted
	DRTMX_SOAK=$(SOAK) $(GO) test -run '^Test(XStoreRecovers|RequestsEndOnce)$$' -timeout 0 -v ./engine
	DRTMX_SOAK=$(SOAK) $(GO) test -run '^TestDifferential$$' -timeout 0 -v ./kernel/differential
	DRTMX_SOAK=$(SOAK) $(TEST_HEAP) $(GO) test -timeout 0 ./engine/workload/... ./engine/explore/... ./engine/protocol/... ./engine/example ./xstore/...
	@$(MAKE) --no-print-directory race arm64 invariants TEST_TIMEOUT=0 RACE_TESTS='^Test(GoldenDigests|Determinism|ChangesReplay)$$' ARM64_DIGESTS="$(ALL_DIGESTS)" INVARIANT_TESTS=.

# After a change of the hardware model, or of a fitted number by hand (EVALUATIONS=0).
PROFILE ?= val
EVALUATIONS ?= 100
fit: build
	$(BIN)/drtmx fit $(PROFILE) --evaluations $(EVALUATIONS) --profile-out engine/fabric/profile/$(PROFILE).yaml --residuals-out notebooks/figures/calibration/fits/$(PROFILE).csv

# Then also: which numbers the rows tell. ROWS names those that are measured, PARAMS the numbers; long without.
identify: build
	$(BIN)/drtmx fit $(PROFILE) --identify $(if $(ROWS),--rows $(ROWS)) $(if $(PARAMS),--params $(PARAMS)) --table-out notebooks/figures/calibration/fits/$(PROFILE).identify.csv

# After a change of what a run of a system computes. An interrupt leaves the figures that are done. BAND=1 takes three times as long.
CHAPTER ?= 4
SCALE ?= quick
predictions: build
	$(BIN)/drtmx predict --run $(if $(BAND),--band) --chapter $(CHAPTER) --scale $(SCALE) --record notebooks/figures/prediction/recorded.json
	UPDATE=1 $(GO) test ./notebooks/figures -count=1 -run TestCountsInHandbook

# What the gallery shows before anything is computed: all figures at quick scale, or those of FIGURE. Runs that the run store has are
# not made again; an interrupt leaves the figures that are done. It takes two cores for an hour or so.
FIGURE ?= all
gallery: build
	$(BIN)/drtmx figure $(FIGURE) --record notebooks/figures/record/quick >$(BIN)/gallery.txt
	$(GO) test ./notebooks/figures -count=1 -run TestRecord

clean:
	rm -rf $(BIN)
