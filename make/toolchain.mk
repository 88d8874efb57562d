# The packages that SlimGraph needs, and how the compiler is called in each MODE.

# ---- packages ----------------------------------------------------------------------------------
APT_PACKAGES := g++ make mpich libmpich-dev libcli11-dev libfmt-dev libexpected-dev \
  nlohmann-json3-dev libxxhash-dev libsodium-dev libzstd-dev zlib1g-dev libhwy-dev libnuma-dev \
  pkg-config libboost-context-dev libibverbs-dev libgtest-dev libgmock-dev python3 cmake iproute2
APT_LAB_PACKAGES := python3-pandas python3-matplotlib python3-jinja2
APT_TEST_PACKAGES := chromium $(APT_LAB_PACKAGES)
APT_PYTHON_PACKAGES := python3-venv python3-dev
APT_RELACY_PACKAGES := relacy-dev
APT_LINT_PACKAGES := clang clang-format clang-tidy libclang-rt-14-dev

# These goals install no packages.
ONLY_BUILDS := all debug plain python install clean $(BUILD)/% build/%
INSTALLS     = $(strip $(filter-out $(ONLY_BUILDS),$(MAKECMDGOALS)))
PACKAGES     = .ci/install-packages $(if $(INSTALLS),,--only-name)

.PHONY: deps lint-deps
deps: build/.deps
build/.deps: make/toolchain.mk
	@mkdir -p build && $(PACKAGES) $(APT_PACKAGES) && touch $@
# One after the other, since apt does not wait for another that renews its lists.
build/.test-deps: make/toolchain.mk | build/.deps
	@mkdir -p build
	@$(PACKAGES) $(APT_TEST_PACKAGES) || \
	  echo "slimgraph: without $(APT_TEST_PACKAGES) the tests that need it are skipped" >&2
	@touch $@
build/.relacy-deps: make/toolchain.mk | build/.deps
	@mkdir -p build && $(PACKAGES) $(APT_RELACY_PACKAGES) && touch $@
lint-deps: build/.lint-deps
build/.lint-deps: make/toolchain.mk | build/.deps
	@mkdir -p build && $(PACKAGES) $(APT_LINT_PACKAGES) && touch $@

# ---- compiler ----------------------------------------------------------------------------------
CXX      := mpicxx.mpich
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Werror
# Without OpenMP under sanitizers, which do not understand its threads.
OPENMP   := $(if $(filter release debug,$(MODE)),-fopenmp)
COMMON   := -std=c++20 -pthread $(OPENMP) -g $(WARNINGS) -I. -DSLIMGRAPH_VERSION='"$(VERSION)"'
# The library can also become part of a shared object, such as a Python module, at no cost: symbols
# are hidden, and thread-local variables lie where the loader has put them at the start.
SHARED       := -fPIC -fvisibility=hidden -ftls-model=initial-exec
# Without the parameter, GCC inlines less in the unit of a folder than in its single files.
MODE_release := -O3 -g1 -fno-omit-frame-pointer --param inline-unit-growth=300 $(SHARED)
MODE_debug   := -O0 -D_GLIBCXX_ASSERTIONS $(SHARED)
# At a fixed address: relocating a sanitized program takes half of the time of a small job.
MODE_asan    := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
                -D_GLIBCXX_ASSERTIONS -fno-pie -no-pie
MODE_tsan    := -O1 -g1 -fsanitize=thread -fno-omit-frame-pointer -fno-pie -no-pie
MODE_fuzz    := -O1 -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all
MODE_sim     := -O1 -g1 -DSLIMGRAPH_SIM
# relacy replaces the operators new and delete, but not those that are told a size.
MODE_relacy  := -O1 -g1 -DSLIMGRAPH_RELACY -include tests/relacy/relacy_atomic.h -fno-sized-deallocation
# With ccache, nothing is compiled again that was compiled before, in whatever folder. CCACHE=no: do
# not use it.
CCACHE    ?= $(shell command -v ccache)
CACHED    := $(filter-out no,$(CCACHE))
# MPICH's compiler calls this one.
export MPICH_CXX := $(CACHED) $(if $(filter fuzz,$(MODE)),clang++,g++)
ifneq ($(CACHED),)
export CCACHE_NOHASHDIR := yes
export CCACHE_SLOPPINESS := pch_defines,time_macros,include_file_mtime,include_file_ctime
endif
ifneq ($(MODE),fuzz)
COMMON += $(CACHED:%=-fpch-preprocess) -Wno-restrict # GCC 12 sees overlaps in concatenated strings (its bug 105651)
endif
CXXFLAGS += $(COMMON) $(MODE_$(MODE))
LDLIBS    = -lfmt -lxxhash -lsodium -lzstd -lz -lhwy -lhwy_contrib -lnuma -lboost_context -ldl $(VERBS_LIBS)

# Evaluated late, since the first build may install rdma-core.
VERBS_LIBS = $(if $(filter no,$(VERBS)),,$(shell pkg-config --silence-errors --libs libibverbs))
$(BUILD)/obj/slimgraph/fabric/internal/make_transport.o: \
  CXXFLAGS += $(if $(VERBS_LIBS),-DSLIMGRAPH_HAVE_VERBS)

# Tests are compiled for short build times, not for speed. Under sanitizers, the command is too. Tests
# are not checked for undefined behaviour; the code that they call is.
ifneq ($(filter release asan tsan,$(MODE)),)
$(BUILD)/obj/tests/%.o: CXXFLAGS += -Og
endif
ifeq ($(MODE),asan)
$(BUILD)/obj/tests/%.o: CXXFLAGS += -fno-sanitize=undefined
endif
ifneq ($(filter asan tsan,$(MODE)),)
$(BUILD)/obj/apps/%.o: CXXFLAGS += -Og
endif
ifeq ($(MODE),release)
$(BUILD)/obj/tests/bench/%.o: CXXFLAGS += -O3
endif

# A precompiled header of what nearly all sources include. Not for fully optimised code: there GCC
# ignores the pragmas in the standard library's headers that suppress warnings. PCH=no disables it.
PCH_HEADERS := algorithm array atomic chrono condition_variable cstring filesystem fstream functional \
                 map memory mutex optional span string thread unordered_map vector fmt/format.h \
                 tl/expected.hpp
PREAMBLE    := $(BUILD)/pch/preamble.h
PCH         ?= $(if $(filter release asan tsan sim,$(MODE)),yes,no)
ifneq ($(PCH),no)
PREPARED    := $(PREAMBLE).gch
PREPARE     := $(if $(filter release,$(MODE)),tests/%,%)
$(PREPARE:%=$(BUILD)/obj/%.o): private CXXFLAGS += -include $(PREAMBLE)
endif

$(PREAMBLE).gch: make/toolchain.mk | build/.deps
	@mkdir -p $(@D)
	@printf '#include <%s>\n' $(PCH_HEADERS) >$(PREAMBLE)
	@echo "  CXX  $(PREAMBLE)"
	@$(CXX) $(CXXFLAGS) -x c++-header -c $(PREAMBLE) -o $@
