# The daily commands. `make build` leaves the tool at build/tilec; `make demo` shows it at work; `make test` runs all
# that needs no GPU. CI=true builds with the ci preset (ccache, no precompiled header).
PRESET ?= $(if $(filter true,$(CI)),ci,dev)
JOBS ?= $(shell nproc)
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

.PHONY: build test demo setup configure format format-check tidy docs fuzz clean
.DEFAULT_GOAL := build

setup:
	@scripts/setup

configure: setup
	@cmake --preset $(PRESET) >build-configure.log 2>&1 || { cat build-configure.log >&2; rm -f build-configure.log; exit 1; }
	@rm -f build-configure.log

build: configure
	@cmake --build build -j $(JOBS) --target tilec

test: build
	@cmake --build build -j $(JOBS) --target tilec unit_tests test_tools
	@ctest --test-dir build -j $(JOBS) --output-on-failure

demo: build
	@scripts/demo

# Not `git ls-files`, which lists nothing in an unpacked archive or in a repository of another user.
FORMATTED = find cli cmake compiler runtime tests tuner \( -name '*.h' -o -name '*.cpp' -o -name '*.c' \) -print0 | xargs -0 -P $(JOBS) -n 16

format:
	@$(FORMATTED) clang-format-22 -i

format-check:
	@$(FORMATTED) clang-format-22 --dry-run --Werror

tidy: setup
	@cmake --preset tidy >/dev/null && cmake --build build-tidy -j $(JOBS) --target tilec

docs: build
	@tests/tools/update_docs.py --update

# Bounded: `make fuzz SECONDS=600 TARGETS=check` for more of one.
SECONDS ?= 60
fuzz:
	@scripts/setup libclang-rt-22-dev
	@scripts/fuzz $(SECONDS) $(TARGETS)

clean:
	@rm -rf build build-release build-asan build-tidy build-fuzz
