# Shortcuts to the CMake presets: they install missing packages, configure, build and run.
.DEFAULT_GOAL := run
.PHONY: run test install sanitize fuzz faults determinism torture bench bench-report ci-time gallery reference quotes clean setup setup-test setup-ci setup-sanitize

PACKAGES = build-essential cmake ninja-build pkg-config libsimgrid-dev libgsl-dev liblua5.4-dev libjansson-dev \
           libsqlite3-dev libssl-dev libxxhash-dev libzstd-dev zlib1g-dev
TEST_PACKAGES = libcriterion-dev gnuplot-nox graphviz jq libxml2-utils python3 python3-jsonschema
# .ci/run also needs another compiler, the formatter, Doxygen, Open MPI for jobs of several ranks, locales of other
# languages, and the tools that check the man pages, the installation and the .deb.
CI_PACKAGES = ccache clang-format-14 doxygen file groff-base libopenmpi-dev locales openmpi-bin sqlite3 strace zstd
# clang, libFuzzer and the sanitizers.
SANITIZE_PACKAGES = clang-14 libclang-rt-14-dev valgrind
SUDO = $(shell [ "$$(id -u)" = 0 ] || echo sudo)
JOBS = $(shell nproc)
PREFIX = /usr/local
CTEST = ctest --output-on-failure --parallel $(JOBS) --label-exclude 'slow|gpu|bench|validate|torture|memory|memcheck|instructions'

# The default scenario: summary on the terminal, everything else in out/.
run: build/release/build.ninja
	cmake --build --preset release --target kvcast
	build/release/scenarios/kvcast run scenarios/examples/first.lua --out out

# Warnings are errors here.
test: setup-test build/ci/build.ninja
	cmake --build --preset ci
	$(CTEST) --test-dir build/ci

# The program, its data, man pages, completion, docs and the kernels library.
install: build/release/build.ninja
	cmake --build --preset release
	cmake --install build/release --prefix $(PREFIX)

# AddressSanitizer with UndefinedBehaviorSanitizer, ThreadSanitizer and valgrind; or only PARTS, e.g. PARTS=tsan.
PARTS =
sanitize: setup-sanitize
	.ci/sanitize $(PARTS)

# Every fuzz target for this many seconds, or only TARGETS; before a release.
SECONDS = 600
TARGETS =
fuzz: setup-sanitize build/fuzz/build.ninja
	cmake --build --preset fuzz
	.ci/fuzz build/fuzz $(SECONDS) $(TARGETS)

# One call after the other fails: allocations, writes, forks, GSL; under five minutes on two cores.
faults: setup-sanitize build/asan-ubsan/build.ninja
	cmake --build --preset asan-ubsan --target kvcast_faults
	ctest --test-dir build/asan-ubsan --label-regex faults --verbose

# Five answers of each store: the same bytes, whatever computes them.
determinism: setup-ci build/ci/build.ninja build/asan-ubsan/build.ninja
	for preset in ci asan-ubsan; do cmake --build --preset $$preset --target kvcast || exit 1; done
	scenarios/determinism/determinism_test.sh build/ci/scenarios/kvcast build/asan-ubsan/scenarios/kvcast

# Attacks, wrong inputs, kills and full disks: a table of what was tried and what survived.
torture: setup-test build/ci/build.ninja
	cmake --build --preset ci
	ctest --test-dir build/ci --label-regex torture --verbose

# Benchmarks of GPU kernels exit with 77 where there is no device. None may take longer than ten minutes.
bench: build/release/build.ninja
	cmake --build --preset release --target benches
	@for bench in $$(find build/release -name '*_bench' -type f | sort); do \
	    echo "== $$bench"; timeout 600 "$$bench" || [ $$? = 77 ] || exit 1; done

# Every speed beside its limit and its goal, as medians of REPEAT runs: build/bench_report/speed.md, .csv, .json and .svg.
# QUICK=1 makes one short run of each, in about ten minutes; PARTS="simulate plan" measures these alone.
REPEAT = 5
QUICK =
bench-report: setup-test build/release/build.ninja
	cmake --build --preset release --target kvcast benches
	REPEAT=$(REPEAT) QUICK=$(QUICK) scenarios/speed/report.sh build/release build/bench_report $(PARTS)

# Seconds of each step of the last .ci/run.
ci-time:
	@cat build/ci_times

# Every kind of picture in colour and in grey on one page, build/ci/gallery/index.html.
gallery: setup-test build/ci/build.ninja
	cmake --build --preset ci --target gallery

# Rewrites docs/reference.md from the tables of --help and describe.
reference: setup-test build/ci/build.ninja
	cmake --build --preset ci --target reference

# Runs the commands that the pages quote, those that take long included, and writes what they print into the pages.
quotes: setup-ci build/ci/build.ninja
	cmake --build --preset ci --target quotes

clean:
	rm -rf build out

build/%/build.ninja: CMakeLists.txt CMakePresets.json | setup
	cmake --preset $*

# Calls apt only when a package is missing, so that a complete machine needs no network.
setup-test: PACKAGES += $(TEST_PACKAGES)
setup-ci: PACKAGES += $(TEST_PACKAGES) $(SANITIZE_PACKAGES) $(CI_PACKAGES)
setup-sanitize: PACKAGES += $(TEST_PACKAGES) $(SANITIZE_PACKAGES)
setup setup-test setup-ci setup-sanitize:
	@missing=$$(for package in $(PACKAGES); do \
	    dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q ' installed$$' || echo $$package; done); \
	if [ -n "$$missing" ]; then \
	    echo "installing:" $$missing; \
	    $(SUDO) apt-get update && \
	    $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $$missing; \
	fi
