# SPDX-License-Identifier: GPL-2.0-or-later
# make: build into build/. make test, demo, demo-all, bench, lint, fuzz, install, deb, dist: see README.md.
#   O=DIR          build folder (default build)
#   SAN=1          AddressSanitizer and UndefinedBehaviorSanitizer, into build-san
#   PREFIX, DESTDIR for install

VERSION := 0.1.0
ifeq ($(SAN),1)
O       ?= build-san
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
endif
O       ?= build
PREFIX  ?= /usr/local
CC      ?= cc
CLANG   ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Werror
# The same bytes wherever the sources and the build folder are.
SAME_PATHS := -ffile-prefix-map=$(O)=build -ffile-prefix-map=$(CURDIR)=.
BASE    := -std=c17 -D_GNU_SOURCE -DCHAIN_VERSION='"$(VERSION)"' -pthread \
           -fno-omit-frame-pointer $(WARN) -Iinclude -I$(O)/gen $(SANFLAGS) $(SAME_PATHS)
DEPGEN   = -MMD -MP

PROGRAMS := chaincap chainwalk flamegraph
# V=1 shows the commands themselves.
ifneq ($(V),1)
Q = @echo "  $(@:$(O)/%=%)";
endif
all: $(PROGRAMS:%=$(O)/%) $(O)/chainload

