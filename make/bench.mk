# Benches. Each figure in the documents comes from one of these goals.

.PHONY: plain bench bench-parts bench-graph bench-mining bench-rdma bench-txn bench-store bench-goals bench-before

$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(LIBRARY)
	@mkdir -p $(@D)
	@$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@

# The command with engines that do not know memory nodes. Inline functions depend on the macro, so
# all objects of the program are compiled with it.
PLAIN := $(BUILD)/plain/slimgraph
plain: $(PLAIN)
$(PLAIN): always
	@$(MAKE) PLAIN_BUILD=yes BUILD=$(BUILD)/plain all
ifeq ($(PLAIN_BUILD),yes)
COMMON += -DSLIMGRAPH_PLAIN
endif

# The small form of all experiments, on one page. Earlier measurements of the same build are kept.
BENCH_BUDGET ?= 8m
REPORT       := build/report

bench: bench-parts $(PLAIN) | build/.test-deps
	$(COMMAND) experiment all --small --budget $(BENCH_BUDGET) -o $(REPORT) --csv

bench-parts: $(BENCHES:%=$(BUILD)/bench/%) | $(COMMAND)
	@set -e; for bench in $^; do echo "== $${bench##*/}"; $$bench; done
	@set -e; for transport in shm tcp mpi; do echo "== fabric over $$transport"; \
	  $(COMMAND) bench fabric --transport $$transport; done

# The lab runs a bench, a file of tests/bench. PARTS='single memory' chooses parts.
BENCH := TEST_SLIMGRAPH_COMMAND=$(abspath $(COMMAND)) $(LAB) bench tests/bench

# Compares with engines that you have built: GAPBS=DIR LIGRA=DIR GEMINI=DIR, and with NetworKit in a
# Python interpreter: NETWORKIT=PYTHON; each optional. APPLICATIONS=cdlp,kcore chooses applications.
bench-graph: $(COMMAND) $(BUILD)/bench/export_graph $(BUILD)/bench/serial_codes
	@$(BENCH)/graph.py $(PARTS)

# Ratios within one run. DBX1000=DIR compares with a DBx1000 that you have built there.
bench-txn: $(COMMAND)
	@$(BENCH)/txn.py $(PARTS) $(if $(DBX1000),--dbx1000 $(DBX1000))

# Compares with perftest's programs, on an RDMA device or in the virtual machine.
bench-rdma: $(COMMAND)
	@TEST_SLIMGRAPH_COMMAND=$(abspath $(COMMAND)) tests/rdma/bench.py

bench-store: $(COMMAND)
	@$(BENCH)/store.py $(PARTS)

# Compares with engines that you have built: GAPBS=DIR GRAPHMINER=DIR KCLIST=DIR, and with NetworKit
# as above; each optional.
bench-mining: $(COMMAND)
	@$(BENCH)/mining.py $(PARTS)

# One table of goals and of what was measured, also of an earlier build, whose command is BEFORE=FILE.
bench-goals: $(COMMAND) $(BUILD)/bench/export_graph $(BUILD)/bench/serial_codes
	@$(BENCH)/goals.py $(PARTS) $(if $(BEFORE),--before $(BEFORE))

# BEFORE=FILE is the command of an earlier build: processor seconds of both, or INSTRUCTIONS=yes.
bench-before: $(COMMAND)
	@$(BENCH)/before.py --before $(BEFORE) \
	  $(if $(INSTRUCTIONS),--instructions) $(if $(ROWS),--rows '$(ROWS)')
