# SPDX-License-Identifier: GPL-2.0-or-later
# make          builds into build/
# make check    tests without root, and without packages beyond the build's
# make test     most tests; test-all: all of them
# demo, demo-all, demo-fleet, bench, lint, fuzz, install, deb, rpm, dist: see README.md, CONTRIBUTING.md
# make static   programs that need no library, into build/static
#   O=DIR          build folder (default build)
#   SAN=1          AddressSanitizer and UndefinedBehaviorSanitizer, into build-san
#   WERROR=1       warnings are errors
#   WITHOUT="go otlp perfetto stores"   leaves out what few use (engine/*/README.md); tests are of a build with all of it
#   CROSS_COMPILE=PREFIX, SYSROOT=DIR   for another architecture (tests/kernels/sysroot.sh makes a DIR)
#   PREFIX, DESTDIR for install

VERSION := 0.1.0
ifeq ($(SAN),1)
O       ?= build-san
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
endif
O       ?= build
PREFIX  ?= /usr/local
ifdef CROSS_COMPILE
CC      := $(CROSS_COMPILE)gcc $(SYSROOT:%=--sysroot=%)
LD      := $(CROSS_COMPILE)ld
AR      := $(CROSS_COMPILE)ar
endif
CC      ?= cc
PKG_CONFIG ?= $(if $(SYSROOT),PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(CROSS_COMPILE:%-=%)/pkgconfig) pkg-config
OBJCOPY ?= $(CROSS_COMPILE)objcopy
CLANG   ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
CFLAGS  ?= -O2 -g
ERRORS  := $(if $(filter 1,$(WERROR)),-Werror)
WARN    := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes $(ERRORS)
# The same bytes wherever the sources and the build folder are.
SAME_PATHS := $(SYSROOT:%=-ffile-prefix-map=%=) -ffile-prefix-map=$(O)=build -ffile-prefix-map=$(CURDIR)=.
BASE    := -std=c17 -D_GNU_SOURCE -DCHAIN_VERSION='"$(VERSION)"' -pthread \
           -fno-omit-frame-pointer -fPIE $(WARN) -Iinclude -I$(O)/gen $(SANFLAGS) $(SAME_PATHS)
DEPGEN   = -MMD -MP
LINK     = $(Q)$(CC) $(CFLAGS) $(BASE) -pie $(LDFLAGS) -o $@ $^

PROGRAMS := chaincap chainwalk flamegraph
# V=1 shows the commands themselves.
ifneq ($(V),1)
Q = @echo "  $(@:$(O)/%=%)";
endif
all: $(PROGRAMS:%=$(O)/%) $(O)/chainload

# ---- rooms: all sources of a room; all but its main file are also linked into its tests ----
objs      = $(filter-out $(WITHOUT:%=$(O)/engine/%/%),$(patsubst %.c,$(O)/%.o,$(wildcard $(1)/*.c $(1)/*/*.c)))
COLLECTOR := $(call objs,collector)
ENGINE    := $(call objs,engine)
RENDER    := $(call objs,render)
COLLECTOR_LIB := $(filter-out $(O)/collector/chaincap.o,$(COLLECTOR))
# The report has the renderer's graph in it.
ENGINE_LIB    := $(filter-out $(O)/engine/chainwalk.o,$(ENGINE)) $(O)/libflamegraph.o
RENDER_LIB    := $(filter-out $(O)/render/flamegraph.o,$(RENDER))
# Folders that can be left out: format_table.c and recording.c ask gen/parts.h, which changes only if its text does.
PARTS   := go otlp perfetto stores
WITHOUT ?=
$(if $(filter-out $(PARTS),$(WITHOUT)),$(error WITHOUT=$(filter-out $(PARTS),$(WITHOUT)): what can be left out is: $(PARTS)))
PARTS_H := $(foreach part,$(PARTS),\043define HAVE_$(part) $(if $(filter $(part),$(WITHOUT)),0,1)\n)\043define LEFT_OUT "$(if $(WITHOUT),; built without $(sort $(WITHOUT)))"\n
$(O)/gen/parts.h: FORCE
	@mkdir -p $(@D)
	@printf '$(PARTS_H)' | cmp -s - $@ || { printf '$(PARTS_H)' >$@ && echo '  $(@:$(O)/%=%)'; }
