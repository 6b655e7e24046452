# SPDX-License-Identifier: GPL-2.0-or-later
# What is built for tests: unit tests, fuzz targets, the workload, tools.
# They are of all parts.
$(if $(WITHOUT),$(if $(filter check test% unit fuzz bench% lint,$(MAKECMDGOALS)),$(error tests are of all parts: without WITHOUT=)))
, := ,
# Without cmocka tests/run.sh skips the unit tests by name.
CMOCKA := $(shell $(CC) -E -x c -include cmocka.h /dev/null >/dev/null 2>&1 && echo yes)
# A unit test's name begins with the room that it tests; engine_ and collector_ are the rooms on top.
unit_of = $(foreach room,$(1) $(notdir $(patsubst %/,%,$(wildcard $(1)/*/))),$(patsubst %.c,$(O)/%,$(wildcard tests/unit/$(room)_*.c)))
UNIT_ENGINE    := $(call unit_of,engine)
UNIT_COLLECTOR := $(call unit_of,collector)
UNIT_RENDER    := $(patsubst %.c,$(O)/%,$(wildcard tests/unit/render_*.c))
UNIT_COMMON    := $(patsubst %.c,$(O)/%,$(wildcard tests/unit/common_*.c))
UNIT_ALL  := $(UNIT_ENGINE) $(UNIT_COLLECTOR) $(UNIT_RENDER) $(UNIT_COMMON)
UNIT_HELP := $(patsubst %.c,$(O)/%.o,$(wildcard tests/unit/synth*.c tests/unit/oracle*.c))
NO_ROOM   := $(filter-out $(UNIT_ALL:%=%.o) $(UNIT_HELP),$(patsubst %.c,$(O)/%.o,$(wildcard tests/unit/*.c)))
$(if $(NO_ROOM),$(error the names of these tests do not begin with a room: $(NO_ROOM)))
# Another decoder judges ours.
NGHTTP2 := $(shell $(CC) -E -x c -include nghttp2/nghttp2.h /dev/null >/dev/null 2>&1 && echo yes)
$(O)/tests/unit/routes_hpack: COLLECTOR_LIBS += -lnghttp2
UNIT      := $(if $(CMOCKA),$(filter-out $(if $(NGHTTP2),,%/routes_hpack),$(UNIT_ALL)))
$(UNIT_COLLECTOR:%=%.o): ROOM = -Icollector
$(UNIT_RENDER:%=%.o): ROOM = -Irender
# A test is linked with what it uses of a room, not with all of it: they take half of the disk, and are linked sooner.
IN_ROOM := $(addprefix $(O)/tests/,engine.a collector.a render.a)
$(O)/tests/engine.a: $(ENGINE_LIB) $(UNIT_HELP)
$(O)/tests/collector.a: $(COLLECTOR_LIB)
$(O)/tests/render.a: $(RENDER_LIB)
$(IN_ROOM):
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) qcs $@ $^
$(UNIT_ENGINE): %: %.o $(O)/tests/engine.a $(COMMON)
	$(LINK) -lcmocka -lm $(ENGINE_LIBS)
$(UNIT_COMMON): %: %.o $(COMMON)
	$(LINK) -lcmocka -liberty
$(UNIT_COLLECTOR): %: %.o $(O)/tests/collector.a $(COMMON)
	$(LINK) -lcmocka $(COLLECTOR_LIBS)
# What a kernel cannot be made to fail at, a shim in this test does.
$(O)/tests/unit/log_writer_faults: LDFLAGS += $(addprefix -Wl$(,)--wrap=,io_uring_queue_init \
	io_uring_register_buffers io_uring_submit __io_uring_get_cqe pwrite write)
# What the addresses on a tape are, nobody knows any more.
$(O)/tests/unit/events_tapes: LDFLAGS += $(addprefix -Wl$(,)--wrap=symbolizer_,space trusted_prefix is_valid_at \
	is_tracer_frame kernel_frame)
$(O)/tests/unit/elf_elfsym_bounds: LDFLAGS += -Wl$(,)--export-dynamic-symbol=exported
$(O)/tests/unit/unwind_rules: LDFLAGS += -Wl$(,)--wrap=clock_gettime
$(O)/tests/unit/kernel_optional_types: LDFLAGS += -Wl$(,)--wrap=bpf_object__open_skeleton
$(O)/tests/unit/kernel_forgotten_code: LDFLAGS += $(addprefix -Wl$(,)--wrap=bpf_map_,_fd lookup_and_delete_batch)
$(O)/tests/unit/import_perf_data.o: BASE += $(ZSTD_FLAGS)
# render_library as other programs would: against the library.
$(O)/tests/unit/render_library: $(O)/tests/unit/render_library.o $(O)/libflamegraph.o
	$(LINK) -lcmocka -lm
$(filter-out %/render_library,$(UNIT_RENDER)): %: %.o $(O)/tests/render.a $(COMMON)
	$(LINK) -lcmocka -lm
# The fuzz targets, which run their corpus once each: no fuzzer is needed for that.
REPLAY := $(O)/tests/replay/folded $(O)/tests/replay/trace
$(O)/tests/replay/folded: tests/fuzz/fuzz_folded.c tests/fuzz/replay.h $(O)/tests/render.a $(COMMON)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(BASE) -Irender -DREPLAY $(LDFLAGS) -o $@ $(filter-out %.h,$^) -lm
REPLAY += $(O)/tests/replay/import $(O)/tests/replay/perf_data
$(O)/tests/replay/trace $(O)/tests/replay/import $(O)/tests/replay/perf_data: $(O)/tests/replay/%: tests/fuzz/fuzz_%.c tests/fuzz/engine.h tests/fuzz/replay.h $(O)/tests/engine.a $(COMMON)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(BASE) -Iengine -DREPLAY $(LDFLAGS) -o $@ $(filter-out %.h,$^) $(ENGINE_LIBS)
FUZZ_COLLECTOR := code elf interpreter jitdump kallsyms keys minidebug perfmap procmaps route routes
REPLAY += $(FUZZ_COLLECTOR:%=$(O)/tests/replay/%)
$(FUZZ_COLLECTOR:%=$(O)/tests/replay/%): $(O)/tests/replay/%: tests/fuzz/fuzz_%.c $(wildcard tests/fuzz/*.h) $(O)/tests/collector.a $(COMMON)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(BASE) -Icollector $(LZMA_FLAGS) -DREPLAY $(LDFLAGS) -o $@ $(filter-out %.h,$^) $(COLLECTOR_LIBS)
unit: $(UNIT) $(REPLAY) $(O)/bench/generate $(O)/bench/many $(O)/bench/cost

# The workload, as distributions build theirs: with frame pointers, without, and with link-time
# optimisation. Calls at a function's end stay calls, so that each named function is in the stack.
CHAINLOADS := $(addprefix $(O)/,chainload chainload-nofp chainload-lto)
$(O)/chainload: HOW = -fno-omit-frame-pointer
$(O)/chainload-nofp: HOW = -fomit-frame-pointer
$(O)/chainload-lto: HOW = -fomit-frame-pointer -flto
$(CHAINLOADS): tests/workload/chainload.c $(wildcard tests/workload/*.h)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -std=c17 -D_GNU_SOURCE $(WARN) $(HOW) -fno-optimize-sibling-calls -pthread -o $@ $<
# A thread for each class of thing that threads wait for.
$(O)/classes: $(wildcard tests/objects/*.[ch])
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -std=c17 $(WARN) -pthread -o $@ $(filter %.c,$^)
# Programs that publish contexts: the variable in the program, and in libraries in each of the ways to reach it.
# clang 14 has no choice of them.
CONTEXT_CC := $(if $(findstring clang,$(CC)),gcc,$(CC))
TLS_DIALECT := $(if $(filter x86_64%,$(shell $(CONTEXT_CC) -dumpmachine)),gnu2 gnu,desc trad)
CONTEXT_LIBS := $(addprefix $(O)/context_,descriptor.so descriptor_large.so module.so offset.so)
$(O)/context_descriptor.so: HOW = -mtls-dialect=$(firstword $(TLS_DIALECT))
$(O)/context_descriptor_large.so: HOW = -mtls-dialect=$(firstword $(TLS_DIALECT)) -DBLOCK=65536
$(O)/context_module.so: HOW = -mtls-dialect=$(lastword $(TLS_DIALECT)) -DBLOCK=65536
$(O)/context_offset.so: HOW = -ftls-model=initial-exec
$(CONTEXT_LIBS): tests/contexts/variable.c tests/contexts/variable.h
	@mkdir -p $(@D)
	$(Q)$(CONTEXT_CC) -O2 -g -std=c17 $(WARN) $(HOW) -fPIC -shared -o $@ $<
$(O)/shop $(O)/shop_static: $(wildcard tests/contexts/*.[ch])
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -std=c17 -D_GNU_SOURCE $(WARN) $(HOW) -pthread -o $@ tests/contexts/shop.c -ldl
$(O)/shop_static: HOW = -rdynamic tests/contexts/variable.c
unit: $(CHAINLOADS) $(O)/classes $(CONTEXT_LIBS) $(O)/shop $(O)/shop_static

# These look into the BPF object's variables.
$(O)/tests/unit/kernel_program_stacks.o: $(O)/gen/chaincap.skel.h $(O)/gen/older.skel.h $(O)/gen/plain.skel.h
$(O)/tests/unit/kernel_forgetting.o $(O)/tests/unit/kernel_forgotten_code.o $(O)/tests/unit/kernel_optional_types.o $(O)/tests/unit/kernel_stack_size.o: $(O)/gen/chaincap.skel.h

# ---- a second, independent count of the events, for tests ----
$(O)/gen/count_events.bpf.o: tests/tools/count_events.bpf.c bpf/kernel.h
	$(BPF_CC)
$(O)/tests/tools/count_events.o: $(O)/gen/count_events.skel.h
$(O)/count_events: $(O)/tests/tools/count_events.o
	$(LINK) -lbpf
# Runs a command with some system calls forbidden.
$(O)/forbid: $(O)/tests/tools/forbid.o
	$(LINK)
# Threads that wait for locks whose holders are known.
$(O)/lock_holders: tests/tools/lock_holders.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -std=c17 $(WARN) -pthread -o $@ $<
# A file system that does not answer some, and who holds a lock because of that.
$(O)/deaf_files $(O)/hold_lock: $(O)/%: $(O)/tests/tools/%.o
	$(LINK)
# Makes symbol tables that take much memory.
$(O)/sparse_symbols: $(O)/tests/tools/sparse_symbols.o
	$(LINK)
# A program whose stacks are known, and of which some functions are exported: for tests of names.
$(O)/names_load: tests/tools/names_load.c tests/workload/calls.h
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -std=c17 -D_GNU_SOURCE $(WARN) -fno-omit-frame-pointer -fno-optimize-sibling-calls \
		-rdynamic -pthread -Wl,--build-id -o $@ $<
# Ends a recorder at a step.
$(O)/kill_at: $(O)/tests/tools/kill_at.o
	$(LINK)
# Programs with stacks in odd places, and processes in odd states.
$(O)/odd_stacks $(O)/odd_processes $(O)/moving_stacks: $(O)/%: tests/attacks/%.c
	@mkdir -p $(@D)
	$(Q)$(CONTEXT_CC) -O2 -g -std=c17 -D_GNU_SOURCE $(WARN) -fno-optimize-sibling-calls -fno-ipa-icf -pthread -o $@ $< $(HOW)
$(O)/odd_processes: HOW = -luring
# Maps of functions, and call frame information, that are made to harm who reads them.
$(O)/map_bomb $(O)/evil_frames: $(O)/%: $(O)/tests/attacks/%.o
	$(LINK)
unit: $(O)/odd_stacks $(O)/odd_processes $(O)/moving_stacks $(O)/map_bomb $(O)/evil_frames
unit: $(O)/kill_at
# For LD_PRELOAD: no memory from some allocation on.
$(O)/no_memory.so: tests/tools/no_memory.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -std=c17 -D_GNU_SOURCE $(WARN) -fPIC -shared -o $@ $<
unit: $(O)/no_memory.so
# The functions that the recorder knows of a file.
$(O)/tests/tools/elf_functions.o: ROOM = -Icollector
$(O)/elf_functions: $(O)/tests/tools/elf_functions.o $(O)/tests/collector.a $(COMMON)
	$(LINK) $(COLLECTOR_LIBS)
# Whether this process may record: what end-to-end tests go by.
$(O)/may_record: $(O)/tests/tools/may_record.o
	$(LINK) -lbpf
unit: $(O)/sparse_symbols $(O)/may_record $(O)/count_events $(O)/forbid $(O)/names_load $(O)/elf_functions $(O)/deaf_files $(O)/hold_lock $(O)/lock_holders

# The recorder that begins with the programs for older kernels, to test and measure these on a newer one.
OLDER := $(O)/older/chaincap $(O)/plain/chaincap
$(O)/older/bpf.o: FIRST = BPF_OLDER
$(O)/plain/bpf.o: FIRST = BPF_PLAIN
$(OLDER:%/chaincap=%/bpf.o): collector/kernel/bpf.c $(O)/collector/kernel/bpf.o
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(BASE) -Icollector -DBPF_FIRST=$(FIRST) $(DEPGEN) -c -o $@ $<
$(OLDER): %/chaincap: %/bpf.o $(filter-out $(O)/collector/kernel/bpf.o,$(COLLECTOR)) $(COMMON)
	$(LINK) $(COLLECTOR_LIBS)
unit: $(OLDER)

# The recorder that also writes a tape of what it was told (tests/tapes.sh).
$(O)/tape/chaincap: LDFLAGS += $(addprefix -Wl$(,)--wrap=,translator_record translator_thread translator_holder \
	bpf_session_learn bpf_session_close)
$(O)/tests/tools/tape.o: ROOM = -Icollector
$(O)/tape/chaincap: $(O)/tests/tools/tape.o $(COLLECTOR) $(COMMON)
	@mkdir -p $(@D)
	$(LINK) $(COLLECTOR_LIBS)
unit: $(O)/tape/chaincap

# ---- fuzzing: with libFuzzer and both sanitizers ----
FUZZERS := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined
fuzz_objs = $(patsubst $(O)/%,$(O)/fuzz/obj/%,$(1))
fuzz: $(FUZZERS)
$(O)/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BASE) $(ROOM) $(LZMA_FLAGS) $(ZSTD_FLAGS) -g -O1 -fsanitize=fuzzer-no-link $(FUZZ_SAN) $(DEPGEN) -c -o $@ $<
$(O)/fuzz/obj/engine/%.o: ROOM = -Iengine
$(O)/fuzz/obj/collector/%.o $(FUZZ_COLLECTOR:%=$(O)/fuzz/obj/tests/fuzz/fuzz_%.o): ROOM = -Icollector
$(patsubst %,$(O)/fuzz/obj/tests/fuzz/fuzz_%.o,trace import perf_data): ROOM = -Iengine
$(O)/fuzz/obj/tests/fuzz/fuzz_folded.o: ROOM = -Irender
$(call fuzz_objs,$(RENDER)): | $(O)/gen/page_js.h $(O)/gen/page_css.h
$(call fuzz_objs,$(ENGINE)): | $(O)/gen/report_js.h $(O)/gen/report_css.h $(O)/gen/screen_schema.h $(O)/gen/parts.h
$(call fuzz_objs,$(COLLECTOR)): | $(O)/gen/chaincap.skel.h $(O)/gen/older.skel.h $(O)/gen/plain.skel.h $(O)/gen/call_list.h
$(O)/fuzz/libcommon.a: $(call fuzz_objs,$(call objs,include))
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(FUZZERS): $(O)/fuzz/fuzz_%: $(O)/fuzz/obj/tests/fuzz/fuzz_%.o $(O)/fuzz/libcommon.a
	$(Q)$(CLANG) -pthread -pie $(LDFLAGS) -fsanitize=fuzzer $(FUZZ_SAN) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)
$(O)/fuzz/fuzz_folded: $(call fuzz_objs,$(RENDER_LIB))
$(O)/fuzz/fuzz_folded: LIBS = -lm
$(FUZZ_COLLECTOR:%=$(O)/fuzz/fuzz_%): $(call fuzz_objs,$(COLLECTOR_LIB))
$(FUZZ_COLLECTOR:%=$(O)/fuzz/fuzz_%): LIBS = $(COLLECTOR_LIBS)
$(patsubst %,$(O)/fuzz/fuzz_%,trace import perf_data): $(filter-out $(O)/fuzz/obj/libflamegraph.o,$(call fuzz_objs,$(ENGINE_LIB))) $(O)/libflamegraph.o
$(patsubst %,$(O)/fuzz/fuzz_%,trace import perf_data): LIBS = $(ENGINE_LIBS)

.PHONY: unit fuzz
