# `make install` installs the command with its man pages and completions, the library, and the headers
# that programs of a user's own may include, slimgraph/session/, with what these include in turn.
# `make deb` makes a Debian package of the same files.

.PHONY: install deb

FACE           := $(wildcard slimgraph/session/*.h)
PUBLIC_HEADERS  = $(sort $(filter %.h,$(shell $(CXX) -std=c++20 -I. -MM $(FACE) 2>/dev/null)))
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
	@packaging/man-pages $(COMMAND) $(ROOT)/share/man/man1
	@packaging/completions $(COMMAND) $(ROOT)/share
	@echo "installed under $(ROOT)"

PACKAGE = $(BUILD)/slimgraph_$(VERSION)_$(shell dpkg --print-architecture 2>/dev/null).deb
deb: $(COMMAND) $(LIBRARY) | build/.deb-deps
	@rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb
	@$(MAKE) install DESTDIR=$(BUILD)/deb PREFIX=/usr >/dev/null
	@packaging/deb $(BUILD)/deb $(VERSION) $(PACKAGE)
build/.deb-deps: make/install.mk | build/.deps
	@mkdir -p build && $(PACKAGES) dpkg-dev && touch $@
