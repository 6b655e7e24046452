# SPDX-License-Identifier: GPL-2.0-or-later
# Into the system (PREFIX, DESTDIR), and into packages.
#
# The renderer is installed as chaingraph. "flamegraph" is a link to that, but never in the place of
# another program of this name; FLAMEGRAPH=no makes none.
INSTALL ?= install
BINDIR   = $(DESTDIR)$(PREFIX)/bin
MANDIR   = $(DESTDIR)$(PREFIX)/share/man
UNITDIR  = $(DESTDIR)$(PREFIX)/lib/systemd/system
DOCDIR   = $(DESTDIR)$(PREFIX)/share/doc/wakeup-chains
BASH_COMPLETIONS ?= $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS  ?= $(PREFIX)/share/zsh/site-functions
FLAMEGRAPH ?= yes
INSTALLED := chaincap chainwalk chaingraph
# Where the link goes and what it is called, of what.
ALIASES = $(BINDIR)/flamegraph:chaingraph $(MANDIR)/man1/flamegraph.1:chaingraph.1 \
	$(DESTDIR)$(BASH_COMPLETIONS)/flamegraph:chaingraph
install: all
	$(INSTALL) -d $(BINDIR) $(MANDIR)/man1 $(MANDIR)/man5 $(DOCDIR) $(UNITDIR) \
		$(DESTDIR)$(BASH_COMPLETIONS) $(DESTDIR)$(ZSH_COMPLETIONS)
	$(INSTALL) -m 755 $(O)/chaincap $(O)/chainwalk $(BINDIR)
	$(INSTALL) -m 755 $(O)/flamegraph $(BINDIR)/chaingraph
	$(INSTALL) -m 644 docs/chaincap.1 docs/chainwalk.1 $(MANDIR)/man1
	$(INSTALL) -m 644 docs/flamegraph.1 $(MANDIR)/man1/chaingraph.1
	$(INSTALL) -m 644 docs/chain-trace.5 $(MANDIR)/man5
	$(INSTALL) -m 644 CHANGELOG.md docs/chain-semantics.md docs/trace-format.md docs/security.md docs/permanent.md $(DOCDIR)
	$(INSTALL) -m 644 docs/systemd/chaincap.service docs/systemd/chaincap-every.service docs/systemd/chaincap-light.service $(UNITDIR)
	$(INSTALL) -m 644 $(INSTALLED:%=docs/completions/%) $(DESTDIR)$(BASH_COMPLETIONS)
	$(INSTALL) -m 644 $(INSTALLED:%=docs/completions/_%) $(DESTDIR)$(ZSH_COMPLETIONS)
ifneq ($(FLAMEGRAPH),no)
	@if [ "$$(readlink $(BINDIR)/flamegraph)" != chaingraph ] && [ -e $(BINDIR)/flamegraph ]; then \
		echo "install: $(BINDIR)/flamegraph is another program and stays: ours is chaingraph" >&2; \
	else $(foreach a,$(ALIASES),ln -sf $(lastword $(subst :, ,$(a))) $(firstword $(subst :, ,$(a))) &&) \
		true; fi
endif
uninstall:
	rm -f $(INSTALLED:%=$(BINDIR)/%) $(INSTALLED:%=$(MANDIR)/man1/%.1) $(MANDIR)/man5/chain-trace.5 \
		$(UNITDIR)/chaincap.service $(UNITDIR)/chaincap-every.service $(UNITDIR)/chaincap-light.service \
		$(INSTALLED:%=$(DESTDIR)$(BASH_COMPLETIONS)/%) $(INSTALLED:%=$(DESTDIR)$(ZSH_COMPLETIONS)/_%)
	rm -rf $(DOCDIR)
	@for a in $(ALIASES); do \
		[ "$$(readlink $${a%:*})" != $${a##*:} ] || rm -f $${a%:*}; done
# The programs without libraries, for machines like this one; and the sources of the commit that is checked out, the
# same bytes from the same commit.
dist: dist-sources static
	@sh docs/static/build.sh $(O) $(VERSION)
dist-sources:
	@mkdir -p $(O)
	@git -c safe.directory="$(CURDIR)" archive --format=tar --prefix=wakeup-chains-$(VERSION)/ -o $(O)/wakeup-chains-$(VERSION).tar HEAD
	@gzip -9nf $(O)/wakeup-chains-$(VERSION).tar
	@echo $(O)/wakeup-chains-$(VERSION).tar.gz
deb: # the Debian package, into $(O)/deb; ARCH=arm64: by the cross compiler
	@sh docs/debian/build.sh $(O) $(ARCH)
rpm: # the RPM package, into $(O)/rpm
	@sh docs/rpm/build.sh $(O)
test-deb: all deb # installs it in a fresh Debian below a folder, records there, removes it; emulates the other one
	@sh tests/package/run.sh $(O)
	@sh tests/package/deb_cross.sh $(O) || [ $$? = 77 ]
check-reproducible:
	@sh tests/package/reproducible.sh $(O)

.PHONY: install uninstall dist dist-sources deb rpm test-deb check-reproducible
