# `make install` installs the command and its man pages, the library, and the headers that programs
# of a user's own may include, slimgraph/session/, with what these include in turn.

.PHONY: install

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
	@echo "installed under $(ROOT)"