# ---- rooms: all sources of a room; all but its main file are also linked into its tests ----
objs      = $(patsubst %.c,$(O)/%.o,$(wildcard $(1)/*.c))
COLLECTOR := $(call objs,collector)
ENGINE    := $(call objs,engine)
RENDER    := $(call objs,render)
COLLECTOR_LIB := $(filter-out $(O)/collector/chaincap.o,$(COLLECTOR))
# The report has the renderer's graph in it.
ENGINE_LIB    := $(filter-out $(O)/engine/chainwalk.o,$(ENGINE)) $(O)/libflamegraph.o
RENDER_LIB    := $(filter-out $(O)/render/flamegraph.o,$(RENDER))
ENGINE_LIBS := -lz -lm
ENCODER := $(O)/collector/encode.o $(O)/collector/encode_events.o $(O)/collector/intern.o
COLLECTOR_LIBS := -lbpf -luring -lelf -liberty
# Names in .gnu_debugdata, where liblzma is there (make LZMA= builds without it).
LZMA ?= $(shell pkg-config --exists liblzma 2>/dev/null && pkg-config --cflags --libs liblzma)
LZMA_FLAGS := $(if $(strip $(LZMA)),-DHAVE_LZMA $(filter-out -l% -L%,$(LZMA)))
COLLECTOR_LIBS += $(filter -l% -L%,$(LZMA))
$(O)/collector/minidebug.o: ROOM = $(LZMA_FLAGS)

$(O)/chaincap: $(COLLECTOR)
	$(Q)$(CC) $(CFLAGS) $(BASE) $(LDFLAGS) -o $@ $^ $(COLLECTOR_LIBS)
$(O)/chainwalk: $(ENGINE) $(O)/libflamegraph.o
	$(Q)$(CC) $(CFLAGS) $(BASE) $(LDFLAGS) -o $@ $^ $(ENGINE_LIBS)
$(O)/flamegraph: $(RENDER)
	$(Q)$(CC) $(CFLAGS) $(BASE) $(LDFLAGS) -o $@ $^ -lm

# The renderer for other programs (include/flamegraph.h): its own names stay inside.
$(O)/libflamegraph.o: $(RENDER_LIB)
	$(Q)$(LD) -r -o $@.tmp $^ && objcopy --wildcard --keep-global-symbol='flamegraph_*' $@.tmp $@ && rm $@.tmp

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(BASE) $(ROOM) $(DEPGEN) -c -o $@ $<
# Tests see the room that they test as its own files do.
$(O)/tests/unit/engine_%.o: ROOM = -Iengine -I.
$(O)/tests/unit/made%.o: ROOM = -Iengine -I.
$(O)/tests/unit/naive%.o: ROOM = -Iengine -I.
$(O)/tests/unit/collector_%.o: ROOM = -Icollector
$(O)/tests/unit/render_%.o: ROOM = -Irender

# ---- the BPF object and its skeleton: needs no BTF of the building machine ----
BPF_ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(shell uname -m)))
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
$(O)/gen/chaincap.bpf.o: bpf/chaincap.bpf.c $(wildcard bpf/*.h include/*.h)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Wextra -Werror -Iinclude $(SAME_PATHS) \
		$(if $(MULTIARCH),-idirafter /usr/include/$(MULTIARCH)) -c -o $@ $<
$(O)/gen/chaincap.skel.h: $(O)/gen/chaincap.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name chaincap_bpf >$@.tmp && mv $@.tmp $@
$(COLLECTOR): | $(O)/gen/chaincap.skel.h
$(O)/collector/bpf.o $(O)/collector/bpf_stacks.o: $(O)/gen/chaincap.skel.h

# ---- the page's script and style, embedded ----
$(O)/gen/page_%.h: render/page.% render/embed.sh
	@mkdir -p $(@D)
	$(Q)sh render/embed.sh page_$* <$< >$@.tmp && mv $@.tmp $@
$(RENDER): | $(O)/gen/page_js.h $(O)/gen/page_css.h
$(O)/gen/page_js.h: $(wildcard render/page/*.js)
$(O)/render/page.o: $(O)/gen/page_js.h $(O)/gen/page_css.h

# The report's, which is one script: its files in this order, in a scope of their own.
REPORT_JS := $(addprefix engine/report/,words.js data.js timeline.js waits.js tables.js filter.js)
$(O)/gen/report_js.h: $(REPORT_JS) render/embed.sh
	@mkdir -p $(@D)
	$(Q){ echo '"use strict"; {'; cat $(REPORT_JS); echo '}'; } | sh render/embed.sh report_js >$@.tmp && mv $@.tmp $@
$(O)/gen/report_css.h: engine/report/report.css render/embed.sh
	@mkdir -p $(@D)
	$(Q)sh render/embed.sh report_css <$< >$@.tmp && mv $@.tmp $@
$(O)/engine/format_html.o: $(O)/gen/report_js.h $(O)/gen/report_css.h

# ---- tests ----
, := ,
UNIT := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(wildcard tests/unit/engine_*.c tests/unit/collector_*.c tests/unit/render_*.c))
UNIT_HELP := $(patsubst %.c,$(O)/%.o,$(wildcard tests/unit/made*.c tests/unit/naive*.c))
$(O)/tests/unit/engine_%: $(O)/tests/unit/engine_%.o $(ENGINE_LIB) $(UNIT_HELP) $(ENCODER)
	$(Q)$(CC) $(CFLAGS) $(BASE) $(LDFLAGS) -o $@ $^ -lcmocka -lm $(ENGINE_LIBS)
$(O)/tests/unit/collector_%: $(O)/tests/unit/collector_%.o $(COLLECTOR_LIB)
	$(Q)$(CC) $(CFLAGS) $(BASE) $(LDFLAGS) -o $@ $^ -lcmocka $(COLLECTOR_LIBS)
# What a kernel cannot be made to fail at, a shim in this test does.
$(O)/tests/unit/collector_faults: LDFLAGS += $(addprefix -Wl$(,)--wrap=,io_uring_queue_init \
	io_uring_register_buffers io_uring_submit __io_uring_get_cqe pwrite write)
$(O)/tests/unit/render_%: $(O)/tests/unit/render_%.o $(RENDER_LIB)
	$(Q)$(CC) $(CFLAGS) $(BASE) $(LDFLAGS) -o $@ $^ -lcmocka -lm
# This one as other programs would: against the library.
$(O)/tests/unit/render_library: $(O)/tests/unit/render_library.o $(O)/libflamegraph.o
	$(Q)$(CC) $(CFLAGS) $(BASE) $(LDFLAGS) -o $@ $^ -lcmocka -lm
# The fuzz targets, which run their corpus once each: no fuzzer is needed for that.
REPLAY := $(O)/tests/replay/folded $(O)/tests/replay/trace
$(O)/tests/replay/folded: tests/fuzz/fuzz_folded.c $(RENDER_LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(BASE) -DREPLAY $(LDFLAGS) -o $@ $^ -lm
REPLAY += $(O)/tests/replay/import
$(O)/tests/replay/trace $(O)/tests/replay/import: $(O)/tests/replay/%: tests/fuzz/fuzz_%.c tests/fuzz/engine.h $(ENGINE_LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(BASE) -DREPLAY $(LDFLAGS) -o $@ $(filter-out %.h,$^) $(ENGINE_LIBS)
FUZZ_COLLECTOR := elf kallsyms minidebug perfmap procmaps
REPLAY += $(FUZZ_COLLECTOR:%=$(O)/tests/replay/%)
$(FUZZ_COLLECTOR:%=$(O)/tests/replay/%): $(O)/tests/replay/%: tests/fuzz/fuzz_%.c tests/fuzz/collector.h $(COLLECTOR_LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(BASE) $(LZMA_FLAGS) -DREPLAY $(LDFLAGS) -o $@ $(filter-out %.h,$^) $(COLLECTOR_LIBS)
unit: $(UNIT) $(REPLAY) $(O)/bench/generate

$(O)/chainload: tests/workload/chainload.c $(wildcard tests/workload/*.h)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -std=c17 -D_GNU_SOURCE $(WARN) -fno-omit-frame-pointer \
		-fno-optimize-sibling-calls -pthread -o $@ $(filter %.c,$^)

# ---- a second, independent count of the events, for tests ----
$(O)/gen/count_events.bpf.o: tests/tools/count_events.bpf.c bpf/kernel.h
	@mkdir -p $(@D)
	$(Q)$(CLANG) -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Wextra -Werror -Iinclude \
		$(if $(MULTIARCH),-idirafter /usr/include/$(MULTIARCH)) -c -o $@ $<
$(O)/gen/count_events.skel.h: $(O)/gen/count_events.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name count_events_bpf >$@.tmp && mv $@.tmp $@
$(O)/tests/tools/count_events.o: $(O)/gen/count_events.skel.h
$(O)/count_events: $(O)/tests/tools/count_events.o
	$(Q)$(CC) $(CFLAGS) $(BASE) $(LDFLAGS) -o $@ $^ -lbpf
# Runs a command with some system calls forbidden.
$(O)/forbid: $(O)/tests/tools/forbid.o
	$(Q)$(CC) $(CFLAGS) $(BASE) $(LDFLAGS) -o $@ $^
# A program whose stacks are known, and of which some functions are exported: for tests of names.
$(O)/names_load: tests/tools/names_load.c tests/workload/rawcall.h
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -std=c17 -D_GNU_SOURCE $(WARN) -fno-omit-frame-pointer -fno-optimize-sibling-calls \
		-rdynamic -pthread -Wl,--build-id -o $@ $<
unit: $(O)/count_events $(O)/forbid $(O)/names_load

# ---- benchmarks: each prints its figures ----
$(O)/bench/generate: $(O)/bench/generate.o $(O)/bench/server.o $(ENCODER)
	$(Q)$(CC) $(CFLAGS) $(BASE) $(LDFLAGS) -o $@ $^
$(O)/bench/cost: $(O)/bench/cost.o
	$(Q)$(CC) $(CFLAGS) $(BASE) $(LDFLAGS) -o $@ $^
# FULL=1: a trace of 100 million events, too.
bench-engine: all $(O)/bench/generate $(O)/bench/cost
	@bash bench/engine.sh $(O)

bench-exports: all $(O)/bench/generate $(O)/bench/cost
	@bash bench/exports.sh $(O)

# ---- what has to be installed first: make deps, make deps-test ----
deps:
	@sh tests/deps.sh build
deps-test:
	@sh tests/deps.sh build test

# ---- what a person runs: each works on a fresh clone ----
# Sub-makes, so that headers which deps installs are seen by the rules above.
test: deps-test
	@$(MAKE) --no-print-directory all unit
	@sh tests/run.sh $(O)
test-san: deps-test
	@$(MAKE) --no-print-directory SAN=1 O=build-san all unit
	@sh tests/run.sh build-san
test-kernels: # the distribution's kernels, under qemu
	@sh tests/deps.sh build
	@sh tests/deps.sh kernels || true # what is missing then is said, and skipped
	@$(MAKE) --no-print-directory all
	@sh tests/kernels/run.sh $(O)
demo: deps
	@$(MAKE) --no-print-directory all
	@sh tests/demo.sh $(O)

C_FILES := $(wildcard bpf/*.[ch] include/*.h collector/*.[ch] engine/*.[ch] render/*.[ch] \
             tests/unit/*.[ch] tests/tools/*.c tests/workload/*.[ch] tests/data/*.c tests/fuzz/*.[ch] bench/*.[ch] docs/examples/*.c)
fmt:
	clang-format -i $(C_FILES)
lint: deps-test
	clang-format --dry-run -Werror $(C_FILES)
	@! grep -nE '[[:space:]]+$$' $(C_FILES) tests/*.sh tests/e2e/*.sh Makefile
	@$(MAKE) --no-print-directory O=build-clang CC=clang all unit
	cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr -Iinclude \
		--enable=warning,portability --suppress=missingIncludeSystem \
		collector engine render tests/workload

FUZZERS := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZFLAGS := -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
fuzz: $(FUZZERS)
$(O)/fuzz/fuzz_folded: tests/fuzz/fuzz_folded.c $(filter-out render/flamegraph.c,$(wildcard render/*.c)) | $(O)/gen/page_js.h $(O)/gen/page_css.h
	@mkdir -p $(@D)
	$(Q)clang $(BASE) $(FUZZFLAGS) -o $@ $^ -lm
$(FUZZ_COLLECTOR:%=$(O)/fuzz/fuzz_%): $(O)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/collector.h \
		$(filter-out collector/chaincap.c,$(wildcard collector/*.c)) | $(O)/gen/chaincap.skel.h
	@mkdir -p $(@D)
	$(Q)clang $(BASE) $(FUZZFLAGS) $(LZMA_FLAGS) -o $@ $(filter-out %.h,$^) $(COLLECTOR_LIBS)
$(O)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(filter-out engine/chainwalk.c,$(wildcard engine/*.c)) $(O)/libflamegraph.o \
		| $(O)/gen/report_js.h $(O)/gen/report_css.h
	@mkdir -p $(@D)
	$(Q)clang $(BASE) $(FUZZFLAGS) -o $@ $^ $(ENGINE_LIBS)

# ---- what the figures in docs/ rest on; each prints its own ----
bench: bench-overhead
bench-overhead: deps-test
	@$(MAKE) --no-print-directory all
	bash bench/overhead.sh $(O)
bench-import: deps-test
	@$(MAKE) --no-print-directory all $(O)/bench/cost
	bash bench/import.sh $(O)
bench-flight: all
	@bash bench/flight.sh $(O)
bench-programs: all # how long the BPF programs run
	@bash bench/programs.sh 5 $(O)
bench-verify: all # are stacks known without a walk what a walk finds? Some minutes
	@bash bench/verify.sh $(O)
bench-render: deps-test # needs flamegraph.pl on PATH or in FLAMEGRAPH_PL
	@$(MAKE) --no-print-directory all $(O)/bench/cost
	sh bench/render.sh $(O)

# ---- into the system: PREFIX, DESTDIR ----
# The renderer is installed as chaingraph. "flamegraph" is a link to that, but never in the place of
# another program of this name; FLAMEGRAPH=no makes none.
INSTALL ?= install
BINDIR   = $(DESTDIR)$(PREFIX)/bin
MANDIR   = $(DESTDIR)$(PREFIX)/share/man
DOCDIR   = $(DESTDIR)$(PREFIX)/share/doc/wakeup-chains
BASH_COMPLETIONS ?= $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS  ?= $(PREFIX)/share/zsh/site-functions
FLAMEGRAPH ?= yes
INSTALLED := chaincap chainwalk chaingraph
# Where the link goes and what it is called, of what.
ALIASES = $(BINDIR)/flamegraph:chaingraph $(MANDIR)/man1/flamegraph.1:chaingraph.1 \
	$(DESTDIR)$(BASH_COMPLETIONS)/flamegraph:chaingraph
install: all
	$(INSTALL) -d $(BINDIR) $(MANDIR)/man1 $(MANDIR)/man5 $(DOCDIR) \
		$(DESTDIR)$(BASH_COMPLETIONS) $(DESTDIR)$(ZSH_COMPLETIONS)
	$(INSTALL) -m 755 $(O)/chaincap $(O)/chainwalk $(BINDIR)
	$(INSTALL) -m 755 $(O)/flamegraph $(BINDIR)/chaingraph
	$(INSTALL) -m 644 docs/chaincap.1 docs/chainwalk.1 $(MANDIR)/man1
	$(INSTALL) -m 644 docs/flamegraph.1 $(MANDIR)/man1/chaingraph.1
	$(INSTALL) -m 644 docs/chain-trace.5 $(MANDIR)/man5
	$(INSTALL) -m 644 CHANGELOG.md docs/trace-format.md docs/security.md $(DOCDIR)
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
		$(INSTALLED:%=$(DESTDIR)$(BASH_COMPLETIONS)/%) $(INSTALLED:%=$(DESTDIR)$(ZSH_COMPLETIONS)/_%)
	rm -rf $(DOCDIR)
	@for a in $(ALIASES); do \
		[ "$$(readlink $${a%:*})" != $${a##*:} ] || rm -f $${a%:*}; done
# The sources of the commit that is checked out; the same bytes from the same commit.
dist:
	@mkdir -p $(O)
	@git -c safe.directory="$(CURDIR)" archive --format=tar --prefix=wakeup-chains-$(VERSION)/ -o $(O)/wakeup-chains-$(VERSION).tar HEAD
	@gzip -9nf $(O)/wakeup-chains-$(VERSION).tar
	@echo $(O)/wakeup-chains-$(VERSION).tar.gz
deb: # the Debian package, into $(O)/deb
	@sh docs/debian/build.sh $(O)
test-deb: deb # installs it in a fresh Debian below a folder, records there, removes it
	@sh tests/package/run.sh $(O)
check-reproducible:
	@sh tests/package/reproducible.sh $(O)
demo-all: deps # the five cases of docs/tutorial.md, each recorded anew
	@$(MAKE) --no-print-directory all
	@sh docs/examples/run.sh $(O)
clean:
	rm -rf build build-san build-clang

-include $(shell find $(O) -name '*.d' 2>/dev/null)
.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: bench bench-engine bench-programs bench-verify bench-import bench-exports bench-flight bench-overhead bench-render all unit deps deps-test test test-san test-kernels demo fmt lint fuzz install uninstall clean \
	dist deb test-deb check-reproducible demo-all
