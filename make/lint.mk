# clang-format and clang-tidy.

.PHONY: format format-check lint tidy

format: build/.lint-deps
	@clang-format -i $(OUR_CODE) $(wildcard python/src/*.cc python/src/*.h)

format-check: build/.lint-deps
	@clang-format --dry-run --Werror $(OUR_CODE) $(wildcard python/src/*.cc python/src/*.h)

# A folder is checked again when one of its files, a header that they include, or the checks have
# changed. -Wno-sign-conversion: GCC's -Wconversion does not contain it, and GCC's warnings count.
MPI_INCLUDES = $(filter -I%,$(shell $(CXX) -show 2>/dev/null))
TIDY_FLAGS    = $(filter-out -fopenmp -fpch-preprocess -Wno-restrict,$(COMMON)) $(MPI_INCLUDES) \
                  $(if $(VERBS_LIBS),-DSLIMGRAPH_HAVE_VERBS) -Wno-unknown-pragmas -Wno-sign-conversion
define tidy_folder
build/tidy/$(1).ok: $(1) $(wildcard $(1)/*.cc) .clang-tidy | build/.lint-deps build/.deps
	@mkdir -p $$(@D)
	@echo "  TIDY $(1)"
	@$$(call unit_text,$(1)) >$$(@:.ok=.cc)
	@$$(CXX) $$(CXXFLAGS) -MM -MP -MT $$@ $$(@:.ok=.cc) $$(filter $(ALONE),$$^) >$$(@:.ok=.d)
	@clang-tidy --quiet --warnings-as-errors='*' --config-file=.clang-tidy \
	  --checks=-bugprone-suspicious-include --header-filter='/\w+\.(h|cc)$$$$' \
	  $$(@:.ok=.cc) $$(filter $(ALONE),$$^) -- $$(TIDY_FLAGS)
	@touch $$@
endef
TIDY_FOLDERS := $(filter-out tests/%,$(FOLDERS))
$(foreach folder,$(TIDY_FOLDERS),$(eval $(call tidy_folder,$(folder))))

# The library's headers compile alone, as in a user's program. Those with a source file are the first
# that it includes.
LONE_HEADERS := $(filter-out $(SOURCES:.cc=.h) apps/% tests/% $(wildcard slimgraph/*/sim/*.h slimgraph/*/*/sim/*.h),\
                  $(filter %.h,$(OUR_CODE)))

build/tidy/%.h.ok: %.h | build/.deps
	@mkdir -p $(@D)
	@echo '$(INCLUDE) "$<"' | $(CXX) -std=c++20 $(WARNINGS) -I. -fsyntax-only -MMD -MP -MT $@ -MF $(@:.ok=.d) -x c++ -
	@touch $@

tidy: $(TIDY_FOLDERS:%=build/tidy/%.ok) $(LONE_HEADERS:%=build/tidy/%.ok)

lint: format-check tidy
