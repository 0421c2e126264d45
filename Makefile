# The front door. Each target installs what it lacks (scripts/setup), configures, builds and runs.
# Builds go through the presets of CMakePresets.json: release into build/, the others into build/<preset>/.

PREFIX ?= /usr/local
SHELL := /bin/bash
SETUP := scripts/setup

.PHONY: build demo test test-viewer mpi test-mpi check format install bench bench-siconos bench-peers evidence python gallery docs asan tsan fuzz clean help
.DEFAULT_GOAL := build

# configure and build one preset: $(call cmake,preset[,target])
cmake = cmake --preset $(1) --log-level=NOTICE >/dev/null && cmake --build --preset $(1) $(if $(2),--target $(2))

build: ## build the program (build/delassus) and the libraries
	@$(SETUP)
	@$(call cmake,release)

demo: build ## build, then turn a drum of grains: figures, results and a picture in build/demo
	@scripts/demo

test: build ## build, then run every test
	@tests/run

test-viewer: build ## pages of `delassus view` in a browser
	@$(SETUP) viewer
	@tests/viewer/run

mpi: ## build delassus-mpi too, which mpirun starts as ranks that share a run (docs/scaling.md)
	@$(SETUP) mpi
	@cmake --preset release --log-level=NOTICE -DDELASSUS_MPI=ON >/dev/null && cmake --build --preset release --target delassus_program delassus_mpi_program

test-mpi: mpi ## the same bits, files and failures on 1 to 4 ranks of this machine
	@DELASSUS=$(CURDIR)/build/delassus DLS_SOURCE_DIR=$(CURDIR) python3 tests/mpi/test_mpi.py

check: ## formatting, layers, sizes, documentation links
	@$(SETUP) format
	@tools/check_format
	@tools/check_layers
	@tools/check_kinds
	@tools/check_sizes
	@tools/check_docs links

format: ## rewrite the sources in the project's format
	@$(SETUP) format
	@tools/check_format --fix

python: build ## a wheel of the Python module in build/wheel, with stubs of its types
	@tools/make_stubs
	@tools/make_wheel

gallery: build ## run the scripts of python/gallery: figures and results in build/gallery
	@$(SETUP) docs
	@mkdir -p build/gallery
	@for script in python/gallery/*.py; do echo "$$script"; PYTHONPATH=build/python DELASSUS=build/delassus \
	    /usr/bin/python3 "$$script" build/gallery || exit 1; done

docs: build ## the pages as a site in build/site, with the Python reference and the public headers; links checked
	@$(SETUP) docs
	@tools/make_site

install: build ## install into PREFIX (default /usr/local; DESTDIR is honoured)
	@cmake --install build --prefix $(PREFIX)

bench: ## measure simulations, sweeps, time to accuracy and other engines; tables here, JSON in build/bench/
	@$(SETUP) bench
	@$(call cmake,release)
	@$(call cmake,release,bench-siconos)
	@$(call cmake,release,bench-peers)
	@bench/run all

bench-siconos: ## the same problems with every solver of Siconos in the same run
	@$(SETUP) bench
	@$(call cmake,release,bench-siconos)
	@bench/run siconos --set all

bench-peers: ## the same scenes and mechanisms in Siconos, ODE and Bullet: time, and errors of the physics
	@$(SETUP) bench
	@$(call cmake,release,bench-peers)
	@bench/run peers
	@bench/run mechanisms

evidence: ## docs/evidence.md from stored outputs; RUNS=out stores those of `delassus reproduce -o out` and of bench first
	@tools/make_evidence $(if $(RUNS),--runs $(RUNS) --bench build/bench)

asan: ## tests under the address and undefined-behaviour sanitizers
	@$(SETUP)
	@$(call cmake,asan)
	@tests/run --preset asan

tsan: ## tests under the thread sanitizer
	@$(SETUP) clang
	@$(call cmake,tsan)
	@tests/run --preset tsan

fuzz: ## 1e7 inputs to each fuzz target, from the committed corpus
	@$(SETUP) clang
	@$(call cmake,fuzz,fuzzers)
	@tests/fuzz/run --runs 10000000

clean: ## remove everything that was built
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' Makefile