$(addprefix $(O)/engine/,format_table.o recording.o command_line.o chainwalk.o): $(O)/gen/parts.h
# What several programs need: a program links only what it uses.
COMMON := $(O)/libcommon.a
ENGINE_LIBS := -lz -ldw -lelf -liberty $(if $(filter stores,$(WITHOUT)),,-lmd -lsqlite3) -lm
COLLECTOR_LIBS := -lbpf -luring -ldw -lelf -liberty -lz
# Names in .gnu_debugdata, and recordings that xz compressed, where liblzma is there (make LZMA= builds without it).
LZMA ?= $(shell $(PKG_CONFIG) --exists liblzma 2>/dev/null && $(PKG_CONFIG) --cflags --libs liblzma)
LZMA_FLAGS := $(if $(strip $(LZMA)),-DHAVE_LZMA $(filter-out -l% -L%,$(LZMA)))
COLLECTOR_LIBS += $(filter -l% -L%,$(LZMA))
ENGINE_LIBS += $(filter -l% -L%,$(LZMA))
$(O)/collector/elf/debugfile.o $(O)/engine/recording.o: BASE += $(LZMA_FLAGS)
# perf's compressed data files, and recordings that zstd compressed, where libzstd is there (make ZSTD= builds without it).
ZSTD ?= $(shell $(PKG_CONFIG) --exists libzstd 2>/dev/null && $(PKG_CONFIG) --cflags --libs libzstd)
ZSTD_FLAGS := $(if $(strip $(ZSTD)),-DHAVE_ZSTD $(filter-out -l% -L%,$(ZSTD)))
ENGINE_LIBS += $(filter -l% -L%,$(ZSTD))
$(O)/engine/import/perf_zstd.o $(O)/engine/recording.o: BASE += $(ZSTD_FLAGS)

$(O)/chaincap: $(COLLECTOR) $(COMMON)
	$(LINK) $(COLLECTOR_LIBS)
$(O)/chainwalk: $(ENGINE) $(O)/libflamegraph.o $(COMMON)
	$(LINK) $(ENGINE_LIBS)
$(O)/flamegraph: $(RENDER) $(COMMON)
	$(LINK) -lm
$(COMMON): $(call objs,include)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# The same objects, linked with all libraries, and with what these use. dlopen(3), of which the linker warns, is for
# libdebuginfod, which these programs say they do not have.
STATIC := $(PROGRAMS:%=$(O)/static/%)
static:
	@sh tests/deps.sh build static
	@$(SUBMAKE) $(STATIC)
$(O)/static/chaincap: $(COLLECTOR) $(COMMON)
$(O)/static/chaincap: LIBS = $(COLLECTOR_LIBS) -lelf -lbz2 -llzma -lz
$(O)/static/chainwalk: $(ENGINE) $(O)/libflamegraph.o $(COMMON)
$(O)/static/chainwalk: LIBS = $(ENGINE_LIBS) -lbz2 -llzma -lz
$(O)/static/flamegraph: $(RENDER) $(COMMON)
$(O)/static/flamegraph: LIBS = -lm
$(STATIC):
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(BASE) -static-pie $(LDFLAGS) -o $@ $^ $(LIBS)

# The renderer for other programs (include/flamegraph.h): its own names stay inside.
$(O)/libflamegraph.o: $(RENDER_LIB) $(COMMON)
	$(Q)$(LD) -r -o $@.tmp $^ && $(OBJCOPY) --wildcard --keep-global-symbol='flamegraph_*' $@.tmp $@ && rm $@.tmp

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(BASE) $(ROOM) $(DEPGEN) -c -o $@ $<
# An include names the room below that it enters: "trace/cursor.h". Tests see what they test alike.
$(O)/engine/%.o: ROOM = -Iengine
$(O)/collector/%.o: ROOM = -Icollector
$(O)/tests/%.o $(O)/bench/%.o: ROOM = -Iengine -Icollector

# ---- the BPF object and its skeleton: needs no BTF of the building machine ----
BPF_ARCH := $(patsubst aarch64%,arm64,$(patsubst x86_64%,x86,$(shell $(CC) -dumpmachine)))
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
define BPF_CC
@mkdir -p $(@D)
$(Q)$(CLANG) -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Wextra $(ERRORS) -Iinclude $(SAME_PATHS) \
	$(if $(MULTIARCH),-idirafter $(SYSROOT)/usr/include/$(MULTIARCH)) -c -o $@ $<
