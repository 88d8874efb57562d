# How sources become objects. The compiler and clang-tidy see all sources of a folder as one unit (a
# unity build), since most of their time goes to headers that all sources include. With UNITY=no,
# a change compiles the changed files alone.
UNITY ?= $(if $(filter debug,$(MODE)),no,yes)

# These are never joined with others: they have a main or macros of their own, are compiled once for
# each vector extension, or are linked without the rest of their folder.
ALONE := %/main.cc examples/% apps/measure/build_facts.cc slimgraph/fabric/internal/make_transport.cc \
  dkudu/internal/kernel/bit_rows.cc dkudu/internal/kernel/merge.cc tests/support/list_append_checker.cc \
  tests/dgemini/graphs.cc tests/dkudu/support.cc tests/txnlayer/history_graph.cc \
  tests/txnlayer/pairs_workload.cc tests/relacy/%
# Of these folders the fuzzers need some sources, but not the fabric that the others use.
ifeq ($(MODE),fuzz)
ALONE += slimgraph/launch/% slimgraph/graph/% slimgraph/remote/% dkudu/ranked_lists.cc \
  dkudu/internal/graph/% tests/fuzz/%
endif

# Without rdma-core or with VERBS=no, the sources of the verbs transport are empty, and --transport
# verbs is an error that says so.
OF_VERBS := slimgraph/fabric/internal/verbs/%.cc tests/fabric/verbs_%.cc
compiled  = $(filter-out $(if $(filter $(OF_VERBS),$(1)),$(if $(VERBS_LIBS),,$(OF_VERBS))),$(1))
unit_of   = $(filter-out $(ALONE),$(wildcard $(1)/*.cc))
INCLUDE  := \#include
unit_text = printf '%s\n' $(patsubst %,'$(INCLUDE) "%"',$(call compiled,$(unit_of)))

ifeq ($(UNITY),yes)
objects = $(patsubst %.cc,$(BUILD)/obj/%.o,$(filter $(ALONE),$(1))) \
            $(patsubst %,$(BUILD)/obj/%unit.o,$(sort $(dir $(filter-out $(ALONE),$(1)))))
else
objects = $(patsubst %.cc,$(BUILD)/obj/%.o,$(1))
endif

$(BUILD)/obj/%.o: %.cc | build/.deps $(PREPARED)
	@mkdir -p $(@D)
	@echo "  CXX  $<"
	@$(CXX) $(CXXFLAGS) -MMD -MP -c $(if $(call compiled,$<),$<,-x c++ /dev/null) -o $@

# The folder itself is a prerequisite, since it changes when a source is deleted.
define unit_rule
$(BUILD)/obj/$(1)/unit.o: $(1) $(call unit_of,$(1)) | build/.deps $(PREPARED)
	@mkdir -p $$(@D)
	@echo "  CXX  $(1)"
	@$$(call unit_text,$(1)) >$$(@:.o=.cc)
	@$$(CXX) $$(CXXFLAGS) -MMD -MP -c $$(@:.o=.cc) -o $$@
endef
$(foreach folder,$(FOLDERS),$(eval $(call unit_rule,$(folder))))
