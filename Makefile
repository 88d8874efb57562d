# SlimGraph. `make run` and `make test` are all that a first visit needs.
#
#   make             build/release/slimgraph, the command, and the library
#   make run         a first job on four local nodes       make test        all tests, and their count
#   make install     PREFIX=/usr/local DESTDIR=            make clean       removes build/
#   make deb         Debian packages of the same files; test-deb tries them in a fresh system
#   make deps        installs the packages it needs        make debug       a build without optimisation
#
#   make python      the wheel of the Python package; pip install ./python needs no make before
#   make test-python, test-networkx  its tests, and NetworkX's own with SlimGraph as a backend
#
#   make grid        random commands and options, each verified, for GRID_SECONDS=180
#   make sim         deterministic simulations of jobs, with faults; SIM_SEEDS=1000, SIM_SEED=K tells a story
#   make scale       engines on 4 to 512 simulated nodes: time, bytes and messages, as CSV and plots
#   make sim-tests, sim-replay  unit tests in the simulation; that seeds run alike in two builds
#   make asan, tsan  tests under a sanitizer               make fuzz        a short run of every fuzzer
#   make relacy      rings, lock words and guards under the C++ memory model
#   make test-hosts  jobs across four hosts (root)         make test-rdma   the verbs transport, in a virtual machine
#   make grid-planted, sim-planted, relacy-planted  tests that these find planted defects; up to an hour
#   make format      formats the code by clang-format      make lint        format check and clang-tidy
#
#   make bench       the measured bars, and build/report/index.html: the small form of all experiments
#   make bench-txn, bench-store, bench-rdma                bars of transactions, stores, the verbs transport
#   make bench-goals BEFORE=FILE  ratios beside their goals, and those of an earlier build, FILE
#   make bench-graph, bench-mining                         comparison with other engines, built beforehand
#   make plain       engines without memory nodes, for `slimgraph experiment overall`
#
# MODE=release|debug|asan|tsan|fuzz|sim|relacy chooses build/MODE. Goals that only build name missing packages;
# run, test and the other goals install them (Debian). make uses all processors, unless -j is given.
# A new source file needs no line here.

MODE    ?= release
BUILD   ?= build/$(MODE)
PREFIX  ?= /usr/local
DESTDIR ?=
VERSION := 0.1.0
COMMIT  := $(shell git describe --always --dirty --abbrev=12 2>/dev/null)

MAKEFLAGS += --no-print-directory
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif
.DELETE_ON_ERROR:
.SECONDARY:

# ---- sources -----------------------------------------------------------------------------------
OUR_CODE    := $(shell find apps examples slimgraph dgemini dkudu txnlayer tests datasets \
                 -name '*.cc' -o -name '*.h' 2>/dev/null | sort)
SOURCES     := $(filter %.cc,$(OUR_CODE))
FOLDERS     := $(patsubst %/,%,$(sort $(dir $(SOURCES))))
LIB_SOURCES := $(filter slimgraph/% dgemini/% dkudu/% txnlayer/%,$(SOURCES))
APP_SOURCES := $(filter apps/%,$(SOURCES))
TEST_NAMES  := $(sort $(foreach d,$(wildcard tests/*/*_test.cc),$(notdir $(patsubst %/,%,$(dir $(d))))))
BENCHES     := $(patsubst tests/bench/%.cc,%,$(wildcard tests/bench/*_bench.cc))
FUZZERS     := $(patsubst tests/fuzz/%.cc,%,$(wildcard tests/fuzz/*_fuzz.cc))

LIBRARY     := $(BUILD)/libslimgraph.a
COMMAND     := $(BUILD)/slimgraph
TESTS       := $(TEST_NAMES:%=$(BUILD)/tests/%_test)

.PHONY: all debug run clean always
all: $(COMMAND)

include make/toolchain.mk

# ---- build -------------------------------------------------------------------------------------
include make/units.mk

$(LIBRARY): $(call objects,$(LIB_SOURCES))
	@rm -f $@
	@ar rcs $@ $^

$(COMMAND): $(call objects,$(APP_SOURCES)) $(LIBRARY)
	@echo "  LINK $@"
	@$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@.new && mv $@.new $@ # tests that run keep the old one

# Futures use thread-local variables of libstdc++. When Python imports the module, libstdc++ is loaded
# already, and there may be no fixed places left for them.
ifneq ($(filter release debug,$(MODE)),)
$(BUILD)/obj/slimgraph/session/internal/%.o: CXXFLAGS += -ftls-model=global-dynamic
endif

# Reports name the commit, so this file is compiled again when the commit has changed.
$(BUILD)/obj/apps/measure/build_facts.o: CXXFLAGS += -DSLIMGRAPH_COMMIT='"$(COMMIT)"'
$(BUILD)/obj/apps/measure/build_facts.o: $(BUILD)/commit
$(BUILD)/commit: $(if $(filter-out $(shell cat $(BUILD)/commit 2>/dev/null),$(COMMIT)),always)
	@mkdir -p $(@D) && echo '$(COMMIT)' >$@
always:

debug:
	@$(MAKE) MODE=debug all

clean:
	rm -rf build

# ---- run ---------------------------------------------------------------------------------------
DEMO := build/demo/kron16.slim

run: $(COMMAND)
	@mkdir -p $(dir $(DEMO))
	$(COMMAND) gen kron -s 16 --seed 1 -o $(DEMO)
	$(COMMAND) scan $(DEMO) --nodes 4 --compute 2
	$(COMMAND) bfs $(DEMO) --source 1 --nodes 4 --compute 2 --verify
	$(COMMAND) pagerank $(DEMO) --nodes 4 --compute 2 --verify

include make/tests.mk make/python.mk make/bench.mk make/lint.mk make/install.mk
-include $(shell find $(BUILD)/obj build/tidy -name '*.d' 2>/dev/null)
