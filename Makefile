# SlimGraph. `make run` and `make test` are all that a first visit needs.
#
#   make            the slimgraph command and library, optimised       make run      a first job on 4 nodes
#   make debug      with assertions of the standard library, -O0       make test     all tests, one count
#   make test-rdma  the tests of the verbs transport, in a virtual machine where there is no adapter
#   make asan       the unit tests under address + undefined sanitizer make tsan     … under thread sanitizer
#   make format     rewrite the code in the house format               make lint     format check + clang-tidy
#   make test-hosts  jobs across four hosts (root)
#   make bench-store  the bars of graphs that change
#   make bench-txn  the bars of transactions                        DBX1000=DIR,…: also against DBx1000
#   make bench-rdma  latencies over verbs beside perftest's programs
#   make bench      the measured bars, and build/report/index.html: all experiments, small
#   make fuzz       a short run of every fuzzer
#   make plain      engines without delegation, for `slimgraph experiment overall`
#   make bench-graph  vertex programs beside other engines, GAPBS=DIR LIGRA=DIR GEMINI=DIR
#   make bench-mining  D-Kudu beside GAPBS=DIR GRAPHMINER=DIR KCLIST=DIR, each built already and optional
#   make install    PREFIX=/usr/local DESTDIR=                          make clean
#
# MODE=release|debug|asan|tsan|fuzz chooses build/MODE. What make runs, it runs on all processors;
# make -j1 does not.

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

# ---- what it needs -----------------------------------------------------------------------------
APT_PACKAGES := g++ make mpich libmpich-dev libcli11-dev libfmt-dev libexpected-dev \
  nlohmann-json3-dev libxxhash-dev libzstd-dev zlib1g-dev libhwy-dev libnuma-dev pkg-config \
  libboost-context-dev libibverbs-dev libgtest-dev libgmock-dev python3 cmake iproute2
APT_TEST_PACKAGES := chromium
APT_LINT_PACKAGES := clang clang-format clang-tidy libclang-rt-14-dev

# ---- compiler ----------------------------------------------------------------------------------
CXX      := mpicxx.mpich
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Werror
COMMON   := -std=c++20 -pthread -fopenmp -g $(WARNINGS) -I. -DSLIMGRAPH_VERSION='"$(VERSION)"'
MODE_release := -O3 -g1 -fno-omit-frame-pointer
MODE_debug   := -O0 -D_GLIBCXX_ASSERTIONS
MODE_asan    := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
                -D_GLIBCXX_ASSERTIONS
MODE_tsan    := -O1 -fsanitize=thread -fno-omit-frame-pointer
MODE_fuzz    := -O1 -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all
ifeq ($(MODE),fuzz)
export MPICH_CXX := clang++
COMMON := $(filter-out -fopenmp,$(COMMON))
else
COMMON += -Wno-restrict # GCC 12 sees overlaps in concatenated strings (its bug 105651)
endif
CXXFLAGS += $(COMMON) $(MODE_$(MODE))
LDLIBS    = -lfmt -lxxhash -lzstd -lz -lhwy -lhwy_contrib -lnuma -lboost_context -ldl $(VERBS_LIBS)

# Without rdma-core, or with VERBS=no, the sources of the verbs transport are empty, and --transport
# verbs says so. Asked when it is needed, for the first build installs the packages.
VERBS_LIBS = $(if $(filter no,$(VERBS)),,$(shell pkg-config --silence-errors --libs libibverbs))
SOURCE     = $<
$(BUILD)/obj/slimgraph/fabric/internal/verbs/%.o $(BUILD)/obj/tests/fabric/verbs_%.o: \
  SOURCE = $(if $(VERBS_LIBS),$<,-x c++ /dev/null)
$(BUILD)/obj/slimgraph/fabric/internal/make_transport.o: \
  CXXFLAGS += $(if $(VERBS_LIBS),-DSLIMGRAPH_HAVE_VERBS)

# ---- sources: a new file needs no line here ----------------------------------------------------
LIB_SOURCES := $(wildcard slimgraph/*/*.cc slimgraph/*/internal/*.cc slimgraph/*/internal/*/*.cc \
                 dgemini/*.cc dkudu/*.cc dkudu/*/*.cc txnlayer/*.cc txnlayer/*/*.cc \
                 experiment/*.cc experiment/*/*.cc)
