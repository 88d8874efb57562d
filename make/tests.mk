# Tests, sanitizers, the grid of random points, and fuzzers.

.PHONY: test test-page test-hosts test-rdma unit-tests race-tests pool-kills asan tsan grid grid-planted unit-planted sim sim-tests sim-shrink sim-replay sim-planted scale scale-check relacy relacy-planted fuzz prebuilt

LAB := PYTHONPATH=python python3 -B -m slimgraph.lab

# Scripts that test the tree or its products. They do not depend on MODE.
PAGE_TEST := python/tests/lab/page_test.py
SCRIPTS   := $(sort $(wildcard tests/*/*_test.sh tests/*/*_test.py) \
               $(filter-out $(PAGE_TEST),$(wildcard python/tests/lab/*_test.py)))

# tests/apps is linked with all of the command except its main.
define test_binary
$(BUILD)/tests/$(1)_test: $$(call objects,$$(wildcard tests/$(1)/*.cc tests/support/*.cc) \
  $$(if $$(filter apps,$(1)),$$(filter-out apps/main.cc,$(APP_SOURCES)))) $(LIBRARY)
	@mkdir -p $$(@D)
	@echo "  LINK $$@"
	@$$(CXX) $$(CXXFLAGS) $$^ -lgtest -lgmock $$(LDLIBS) -o $$@
endef
$(foreach name,$(TEST_NAMES),$(eval $(call test_binary,$(name))))

# Tests find the command and make by these variables.
TEST_ENVIRONMENT := TEST_SLIMGRAPH_COMMAND=$(abspath $(COMMAND)) TEST_MAKE='$(MAKE)' \
  UBSAN_OPTIONS=print_stacktrace=1 \
  LSAN_OPTIONS=suppressions=$(abspath tests/support/lsan.supp):print_suppressions=0 \
  TSAN_OPTIONS=die_after_fork=0:second_deadlock_stack=1
# For all tests of one program together, also on a slow machine.
TEST_LIMIT_S     := $(if $(filter release,$(MODE)),900,1500)
# Without tests of the mpi transport: MPI's library is not sanitized, and is slow here. Without long
# tests whose code paths others take too:
# - `slimgraph experiment`, which runs other commands, and the commands for vertex programs, also
#   with changing compute nodes, which dgemini_test and PoolJobs run;
# - nowait and waitdie, of which boundedwait takes all paths, and forms that differ by transaction;
# - deaths, snapshots, durable logs and graphs under all protocols but occ and calvin, and launched
#   stores but under occ, since other tests run the protocols' own code;
# - applications on nodes of the larger shapes, and one of two ways to damage a file;
# - how much memory commands take, how long they wait, and what they say of nodes that end;
# - calls that are long so that one can watch them, and lists and windows that are long or many.
NOT_SANITIZED := *mpi*:ExperimentCommands.*:VertexCommands.*:Resizing.*:Surviving.*:*/nowait:*/waitdie:*WithMixedForms*
FEWER := $(foreach suite,Deaths Snapshots Durable Graphs,$(addprefix *$(suite)*/,boundedwait to mvcc sundial))
NOT_SANITIZED := $(NOT_SANITIZED):$(subst $() ,:,$(FEWER))
NOT_SANITIZED := $(NOT_SANITIZED):MemoryOf.*:*MemoryIsAnnounced*:*AnnouncedMemory*:ChunkMemory.*:Waits/*:Faults/FaultyNode.*:Sides/*:DoctorHosts.*:*LastWriteOfEvery*/Undirected
NOT_SANITIZED := $(NOT_SANITIZED):$(subst $() ,:,$(addprefix *LaunchedStores.Commit*/,mvcc sundial calvin))
NOT_SANITIZED := $(NOT_SANITIZED):*WhenFormsChange*:StoreWorkloads.RunUnderAllProtocols*
NOT_SANITIZED := $(NOT_SANITIZED):*/Watched.*:LoadedGraphs.*:*FetchesAListLonger*:*OfManyWindows*
NOT_SANITIZED := $(NOT_SANITIZED):CommandLine.ScanReads*:PoolJobs.AgreeWith*:TxnSweep.Grows*
NOT_SANITIZED := $(NOT_SANITIZED):Applying.RandomFiles*:WrongGraph.WithOffsetsThatFall*
NOT_SANITIZED := $(NOT_SANITIZED):*Cold*/4nodes*:*Cold*/5nodes*:*/ApplicationsOn*/5nodes?compute:*/ApplicationsOn*/*nodes4compute:*/ApplicationsOn*/8nodes3compute
ifneq (,$(filter $(MODE),asan tsan))
TEST_ENVIRONMENT += GTEST_FILTER=-$(NOT_SANITIZED)
endif
# A smaller quarantine and shorter stack traces of allocations than by default save time.
TEST_ENVIRONMENT += ASAN_OPTIONS=quarantine_size_mb=16:malloc_context_size=8
ifeq ($(MODE),tsan)
# The thread sanitizer of GCC 12 does not start with much address randomisation, and fails with the
# hooks of UCX in madvise.
TEST_ENVIRONMENT += UCX_MEM_EVENTS=no $(shell setarch -R true 2>/dev/null && echo setarch -R)
endif

# Tests often wait for their nodes, so more run at once than there are processors. The longest ones
# start first, so that none is alone at the end.
TEST_JOBS    := $(if $(filter release,$(MODE)),3,2)
LONG_TESTS   := $(foreach name,txnlayer apps session,$(filter %/$(name)_test,$(TESTS)))
LONG_SCRIPTS := tests/python/package_test.sh tests/install/install_test.sh
OTHER_TESTS  := $(filter-out $(LONG_TESTS),$(TESTS))
RUN_TESTS     = $(TEST_ENVIRONMENT) tests/run --limit-s $(TEST_LIMIT_S) --jobs $(TEST_JOBS) $(LONG_TESTS)

test: $(TESTS) $(COMMAND) | build/.test-deps
	@$(RUN_TESTS) $(LONG_SCRIPTS) $(OTHER_TESTS) $(filter-out $(LONG_SCRIPTS),$(SCRIPTS))

# Runs the small form of all experiments, and looks at their page in a browser.
test-page: $(COMMAND) | build/.test-deps
	@$(TEST_ENVIRONMENT) tests/run --limit-s $(TEST_LIMIT_S) $(PAGE_TEST)

# GRID_SEED=N draws the same points again, GRID_POINT=K runs that one alone.
GRID_SECONDS ?= 180
GRID_CHECKER := $(BUILD)/grid/check_history
GRID          = PYTHONDONTWRITEBYTECODE=1 tests/grid/grid.py --seconds $(GRID_SECONDS) \
                  --command $(COMMAND) --checker $(GRID_CHECKER) $(if $(GRID_SEED),--seed $(GRID_SEED)) \
                  $(if $(GRID_POINT),--point $(GRID_POINT)) $(if $(GRID_FAMILY),--family $(GRID_FAMILY))

$(GRID_CHECKER): $(call objects,tests/grid/check_history.cc tests/support/list_append_checker.cc) $(LIBRARY)
	@mkdir -p $(@D)
	@echo "  LINK $@"
	@$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@

grid: $(COMMAND) $(GRID_CHECKER)
	@$(GRID)

# Builds a copy of the tree with each patch of tests/grid/planted. All use the same folder, so that
# only the files that a patch affects are compiled. PLANTED=NAME: that patch alone.
grid-planted: $(COMMAND) $(GRID_CHECKER)
	@PYTHONDONTWRITEBYTECODE=1 tests/grid/planted.py --make '$(MAKE)' --checker $(GRID_CHECKER) $(PLANTED)

# The same for the tests of each other folder that has a planted/. FOLDER=NAME: of that folder alone.
FOLDER ?= $(filter-out grid pool relacy sim,$(patsubst tests/%/planted,%,$(wildcard tests/*/planted)))
unit-planted: $(COMMAND) $(TESTS)
	@for folder in $(FOLDER); do \
	  echo "$$folder:"; \
	  PYTHONDONTWRITEBYTECODE=1 tests/support/planted.py --make '$(MAKE)' $$folder $(PLANTED) || exit 1; \
	done

RDMA_TESTS := $(foreach name,fabric graph txnlayer,$(BUILD)/tests/$(name)_test)

# Jobs across hosts. The hosts are network namespaces, which need root.
SESSION_TEST := $(BUILD)/tests/session_test
test-hosts: $(COMMAND) $(SESSION_TEST)
	@TEST_SLIMGRAPH_COMMAND=$(abspath $(COMMAND)) TEST_SESSION=$(abspath $(SESSION_TEST)) \
	  tests/hosts/across_hosts.py

test-rdma: $(COMMAND) $(RDMA_TESTS)
	@$(TEST_ENVIRONMENT) GTEST_FILTER='*verbs*:Verbs*:Numa.*:*/NumaPlacement.*' \
	  tests/rdma/run $(RDMA_TESTS) tests/rdma/jobs.py tests/rdma/limits.py

unit-tests: $(LONG_TESTS) $(TESTS) $(COMMAND)
	@$(RUN_TESTS) $(OTHER_TESTS)

# Kills and stops of processes of jobs and pools; KILLS_SEED=N draws the same again.
KILLS ?= 1000
pool-kills: $(COMMAND)
	@$(TEST_ENVIRONMENT) tests/pool/kills_test.py --points $(KILLS) $(if $(KILLS_SEED),--seed $(KILLS_SEED))

asan:
	@$(MAKE) MODE=$@ unit-tests

tsan:
	@$(MAKE) MODE=$@ race-tests

# Under the thread sanitizer everything takes ten times as long, so only a selection runs:
# - the fabric on two nodes, where threads take the same code paths as on many;
# - the data that threads of an engine share;
# - all stages of a transaction, logs, deaths and snapshots, each under one protocol or two.
RACE_TESTS  := $(foreach name,base txnlayer fabric remote launch dgemini dkudu cluster,$(BUILD)/tests/$(name)_test)
RACE_FABRIC := */shm2:*/tcp2:*/tcp2encrypted:Transports/Woken*:Job.*:Nodes/*:Collectives.*:HostCache*
RACE_ENGINE := *AbandonedReader*:EdgeCaches*:*/ListReaderOver*/shm:*/ApplicationsOn*/2nodes1compute:*/ApplicationsOn*/3nodes2compute:ThreadTeam*:WorkShares*:VertexList*:WorkOffers*:TaskShare*
RACE_TXN    := Coroutine*:*/Histories.*/occ:*/Histories.*BothForms*/nowait:*/Deaths.AtTheEndOf*/waitdie:*/Snapshots.*Edges*/sundial:*/Durable.CommitsSurviveTheDeath*/calvin:*/Workloads.Conserve*/mvcc
RACE_FILTER := $(RACE_FABRIC):$(RACE_ENGINE):$(RACE_TXN)-*FabricLargeSizes*:*mpi*:*verbs*
race-tests: $(RACE_TESTS)
	@$(TEST_ENVIRONMENT) env GTEST_FILTER='$(RACE_FILTER)' tests/run --limit-s $(TEST_LIMIT_S) --jobs 2 $(RACE_TESTS)

# ---- simulation ---------------------------------------------------------------------------------
# Nodes as threads of a deterministic simulation: SIM_SEEDS of each scenario, or as many as fit in
# SIM_SECONDS; SIM_FROM=K continues an earlier run. SIM_SEED=K SCENARIO=NAME tells the story of one
# run; sim-shrink, of a shorter one. SIM_ATOMICS=yes: threads interfere at operations on atomics with
# all seeds instead of half of them; no: with none.
# SIM_TRANSPORT=sim-datagrams lets all jobs use this transport.
SIM_SEEDS ?= 1000
SIMULATE  := $(BUILD)/tests/simulate
# What scenarios share with other tests.
SCENARIO_SUPPORT := tests/dgemini/graphs.cc tests/dkudu/support.cc \
  tests/txnlayer/history_graph.cc tests/txnlayer/pairs_workload.cc $(filter-out %/main.cc,$(wildcard tests/support/*.cc))
SIM_WORDS  = $(if $(SIM_SEED),--seed $(SIM_SEED),--seeds $(SIM_SEEDS)) \
               $(if $(SIM_FROM),--from $(SIM_FROM)) $(if $(SIM_SECONDS),--seconds $(SIM_SECONDS)) \
               $(if $(SIM_ATOMICS),--atomics $(SIM_ATOMICS)) \
               $(if $(SIM_TRANSPORT),--transport $(SIM_TRANSPORT)) $(SCENARIO)

$(SIMULATE): $(call objects,$(wildcard tests/sim/*.cc) $(SCENARIO_SUPPORT)) $(LIBRARY)
	@mkdir -p $(@D)
	@echo "  LINK $@"
	@$(CXX) $(CXXFLAGS) $^ -lgtest $(LDLIBS) -o $@

# sim-replay tests that REPLAY_SEEDS seeds of each scenario run alike in this build and in one of a copy
# of the tree, or in OTHER_BUILD, another program or a file with what `simulate --seeds N` has printed.
REPLAY_SEEDS ?= 5
# Unit tests whose nodes can be those of a simulation.
SIM_TESTS := $(BUILD)/tests/cluster_test $(BUILD)/tests/fabric_test

ifeq ($(MODE),sim)
sim: $(SIMULATE)
	@$(SIMULATE) $(SIM_WORDS)
sim-tests: $(SIM_TESTS)
	@GTEST_FILTER='*/ManyNodes.*:SimDatagrams.*' tests/run --limit-s $(TEST_LIMIT_S) $(SIM_TESTS)
sim-shrink: $(SIMULATE)
	@$(SIMULATE) --shrink $(SIM_WORDS)
sim-replay: $(SIMULATE)
	@PYTHONDONTWRITEBYTECODE=1 tests/sim/replay.py --make '$(MAKE)' --seeds $(REPLAY_SEEDS) \
	  $(if $(SIM_FROM),--from $(SIM_FROM)) $(SCENARIO:%=--scenario %) $(SIMULATE) $(OTHER_BUILD)
else
sim sim-tests sim-shrink sim-replay:
	@$(MAKE) MODE=sim $@
endif

# Engines on 4 to 512 simulated nodes, as CSV and as plots in $(SCALE_PAGE). SCALE='--work pagerank
# --nodes 512 --network fdr' measures chosen points only.
SCALE_PAGE ?= build/scale/index.html
scale: | build/.test-deps
	@$(MAKE) MODE=sim build/sim/tests/simulate
	@bash -o pipefail -c "build/sim/tests/simulate scale $(SCALE) | \
	  $(LAB) scale $(SCALE_PAGE) 'simulate scale $(SCALE)'"

# The same simulated points beside real jobs.
scale-check: $(COMMAND)
	@$(MAKE) MODE=sim build/sim/tests/simulate
	@PYTHONDONTWRITEBYTECODE=1 tests/sim/calibration.py build/sim/tests/simulate $(COMMAND)

# Tests that the simulation finds each defect of tests/sim/planted within PLANTED_SEEDS seeds.
PLANTED_SEEDS ?= 5000
sim-planted:
	@$(MAKE) MODE=sim build/sim/tests/simulate
	@PYTHONDONTWRITEBYTECODE=1 tests/sim/planted.py --make '$(MAKE)' --seeds $(PLANTED_SEEDS) $(PLANTED)

# ---- memory orders ------------------------------------------------------------------------------
# Checks of small concurrent structures under the C++ memory model, by relacy. relacy-planted: each
# must also find the weaker orders of tests/relacy/planted. RELACY_SEED=N repeats the random
# schedules of a run.
RELACY_CHECKS := $(patsubst tests/relacy/%.cc,$(BUILD)/tests/relacy/%,$(wildcard tests/relacy/*.cc))

$(BUILD)/obj/tests/relacy/%.o: | build/.relacy-deps
$(RELACY_CHECKS): $(BUILD)/tests/relacy/%: $(BUILD)/obj/tests/relacy/%.o
	@mkdir -p $(@D)
	@$(CXX) $(CXXFLAGS) $^ -lfmt -o $@

ifeq ($(MODE),relacy)
relacy relacy-planted: $(RELACY_CHECKS)
	@PYTHONDONTWRITEBYTECODE=1 tests/relacy/run.py $(if $(RELACY_SEED),--seed $(RELACY_SEED)) \
	  $(if $(filter relacy-planted,$@),--planted) \
	  --compile '$(CXX) $(filter-out -DSLIMGRAPH_VERSION%,$(CXXFLAGS))' --link=-lfmt $(RELACY_CHECKS)
else
relacy relacy-planted:
	@$(MAKE) MODE=relacy $@
endif

# ---- fuzzers -----------------------------------------------------------------------------------
# Clang builds the fuzzers. Each runs for FUZZ_SECONDS on its corpus. An input that makes one fail
# is kept in build/fuzz/fuzz.
FUZZ_SECONDS ?= 5
FUZZED := $(call objects,slimgraph/launch/handshake.cc \
  slimgraph/launch/frame.cc \
  slimgraph/launch/joining.cc slimgraph/remote/list_code.cc dkudu/ranked_lists.cc \
  $(addprefix dkudu/internal/graph/,degree_order.cc file_lists.cc ranked_file.cc) \
  $(wildcard slimgraph/base/*.cc slimgraph/files/*.cc slimgraph/files/internal/*.cc slimgraph/graph/*.cc \
    slimgraph/remote/internal/*.cc txnlayer/disk/*.cc txnlayer/disk/internal/*.cc \
    txnlayer/graph_model/*.cc))

# A library of the code under test, without the fabric and jobs.
$(BUILD)/libfuzzed.a: $(FUZZED)
	@rm -f $@
	@ar rcs $@ $^

$(BUILD)/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/libfuzzed.a
	@mkdir -p $(@D)
	@echo "  LINK $@"
	@$(CXX) $(CXXFLAGS) -fsanitize=fuzzer $^ $(LDLIBS) -o $@

ifeq ($(MODE),fuzz)
RUNS_OF_FUZZERS := $(FUZZERS:%=run-%)
.PHONY: $(RUNS_OF_FUZZERS)
fuzz: $(RUNS_OF_FUZZERS)

$(RUNS_OF_FUZZERS): run-%: $(BUILD)/fuzz/%
	@echo "  FUZZ $* for $(FUZZ_SECONDS) s"
	@mkdir -p $(BUILD)/fuzz/corpus/$*
	@$(BUILD)/fuzz/$* -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=1024 -timeout=20 -verbosity=0 \
	  -print_final_stats=1 -artifact_prefix=$(BUILD)/fuzz/ $(BUILD)/fuzz/corpus/$* tests/fuzz/corpus/$* \
	  >$(BUILD)/fuzz/$*.log 2>&1 || { cat $(BUILD)/fuzz/$*.log; exit 1; }
	@grep executed_units $(BUILD)/fuzz/$*.log
else
fuzz: | build/.lint-deps
	@$(MAKE) --no-print-directory MODE=fuzz fuzz
endif

# ---- builds ahead -------------------------------------------------------------------------------
# What the goals of a MODE run, built and not run: .ci/run builds it while other stages wait.
PREBUILT_release := $(TESTS) $(COMMAND)
PREBUILT_sim     := $(SIMULATE) $(SIM_TESTS)
PREBUILT_asan    := $(TESTS) $(COMMAND)
PREBUILT_tsan    := $(RACE_TESTS)
PREBUILT_relacy  := $(RELACY_CHECKS)
PREBUILT_fuzz    := $(FUZZERS:%=$(BUILD)/fuzz/%)
prebuilt: $(PREBUILT_$(MODE))
