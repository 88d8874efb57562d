# `make install` installs the command with its man pages, completions and lab, the library, and the headers
# that programs of a user's own may include, slimgraph/session/, with what these include in turn.
# `make deb` makes two Debian packages of these files.

.PHONY: install deb test-deb

FACE           := $(wildcard slimgraph/session/*.h)
PUBLIC_HEADERS  = $(sort $(filter %.h,$(shell $(CXX) -std=c++20 -I. -MM $(FACE) 2>/dev/null)))
MPI_LIBRARIES   = $(filter -L% -l%,$(shell $(CXX) -show 2>/dev/null))
ROOT            = $(DESTDIR)$(PREFIX)
# The lab, with the files of the package itself.
LAB_FILES      := $(patsubst python/%,%,$(wildcard python/slimgraph/*.py) \
  $(shell find python/slimgraph/lab -name '*.py' -o -path '*/lab/*.html' -o -path '*/lab/*.css'))
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
	@packaging/man-pages $(COMMAND) $(ROOT)/share/man/man1
	@packaging/completions $(COMMAND) $(ROOT)/share
	@set -e; for file in $(LAB_FILES); do \
	  install -D -m 644 python/$$file $(ROOT)/share/slimgraph/python/$$file; done
	@echo "installed under $(ROOT)"

# What programs that are linked with the library need.
LIBRARY_PACKAGES := $(filter-out nlohmann-json3-dev libcli11-dev libgtest-dev libgmock-dev, \
  $(filter %-dev,$(APT_PACKAGES)))
deb: $(COMMAND) $(LIBRARY) | build/.deb-deps
	@rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb
	@$(MAKE) install DESTDIR=$(BUILD)/deb PREFIX=/usr >/dev/null
	@packaging/deb $(BUILD)/deb $(VERSION) $(BUILD) '$(strip $(LIBRARY_PACKAGES))' '$(APT_LAB_PACKAGES)'
# Installs both packages in a fresh Debian and uses them. Needs root and mmdebstrap.
test-deb:
	@tests/install/clean_debian.sh $$($(MAKE) -s deb | tail -n 2)
build/.deb-deps: make/install.mk | build/.deps
	@mkdir -p build && $(PACKAGES) dpkg-dev && touch $@