APP_SOURCES := $(wildcard apps/*.cc apps/*/*.cc)
TEST_NAMES  := $(sort $(foreach d,$(wildcard tests/*/*_test.cc),$(notdir $(patsubst %/,%,$(dir $(d))))))
BENCHES     := $(patsubst tests/bench/%.cc,%,$(wildcard tests/bench/*_bench.cc))
FUZZERS     := $(patsubst tests/fuzz/%.cc,%,$(wildcard tests/fuzz/*_fuzz.cc))

objects      = $(patsubst %.cc,$(BUILD)/obj/%.o,$(1))
LIBRARY     := $(BUILD)/libslimgraph.a
COMMAND     := $(BUILD)/slimgraph
TESTS       := $(TEST_NAMES:%=$(BUILD)/tests/%_test)
# Scripts that test the tree or what is built from it, whatever the mode.
SCRIPTS     := $(sort $(wildcard tests/*/*_test.sh tests/*/*_test.py))
OUR_CODE    := $(shell find apps slimgraph dgemini dkudu txnlayer experiment tests datasets \
                 -name '*.cc' -o -name '*.h' 2>/dev/null | sort)

.PHONY: all debug asan tsan run test test-hosts test-rdma unit-tests format format-check lint tidy \
  bench bench-parts bench-graph bench-mining bench-rdma bench-txn bench-store fuzz install plain \
  clean deps lint-deps
.DELETE_ON_ERROR:
.SECONDARY:

all: $(COMMAND)

# ---- dependencies ------------------------------------------------------------------------------
deps: build/.deps
build/.deps: Makefile
	@mkdir -p build && .ci/install-packages $(APT_PACKAGES) && touch $@
build/.test-deps: Makefile
	@mkdir -p build
	@.ci/install-packages $(APT_TEST_PACKAGES) || \
	  echo "slimgraph: without $(APT_TEST_PACKAGES) the tests that need it are skipped" >&2
	@touch $@
lint-deps: build/.lint-deps
build/.lint-deps: Makefile
	@mkdir -p build && .ci/install-packages $(APT_LINT_PACKAGES) && touch $@

# ---- build -------------------------------------------------------------------------------------
# What is only run once need not be fast; it shall compile fast.
ifneq ($(filter release asan tsan,$(MODE)),)
$(BUILD)/obj/tests/%.o $(BUILD)/obj/experiment/%.o: CXXFLAGS += -Og
endif
ifeq ($(MODE),release)
$(BUILD)/obj/tests/bench/%.o: CXXFLAGS += -O3
endif

# What nearly every source includes is read once: not where all is optimised, for there GCC forgets
# what the standard library's headers tell it not to warn of. PCH=no does without, which ccache wants.
PCH_HEADERS := algorithm array atomic chrono condition_variable cstring filesystem fstream functional \
                 map memory mutex optional span string thread unordered_map vector fmt/format.h \
                 tl/expected.hpp
PREAMBLE    := $(BUILD)/pch/preamble.h
PCH         ?= $(if $(filter release asan tsan,$(MODE)),yes,no)
ifneq ($(PCH),no)
PREPARED    := $(PREAMBLE).gch
PREPARE     := $(if $(filter release,$(MODE)),tests/% experiment/%,%)
$(PREPARE:%=$(BUILD)/obj/%.o): private CXXFLAGS += -include $(PREAMBLE)
endif

$(PREAMBLE).gch: Makefile | build/.deps
	@mkdir -p $(@D)
	@printf '#include <%s>\n' $(PCH_HEADERS) >$(PREAMBLE)
	@echo "  CXX  $(PREAMBLE)"
	@$(CXX) $(CXXFLAGS) -x c++-header -c $(PREAMBLE) -o $@

$(BUILD)/obj/%.o: %.cc | build/.deps $(PREPARED)
	@mkdir -p $(@D)
	@echo "  CXX  $<"
	@$(CXX) $(CXXFLAGS) -MMD -MP -c $(SOURCE) -o $@

$(LIBRARY): $(call objects,$(LIB_SOURCES))
	@rm -f $@
	@ar rcs $@ $^

$(COMMAND): $(call objects,$(APP_SOURCES)) $(LIBRARY)
	@echo "  LINK $@"
	@$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@

# The command with engines that know of no memory nodes; all else is that of the other.
PLAIN_ONLY := slimgraph/cluster/topology.cc $(filter dgemini/% dkudu/%,$(LIB_SOURCES)) \
  $(addprefix apps/,bfs.cc centrality.cc cliques.cc components.cc local.cc match.cc mining.cc \
    motifs.cc pagerank.cc sssp.cc vertex_job.cc)
PLAIN      := $(BUILD)/plain/slimgraph
plain: $(PLAIN)
$(BUILD)/plain/obj/%.o: %.cc | build/.deps
	@mkdir -p $(@D)
	@echo "  CXX  $< (plain)"
	@$(CXX) $(CXXFLAGS) -DSLIMGRAPH_PLAIN -MMD -MP -c $< -o $@

$(PLAIN): $(PLAIN_ONLY:%.cc=$(BUILD)/plain/obj/%.o) \
  $(call objects,$(filter-out $(PLAIN_ONLY),$(APP_SOURCES))) $(LIBRARY)
	@echo "  LINK $@"
	@$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@

# The tests of the command are linked with all of it but its main.
define test_binary
$(BUILD)/tests/$(1)_test: $$(call objects,$$(wildcard tests/$(1)/*.cc tests/support/*.cc) \
  $$(if $$(filter apps,$(1)),$$(filter-out apps/main.cc,$(APP_SOURCES)))) $(LIBRARY)
	@mkdir -p $$(@D)
	@echo "  LINK $$@"
	@$$(CXX) $$(CXXFLAGS) $$^ -lgtest -lgmock $$(LDLIBS) -o $$@
endef
$(foreach name,$(TEST_NAMES),$(eval $(call test_binary,$(name))))

$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(LIBRARY)
	@mkdir -p $(@D)
	@$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@

# Fuzzers: `make fuzz` builds them with clang and runs each for FUZZ_SECONDS on its corpus. An input that
# makes one fail is kept in build/fuzz/fuzz.
FUZZ_SECONDS ?= 5
FUZZED := $(call objects,slimgraph/launch/node_limits.cc \
  $(wildcard slimgraph/base/*.cc slimgraph/graph/*.cc slimgraph/graph/internal/*.cc))

# As a library, from which a fuzzer takes what it needs: no fabric, no jobs.
$(BUILD)/libfuzzed.a: $(FUZZED)
	@rm -f $@
	@ar rcs $@ $^

$(BUILD)/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/libfuzzed.a
	@mkdir -p $(@D)
	@echo "  LINK $@"
	@$(CXX) $(CXXFLAGS) -fsanitize=fuzzer $^ $(LDLIBS) -o $@

ifeq ($(MODE),fuzz)
fuzz: $(FUZZERS:%=$(BUILD)/fuzz/%)
	@set -e; for name in $(FUZZERS); do \
	  echo "  FUZZ $$name for $(FUZZ_SECONDS) s"; \
	  new=$(BUILD)/fuzz/corpus/$$name; mkdir -p $$new; \
	  $(BUILD)/fuzz/$$name -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=1024 -timeout=20 -verbosity=0 \
	    -print_final_stats=1 -artifact_prefix=$(BUILD)/fuzz/ $$new tests/fuzz/corpus/$$name \
	    >$(BUILD)/fuzz/$$name.log 2>&1 || { cat $(BUILD)/fuzz/$$name.log; exit 1; }; \
	  grep executed_units $(BUILD)/fuzz/$$name.log; \
	done
else
fuzz: | build/.lint-deps
	@$(MAKE) --no-print-directory MODE=fuzz fuzz
endif

# The commit that a report names; made anew when it is another.
$(BUILD)/obj/experiment/machine.o: CXXFLAGS += -DSLIMGRAPH_COMMIT='"$(COMMIT)"'
$(BUILD)/obj/experiment/machine.o: $(BUILD)/commit
$(BUILD)/commit: $(if $(filter-out $(shell cat $(BUILD)/commit 2>/dev/null),$(COMMIT)),always)
	@mkdir -p $(@D) && echo '$(COMMIT)' >$@
.PHONY: always
always:

-include $(shell find $(BUILD)/obj $(BUILD)/plain build/tidy -name '*.d' 2>/dev/null)

debug:
	@$(MAKE) MODE=debug all

# ---- run ---------------------------------------------------------------------------------------
DEMO := build/demo/kron16.slim

run: $(COMMAND)
	@mkdir -p $(dir $(DEMO))
	$(COMMAND) gen kron -s 16 --seed 1 -o $(DEMO)
	$(COMMAND) scan $(DEMO) --nodes 4 --compute 2
	$(COMMAND) bfs $(DEMO) --source 1 --nodes 4 --compute 2 --verify
	$(COMMAND) pagerank $(DEMO) --nodes 4 --compute 2 --verify

# ---- tests -------------------------------------------------------------------------------------
# Tests that start the command, or make, find them by these variables.
TEST_ENVIRONMENT := TEST_SLIMGRAPH_COMMAND=$(abspath $(COMMAND)) TEST_MAKE='$(MAKE)' \
  UBSAN_OPTIONS=print_stacktrace=1 \
  LSAN_OPTIONS=suppressions=$(abspath tests/support/lsan.supp):print_suppressions=0 \
  TSAN_OPTIONS=die_after_fork=0:second_deadlock_stack=1
# A program's tests together, also on a slow machine.
TEST_LIMIT_S     := $(if $(filter release,$(MODE)),480,960)
# MPI's own library is not sanitized, and would only be slow.
ifneq (,$(filter $(MODE),asan tsan))
TEST_ENVIRONMENT += GTEST_FILTER=-*mpi*
endif
ifeq ($(MODE),tsan)
# GCC 12's does not start where addresses are too random, and cannot bear UCX's hooks in madvise.
TEST_ENVIRONMENT += UCX_MEM_EVENTS=no $(shell setarch -R true 2>/dev/null && echo setarch -R)
endif

# They mostly wait for nodes of their own, so two at once, and those that take longest first.
LONG_TESTS := $(foreach name,txnlayer fabric apps,$(filter %/$(name)_test,$(TESTS)))
RUN_TESTS   = $(TEST_ENVIRONMENT) tests/run --limit-s $(TEST_LIMIT_S) --jobs 2 \
                $(LONG_TESTS) $(filter-out $(LONG_TESTS),$(TESTS))

test: $(TESTS) $(COMMAND) | build/.test-deps
	@$(RUN_TESTS) $(SCRIPTS)

RDMA_TESTS := $(foreach name,fabric graph txnlayer,$(BUILD)/tests/$(name)_test)

# Across hosts, which are network namespaces: root only.
test-hosts: $(COMMAND)
	@TEST_SLIMGRAPH_COMMAND=$(abspath $(COMMAND)) tests/hosts/across_hosts.py

test-rdma: $(COMMAND) $(RDMA_TESTS)
	@$(TEST_ENVIRONMENT) GTEST_FILTER='*verbs*:Verbs*:Numa.*:*/NumaPlacement.*' \
	  tests/rdma/run $(RDMA_TESTS) tests/rdma/jobs.py

unit-tests: $(TESTS) $(COMMAND)
	@$(RUN_TESTS)

asan tsan:
	@$(MAKE) MODE=$@ unit-tests

# The small form of all experiments, on one page. What was measured before by the same build counts.
BENCH_BUDGET ?= 8m
REPORT       := build/report

bench: bench-parts $(PLAIN)
	$(COMMAND) experiment all --small --budget $(BENCH_BUDGET) -o $(REPORT) --csv

bench-parts: $(BENCHES:%=$(BUILD)/bench/%) | $(COMMAND)
	@set -e; for bench in $^; do echo "== $${bench##*/}"; $$bench; done
	@set -e; for transport in shm tcp mpi; do echo "== fabric over $$transport"; \
	  $(COMMAND) bench fabric --transport $$transport; done

# Beside other engines that are built already: GAPBS=DIR LIGRA=DIR GEMINI=DIR, each optional.
bench-graph: $(COMMAND) $(BUILD)/bench/export_graph
	@TEST_SLIMGRAPH_COMMAND=$(abspath $(COMMAND)) PYTHONDONTWRITEBYTECODE=1 tests/bench/vertex_bench.py $(PARTS)

# Ratios within one run; DBX1000=DIR compares with a DBx1000 that has been built there.
bench-txn: $(COMMAND)
	@tests/bench/txn_bench.py $(COMMAND) $(if $(DBX1000),--dbx1000 $(DBX1000))

# Beside perftest's programs, on an RDMA device or in the virtual machine.
bench-rdma: $(COMMAND)
	@TEST_SLIMGRAPH_COMMAND=$(abspath $(COMMAND)) tests/rdma/bench.py

bench-store: $(COMMAND)
	@PYTHONDONTWRITEBYTECODE=1 tests/bench/store_bench.py $(COMMAND)

bench-mining: $(COMMAND)
	@TEST_SLIMGRAPH_COMMAND=$(abspath $(COMMAND)) PYTHONDONTWRITEBYTECODE=1 tests/bench/mining_bench.py

# ---- format and lint ---------------------------------------------------------------------------
format: build/.lint-deps
	@clang-format -i $(OUR_CODE)

format-check: build/.lint-deps
	@clang-format --dry-run --Werror $(OUR_CODE)

# A folder is looked at again when a file of it, a header of one or the checks have changed. Sign
# conversions are not in GCC's -Wconversion, which is what counts.
MPI_INCLUDES = $(filter -I%,$(shell $(CXX) -show 2>/dev/null))
TIDY_FOLDERS := $(patsubst %/,%,$(sort $(dir $(filter-out tests/%,$(filter %.cc,$(OUR_CODE))))))
TIDY_FLAGS    = $(filter-out -fopenmp -Wno-restrict,$(COMMON)) $(MPI_INCLUDES) \
                  $(if $(VERBS_LIBS),-DSLIMGRAPH_HAVE_VERBS) -Wno-unknown-pragmas -Wno-sign-conversion
define tidy_folder
build/tidy/$(1).ok: $(wildcard $(1)/*.cc) .clang-tidy .ci/tidy | build/.lint-deps build/.deps
	@mkdir -p $$(@D)
	@echo "  TIDY $(1)"
	@$$(CXX) $$(CXXFLAGS) -MM -MP -MT $$@ $$(filter %.cc,$$^) >$$(@:.ok=.d)
	@.ci/tidy $$(@:.ok=.cc) $$(filter %.cc,$$^) -- $$(TIDY_FLAGS)
	@touch $$@
endef
$(foreach folder,$(TIDY_FOLDERS),$(eval $(call tidy_folder,$(folder))))

tidy: $(TIDY_FOLDERS:%=build/tidy/%.ok)

lint: format-check tidy

# ---- install -----------------------------------------------------------------------------------
PUBLIC_HEADERS := $(foreach header,$(filter-out apps/% experiment/% tests/% datasets/%, \
                    $(filter %.h,$(OUR_CODE))),$(if $(findstring /internal/,$(header)),,$(header)))
MPI_LIBRARIES   = $(filter -L% -l%,$(shell $(CXX) -show 2>/dev/null))
ROOT            = $(DESTDIR)$(PREFIX)
fill_in         = sed -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBRARIES@|$(LDLIBS) $(MPI_LIBRARIES)|' $(1) >$(2)

install: $(COMMAND) $(LIBRARY)
	@install -d $(ROOT)/bin $(ROOT)/lib/pkgconfig $(ROOT)/lib/cmake/SlimGraph
	@install -m 755 $(COMMAND) $(ROOT)/bin/slimgraph
	@install -m 644 $(LIBRARY) $(ROOT)/lib/libslimgraph.a
	@set -e; for header in $(PUBLIC_HEADERS); do \
	  install -D -m 644 $$header $(ROOT)/include/$$header; done
	@$(call fill_in,packaging/slimgraph.pc.in,$(ROOT)/lib/pkgconfig/slimgraph.pc)
	@set -e; for name in SlimGraphConfig SlimGraphConfigVersion; do \
	  $(call fill_in,packaging/$$name.cmake.in,$(ROOT)/lib/cmake/SlimGraph/$$name.cmake); done
	@echo "installed under $(ROOT)"

clean:
	rm -rf build
