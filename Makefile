# SPDX-License-Identifier: Apache-2.0
# The commands of the house. Each target does all the set-up it needs; `make` alone lists them.
SHELL := bash
# ccache keeps objects made with precompiled headers only so.
export CCACHE_SLOPPINESS := pch_defines,time_macros
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

comma := ,
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
CACHED = $(shell command -v ccache >/dev/null && echo -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
SOURCES = $(shell find dfcl cli python tests bench -name '*.h' -o -name '*.cpp')

# Configures a preset once; later builds re-configure by themselves.
configure = if [ ! -f build/$(1)/build.ninja ]; then cmake --preset $(1) $(CACHED); fi
build = $(call configure,$(1)) && cmake --build build/$(1) -j $(JOBS)
ctest = ctest --test-dir build/$(1) --output-on-failure --no-tests=error -j $(JOBS)

# Address sanitizer with Arrow, which is not instrumented: a vector filled on its side of the border and read on ours
# looks like an overflow, hence detect_container_overflow=0; what Arrow keeps until the end of the process is listed in
# tools/leaks.supp. Allocations that are too large must fail as they do for users: allocator_may_return_null=1.
ASAN = ASAN_OPTIONS=detect_container_overflow=0:allocator_may_return_null=1 \
       LSAN_OPTIONS=suppressions=$(CURDIR)/tools/leaks.supp:print_suppressions=0 UBSAN_OPTIONS=print_stacktrace=1
# Fuzzers: no stack kept of every allocation, which is three times as fast; leaks are looked for at the end.
FAST_ASAN = $(subst ASAN_OPTIONS=,ASAN_OPTIONS=malloc_context_size=0:quarantine_size_mb=16:,$(ASAN))
# Thread sanitizer cannot place its shadow where addresses are much randomised; containers may forbid setarch.
FIXED_ADDRESSES = $(shell setarch -R true 2>/dev/null && echo setarch -R)

.PHONY: help setup build demo fuzz fuzz-planted torture same-answer docs experiments manual prose test test-sanitize test-spark test-full bench format format-check tidy install wheel dist test-dist clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 16 | sed 's/^/  make /'

setup: ## install packages and the virtual environment (nothing to do: under a second)
	@tools/setup.sh

build: setup ## build the program: build/release/bin/dfcl
	@$(call build,release)

demo: setup ## a trial, its check, a plan by auto beside simpler ones, in money, and a page (files in ./demo)
	@$(call configure,release) && cmake --build build/release -j $(JOBS) --target dfcl_program
	@tools/demo.sh

experiments: setup ## redo the published study on simulated data, into docs/results.md (ONLY=alpha,measures; under an hour)
	@$(call configure,release) && cmake --build build/release -j $(JOBS) --target dfcl_program
	@.venv/bin/python3 experiments/run.py -o experiments-out $(if $(ONLY),--only $(ONLY))

docs: ## build the documentation as a site that opens and searches offline: build/docs/index.html
	@tools/docs.sh site

manual: build ## man pages and completions of bash, zsh and fish from the help texts: build/share
	@.venv/bin/python3 tools/manual.py build/release/bin/dfcl build/share

prose: ## check spelling and prose of pages, sources and messages
	@tools/docs.sh prose

test: build ## build and run all tests
	@$(call ctest,release)

test-sanitize: setup ## run the fast unit tests of the rooms below the learners under the address and undefined-behaviour sanitizers
	@$(call configure,dev) && cmake --build build/dev -j $(JOBS) --target unit_tests
	@$(ASAN) $(call ctest,dev) -L unit

SPARKS ?= 3.5 4
test-spark: build ## test dfcl.spark with Spark on this machine (SPARKS="3.5 4"; QUICK=1: what fits into a minute)
	@if [ -z "$(QUICK)" ] || ! ls build/release/python/wheel/*.whl >/dev/null 2>&1; then \
	  tests/python/package.sh $(CURDIR) $(CURDIR)/build/release .venv/bin/python3; fi
	@DFCL_SPARK_FULL=$(if $(QUICK),0,1) tools/spark.sh build/release $(SPARKS)

test-full: test format-check tidy ## all tests, also under the address, undefined-behaviour and thread sanitizers; clang-tidy
	@DFCL_SPARK_SKIPPED=0 $(MAKE) test-spark
	@DFCL_FULL=1 DFCL_BINARY=build/release/bin/dfcl .venv/bin/python3 -m pytest -q -p no:cacheprovider tests/cli/test_matrices.py
	@cmake --build build/release -j $(JOBS) --target benchmarks
	@$(call build,dev)
	@$(ASAN) $(call ctest,dev) -LE slow
	@$(call configure,tsan) && cmake --build build/tsan -j $(JOBS) --target thread_tests
	@TSAN_OPTIONS=halt_on_error=1 $(FIXED_ADDRESSES) $(call ctest,tsan) -L threads

fuzz: setup ## run every fuzzer for SECONDS (600) from its corpus (ONLY=csv,study); what it finds goes to build/fuzz/found
	@tools/setup.sh fuzz
	@$(call configure,fuzz) && cmake --build build/fuzz -j $(JOBS) --target $(if $(ONLY),$(foreach name,$(subst $(comma), ,$(ONLY)),fuzz_$(name)),fuzzers)
	@$(FAST_ASAN) tests/fuzz/run.sh build/fuzz $(or $(SECONDS),600) $(ONLY)

fuzz-planted: setup ## plant an overflow, an unchecked size and a recursion in the sources, one by one, and see how soon a fuzzer finds each
	@tools/setup.sh fuzz
	@$(call configure,fuzz)
	@$(FAST_ASAN) .venv/bin/python3 tests/fuzz/planted.py build/fuzz

torture: build ## faults at every file operation and 200 kills, for every verb that writes (VERBS=train,predict KILLS=200)
	@cc -shared -fPIC -O1 -Wall -Wextra -Werror -o build/release/fault_shim.so tests/torture/fault_shim.c -ldl
	@.venv/bin/python3 tests/torture/torture.py build/release/bin/dfcl --shim build/release/fault_shim.so $(if $(VERBS),--verbs $(VERBS)) --kills $(or $(KILLS),200) --step-from $(or $(STEP_FROM),2000)

same-answer: build ## the pipeline on 1, 2, 3 and 8 threads, killed, resumed, cached, streamed, in Python (and on Spark where it is set up): the same bytes
	@tests/python/package.sh $(CURDIR) $(CURDIR)/build/release .venv/bin/python3
	@.venv/bin/python3 tests/same_answer/same_answer.py build/release/bin/dfcl --python build/release/python/venv/bin/python
	@for home in build/release/spark-*; do if [ -x $$home/bin/python ]; then \
	  $$home/bin/python -m pytest -q -p no:cacheprovider tests/spark -k "same or one_machine or any_number or killed"; fi; done

wheel: build ## wheels of the Python package in dist/ (PYTHONS="python3.11 python3.12")
	@tools/wheel.sh build/release $(or $(PYTHONS),.venv/bin/python3)

dist: wheel manual ## everything to hand out, in dist/: wheels, a tarball that runs without root, a Debian package, licences, SBOM
	@tools/dist.sh build/release build/share

test-dist: ## unpack and install what `make dist` made in bare Debian systems, and run the demo there (needs root)
	@tools/test_dist.sh $(or $(SUITES),bookworm trixie)

bench: build ## run the benchmarks beside what users would pick instead (ONLY=part of a name)
	@cmake --build build/release -j $(JOBS) --target benchmarks
	@tools/bench.sh $(ONLY)

format: ## format all C++ files
	@tools/setup.sh lint
	@clang-format-14 -i $(SOURCES)

format-check: ## fail where `make format` would change a file
	@tools/setup.sh lint
	@clang-format-14 --dry-run --Werror $(SOURCES)

tidy: setup ## run clang-tidy over every source file
	@tools/setup.sh lint
	@$(call configure,release)
	@find dfcl cli -name '*.cpp' | xargs -n 1 -P $(JOBS) clang-tidy-14 -p build/release --quiet --extra-arg=-Wno-unknown-warning-option

install: build ## install the program, library and headers under PREFIX (/usr/local)
	@cmake --install build/release --prefix $(PREFIX)

clean: ## remove what was built; keeps .venv
	@rm -rf build demo