endef
$(O)/gen/chaincap.bpf.o $(O)/gen/older.bpf.o $(O)/gen/plain.bpf.o: $(O)/gen/%.bpf.o: bpf/%.bpf.c bpf/chaincap.bpf.c $(wildcard bpf/*.h include/*.h include/*.def)
	$(BPF_CC)
$(O)/gen/%.skel.h: $(O)/gen/%.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@.tmp && mv $@.tmp $@
# The objects have one skeleton (collector/kernel/bpf_older.c): their variables are at the same places, up to the tables.
VARIABLES = sed -n '/^\tstruct $(1)_bpf__[a-z]* {/,/^\t}/{ / \(steps\|branches\|rules\|generations\)\[/d; s/$(1)_bpf//; p }' $(O)/gen/$(1).skel.h
$(O)/gen/older.skel.h $(O)/gen/plain.skel.h: $(O)/gen/%.skel.h: $(O)/gen/%.bpf.o $(O)/gen/chaincap.skel.h
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@.tmp && mv $@.tmp $@
	$(Q)[ "$$($(call VARIABLES,$*))" = "$$($(call VARIABLES,chaincap))" ] || { echo "the variables of $* and the usual BPF object differ" >&2; rm $@; exit 1; }
$(COLLECTOR): | $(O)/gen/chaincap.skel.h $(O)/gen/older.skel.h $(O)/gen/plain.skel.h $(O)/gen/call_list.h
$(patsubst %,$(O)/collector/kernel/%.o,bpf bpf_rings bpf_stacks): $(O)/gen/chaincap.skel.h
$(O)/collector/kernel/bpf_older.o: $(O)/gen/chaincap.skel.h $(O)/gen/older.skel.h $(O)/gen/plain.skel.h

# ---- system calls that tell what a thread waits for: those that the machine has ----
$(O)/gen/call_list.h: collector/kernel/calls.list
	@mkdir -p $(@D)
	$(Q)awk '!/^#/ { for (i = 3; i <= NF; i++) \
		print "#ifdef __NR_" $$i "\n[__NR_" $$i "] = WIRE_CALL(" $$1 ", " $$2 "),\n#endif" }' $< >$@

# ---- the page's script and style, embedded ----
# The ends of chains, as the scripts have them.
$(O)/gen/ends.js: render/page/ends.js.in include/idle_functions.h
$(O)/gen/report_ends.js: engine/report/page/ends.js.in
$(O)/gen/ends.js $(O)/gen/report_ends.js: include/ends.def
	@mkdir -p $(@D)
	$(Q)$(CC) -E -P -x c -Iinclude $(filter %.in,$^) >$@.tmp && mv $@.tmp $@
$(O)/gen/page_%.h: render/page.% render/embed.sh
	@mkdir -p $(@D)
	$(Q)sh render/embed.sh page_$* $(O)/gen <$< >$@.tmp && mv $@.tmp $@
$(RENDER): | $(O)/gen/page_js.h $(O)/gen/page_css.h
$(O)/gen/page_js.h: $(wildcard render/page/*.js) $(O)/gen/ends.js
$(O)/render/page.o: $(O)/gen/page_js.h $(O)/gen/page_css.h

# The report's, which is one script: its files in this order, in a scope of their own.
REPORT_JS := $(addprefix engine/report/page/,words.js data.js address.js sorting.js timeline.js strip.js waits.js requests.js tables.js lanes.js causes.js compare.js answer.js filter.js)
$(O)/gen/report_js.h: $(REPORT_JS) $(O)/gen/report_ends.js render/embed.sh
	@mkdir -p $(@D)
	$(Q){ echo '"use strict"; {'; cat $(O)/gen/report_ends.js $(REPORT_JS); echo '}'; } | sh render/embed.sh report_js >$@.tmp && mv $@.tmp $@
$(O)/gen/report_css.h: engine/report/page/report.css render/embed.sh
	@mkdir -p $(@D)
	$(Q)sh render/embed.sh report_css <$< >$@.tmp && mv $@.tmp $@
$(O)/engine/report/report_page.o: $(O)/gen/report_js.h $(O)/gen/report_css.h

# What --json-schema prints.
$(O)/gen/screen_schema.h: engine/formats/screen.schema.json render/embed.sh
	@mkdir -p $(@D)
	$(Q)sh render/embed.sh screen_schema <$< >$@.tmp && mv $@.tmp $@
$(O)/engine/formats/screen_json.o: $(O)/gen/screen_schema.h

include tests/tests.mk bench.mk install.mk

# ---- what has to be installed first: make deps, make deps-test ----
deps:
	@sh tests/deps.sh build
deps-test:
	@sh tests/deps.sh build test

# ---- what a person runs: each works on a fresh clone ----
# Sub-makes, so that headers which deps installs are seen by the rules above; as many jobs as there are CPUs.
SUBMAKE = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
check: all unit
	@QUICK=1 sh tests/run.sh $(O)
test: deps-test
	@$(SUBMAKE) WERROR=1 all unit $(if $(ALL),fuzz)
	@sh tests/run.sh $(O)
test-all:
	@sh tests/deps.sh build
	@sh tests/deps.sh fuzz
	@ALL=1 $(MAKE) --no-print-directory test
test-san: deps-test
	@$(SUBMAKE) WERROR=1 SAN=1 O=build-san all unit
	@sh tests/run.sh build-san
test-random: all unit # many more random schedules than "make test" has: takes some 10 minutes
	@LAWS_TRACES=$${LAWS_TRACES:-5000} ORACLE_TRACES=$${ORACLE_TRACES:-10000} TESTS="attribute_* fold_*" sh tests/run.sh $(O)
test-kernels: # the distribution's kernels, under qemu
	@sh tests/deps.sh build
	@sh tests/deps.sh kernels $(if $(PAGES),pages) || true # what is missing then is said, and skipped
	@$(SUBMAKE) all unit
	@$(if $(PAGES),sh tests/kernels/pages.sh $(O),sh tests/kernels/run.sh $(O); status=$$?; sh tests/kernels/two_guests.sh $(O) && exit $$status)
demo: deps
	@$(SUBMAKE) all
	@sh tests/demo.sh $(O)
demo-all: deps # the cases of docs/tutorial.md, each recorded anew
	@$(SUBMAKE) all
	@sh docs/examples/run.sh $(O)
demo-fleet: deps # several hosts, ClickHouse and SQLite
	@sh tests/deps.sh fleet
	@$(SUBMAKE) all
	@sh tests/fleet/demo.sh $(O)

C_FILES := $(wildcard bpf/*.[ch] include/*.h include/common/*.[ch] collector/*.[ch] collector/*/*.[ch] engine/*.[ch] engine/*/*.[ch] render/*.[ch] \
             tests/unit/*.[ch] tests/tools/*.c tests/workload/*.[ch] tests/objects/*.[ch] tests/contexts/*.[ch] tests/data/*.c tests/attacks/*.c tests/fuzz/*.[ch] bench/*.[ch] bench/*/*.[ch] docs/examples/*.c)
fmt:
	clang-format -i $(C_FILES)
lint:
	@sh tests/deps.sh build test lint
	@clang-format --dry-run -Werror $(C_FILES)
	@! grep -nE '[[:space:]]+$$' $(C_FILES) tests/*.sh tests/*/*.sh Makefile $(wildcard *.mk */*.mk)
	@sh tests/lint/scripts.sh
	@$(SUBMAKE) O=build-clang CC=clang WERROR=1 all unit
	@sh tests/lint/floors.sh build-clang
	@sh tests/kernels/cross.sh $(O)/kernels arm64 || { [ $$? = 77 ] && echo "SKIP build for arm64: see above"; }
	@cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr -Iinclude -Iengine -Icollector \
		--enable=warning,portability --suppress=missingIncludeSystem --suppress=unknownMacro \
		collector engine include render tests/workload
clean:
	rm -rf build build-san build-clang

-include $(shell find $(O) -name kernels -prune -o -type f -name '*.d' -print 2>/dev/null)
.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: FORCE all static deps deps-test check test test-all test-san test-random test-kernels demo demo-all demo-fleet fmt lint clean
