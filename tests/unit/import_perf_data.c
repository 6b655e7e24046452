// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf's data file as a trace: records in, folded lines out. Which fields samples have and where
 * the tracepoints keep theirs, the order of rounds, what processes have mapped, what is lost; and
 * files that are cut off, damaged or not of this machine.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "import/perf_order.h"
#include "perf_data_make.h"
#include "synth_script.h"

static struct made made;

static struct made *begin(void)
{
	made = (struct made) { .len = 0 };
	made_begin(&made);
	return &made;
}

static struct import_report expect_folded(const char *thread, const char *expected)
{
	struct text_trace tt;

	assert_int_equal(made_open(&tt, made.p, made.len), 0);
	expect_text(text_folded(tt.trace, thread), expected);
	assert_int_equal(tt.report.source, IMPORT_FROM_PERF_DATA);
	text_close(&tt);
	return tt.report;
}

static int error_of(const uint8_t *p, size_t len)
{
	struct text_trace tt;
	int err = made_open(&tt, p, len);

	if (!err)
		text_close(&tt);
	return err;
}

/* As in import_perf.c: B works, is blocked for a while and woken by C; then it wakes A. */
static void relay(struct made *m)
{
	made_map(m, 0, text_tid("A"), 0x400000, 0x1000, 0, "/usr/bin/prog");
	made_switch(m, 1, 0, "-", "R", "B", "");
	made_switch(m, 2, 0, "-", "R", "C", "");
	made_switch(m, 0, 10, "-", "R", "A", "");
	made_switch(m, 0, 100, "A", "S", "-", "schedule;recv|400100;400200");
	made_switch(m, 1, 300, "B", "S", "-", "schedule;lock");
	made_waking(m, 2, 700, "C", "B", "try_to_wake_up;unlock");
	made_switch(m, 1, 710, "-", "R", "B", "");
	made_waking(m, 1, 900, "B", "A", "try_to_wake_up;send");
	made_switch(m, 0, 930, "-", "R", "A", "");
	made_switch(m, 0, 1000, "A", "R", "-", "");
}

static void expect_relayed(void)
{
	static const char expected[] =
		"A;[prog];[prog];-;recv;schedule;--;try_to_wake_up;send;B;--;try_to_wake_up;unlock;"
		"C;[running] 400\n"
		"A;[prog];[prog];-;recv;schedule;--;try_to_wake_up;send;B;[runnable] 10\n"
		"A;[prog];[prog];-;recv;schedule;--;try_to_wake_up;send;B;[running] 390\n"
		"A;[prog];[prog];-;recv;schedule;[runnable] 30\n";
	struct import_report r = expect_folded("A", expected);

	assert_int_equal(r.switches, 8);
	assert_int_equal(r.wakings, 2);
	assert_int_equal(r.missing_switches, 0);
	assert_false(import_damaged(&r));
}

/* Makes a relay's recording as `how` says, and expects its chains. */
static void expect_relay_of(struct made how)
{
	made = how;
	made_begin(&made);
	relay(&made);
	made_end(&made);
	expect_relayed();
}

static void the_waker_itself_waited(void **state)
{
	(void)state;
	expect_relay_of((struct made) { .len = 0 });
}

/*
 * perf record --call-graph fp,defer: user parts come when the thread returns to its program, here
 * for two samples at once; that of the last waking was lost.
 */
static void user_stacks_that_come_later(void **state)
{
	(void)state;
	made = (struct made) { .len = 0 };
	made_begin(&made);
	made_map(&made, 0, text_tid("A"), 0x400000, 0x1000, 0, "/usr/bin/prog");
	made_map(&made, 0, text_tid("B"), 0x400000, 0x1000, 0, "/usr/bin/other");
	made_switch(&made, 1, 0, "-", "R", "B", "");
	made_switch(&made, 0, 10, "-", "R", "A", "");
	made_switch(&made, 0, 100, "A", "S", "-", "schedule;recv?70000000c");
	made_waking(&made, 1, 900, "B", "A", "try_to_wake_up;send?b");
	made_deferred(&made, 910, 0xb, "|0x400300");
	made_switch(&made, 0, 930, "-", "R", "A", "");
	made_switch(&made, 0, 940, "A", "S", "-", "schedule;lock?70000000c");
	made_waking(&made, 1, 950, "B", "A", "try_to_wake_up;send?d");
	made_switch(&made, 0, 960, "-", "R", "A", "");
	made_deferred(&made, 970, 0x70000000c, "|0x400100;0x400200");
	made_deferred(&made, 971, 0x70000000c, "|0x400100");
	made_deferred(&made, 972, 0xffff, "|0x400100");
	made_switch(&made, 0, 1000, "A", "R", "-", "");
	made_end(&made);
	expect_folded("A", "A;[prog];[prog];-;lock;schedule;--;try_to_wake_up;send;B;"
			   "[running] 10\n"
			   "A;[prog];[prog];-;lock;schedule;[runnable] 10\n"
			   "A;[prog];[prog];-;recv;schedule;--;try_to_wake_up;send;-;[other];B;"
			   "[running] 800\n"
			   "A;[prog];[prog];-;recv;schedule;[runnable] 30\n");
}

static void what_a_pipe_brings(void **state)
{
	(void)state;
	expect_relay_of((struct made) { .is_pipe = true });
}

static void fields_of_samples(void **state)
{
	static const uint64_t more[] = {
		0,
		PERF_BIT_ADDR,
		PERF_BIT_STREAM,
		PERF_BIT_READ,
		PERF_BIT_ADDR | PERF_BIT_STREAM | PERF_BIT_READ | PERF_BIT_ID,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		for (int by_id = 0; by_id < 2; by_id++) {
			struct made how = { .sample_type = MADE_USUAL | more[i] };

			if (by_id)
				how.sample_type ^= PERF_BIT_IDENTIFIER;
			how.sample_type |= by_id ? PERF_BIT_ID : 0;
			how.sample_type &= i == 1 ? ~(uint64_t)PERF_BIT_IP : ~(uint64_t)0;
			expect_relay_of(how);
		}
}

static void fields_of_tracepoints_lie_where_the_format_says(void **state)
{
	(void)state;
	expect_relay_of((struct made) { .is_moved = true });
}

static void records_are_put_in_order(void **state)
{
	struct made *m = begin();

	(void)state;
	made_map(m, 0, text_tid("A"), 0x400000, 0x1000, 0, "/usr/bin/prog");
	/* CPU 0's buffer was read before those of the others: its last ones are of the next round.
	 */
	made_switch(m, 0, 10, "-", "R", "A", "");
	made_switch(m, 0, 100, "A", "S", "-", "schedule;recv|400100;400200");
	made_switch(m, 1, 0, "-", "R", "B", "");
	made_switch(m, 1, 300, "B", "S", "-", "schedule;lock");
	made_switch(m, 1, 710, "-", "R", "B", "");
	made_waking(m, 1, 900, "B", "A", "try_to_wake_up;send");
	made_switch(m, 2, 0, "-", "R", "C", "");
	made_waking(m, 2, 700, "C", "B", "try_to_wake_up;unlock");
	made_round(m);
	made_switch(m, 0, 930, "-", "R", "A", "");
	made_round(m);
	made_switch(m, 0, 1000, "A", "R", "-", "");
	made_end(m);
	expect_relayed();
}

/* Of each round no more is given than is known to be whole. */
static void a_round_waits_for_the_next_one(void **state)
{
	static const uint64_t times[] = { 5, 9, 2, 7, 3, 3 };
	struct perf_order o = { .n = 0 };
	const struct perf_queued *q;
	uint64_t given[8], n = 0;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		perf_order_put(&o, &(struct perf_queued) { times[i], NULL, 0 });
	perf_order_round(&o, false);
	assert_null(perf_order_next(&o));
	for (uint32_t i = 4; i < 6; i++)
		perf_order_put(&o, &(struct perf_queued) { times[i], NULL, i });
	perf_order_put(&o, &(struct perf_queued) { 11, NULL, 0 });
	perf_order_round(&o, false);
	while ((q = perf_order_next(&o)))
		given[n++] = q->time_ns * 10 + q->chunk;
	assert_int_equal(n, 6);
	assert_memory_equal(given, ((uint64_t[]) { 20, 34, 35, 50, 70, 90 }), 6 * sizeof(*given));
	perf_order_round(&o, true);
	q = perf_order_next(&o);
	assert_int_equal(q->time_ns, 11);
	assert_null(perf_order_next(&o));
	perf_order_free(&o);
}

/* A waits three times in the same code, at one address. */
static void waits_at(struct made *m, int us, const char *address)
{
	char frames[64];

	snprintf(frames, sizeof(frames), "schedule|%s", address);
	made_switch(m, 0, us + 10, "A", "S", "-", frames);
	made_waking(m, 1, us + 20, "B", "A", "wake");
	made_switch(m, 0, us + 20, "-", "R", "A", "");
}

static void what_is_mapped_changes(void **state)
{
	uint32_t a = text_tid("A");
	struct made *m = begin();

	(void)state;
	made_switch(m, 1, 1, "-", "R", "B", "");
	made_map(m, 0, a, 0x400000, 0x3000, 0, "/usr/bin/one");
	waits_at(m, 100, "400100");
	/* Over the middle: what is below and above it stays. */
	made_map(m, 200, a, 0x401000, 0x1000, 0, "/usr/lib/two");
	waits_at(m, 300, "400100");
	waits_at(m, 400, "401100");
	waits_at(m, 500, "402100");
	/* Another program: nothing of the old one is there. */
	made_comm(m, 600, a, a, true, "A");
	waits_at(m, 700, "402100");
	made_map(m, 800, a, 0x402000, 0x1000, 0, "/usr/bin/three");
	waits_at(m, 900, "402100");
	made_end(m);
	expect_folded("A", "A;[one];-;schedule;--;wake;B;[running] 30\n"
			   "A;[three];-;schedule;--;wake;B;[running] 10\n"
			   "A;[two];-;schedule;--;wake;B;[running] 10\n"
			   "A;[unknown];-;schedule;--;wake;B;[running] 10\n");
}

static void a_child_has_its_parents_mappings(void **state)
{
	struct made *m = begin();

	(void)state;
	made_switch(m, 1, 1, "-", "R", "B", "");
	made_map(m, 0, text_tid("C"), 0x400000, 0x1000, 0, "/usr/bin/one");
	made_fork(m, 50, text_tid("C"), text_tid("A"));
	waits_at(m, 100, "400100");
	made_end(m);
	expect_folded("A", "A;[one];-;schedule;--;wake;B;[running] 10\n");
}

static void names_and_processes(void **state)
{
	struct text_trace tt;
	const struct trace_thread *threads;
	struct made *m = begin();
	size_t n, seen = 0;

	(void)state;
	made_comm(m, 0, 90, text_tid("C"), false, "worker");
	made_fork(m, 0, 1, 90);
	relay(m);
	made_end(m);
	assert_int_equal(made_open(&tt, made.p, made.len), 0);
	threads = trace_threads(tt.trace, &n);
	for (size_t i = 0; i < n; i++) {
		if (threads[i].tid != text_tid("C"))
			continue;
		assert_int_equal(threads[i].tgid, 90);
		seen++;
	}
	assert_int_equal(seen, 1);
	assert_string_equal(trace_info(tt.trace)->host, "vm");
	text_close(&tt);
}

/* What CPU 1 lost before its first event was lost since the recording began, and not since boot. */
static void a_loss_before_all_events(void **state)
{
	struct text_trace tt;
	struct made *m = begin();

	(void)state;
	made_lost(m, 1, 50, 7);
	made_switch(m, 0, 10, "-", "R", "A", "");
	made_switch(m, 1, 100, "B", "S", "-", "");
	made_end(m);
	assert_int_equal(made_open(&tt, m->p, m->len), 0);
	assert_int_equal(trace_info(tt.trace)->end_ns - trace_info(tt.trace)->start_ns, 90000);
	text_close(&tt);
}

/* perf record --off-cpu, alone and beside switches; times beyond all others are no damage. */
static void sums_of_off_cpu_time(void **state)
{
	(void)state;
	for (int in_raw = 0; in_raw < 2; in_raw++)
		for (int switches = 0; switches < 2; switches++) {
			struct import_report r;

			made = (struct made) { .is_pipe = true };
			made_begin(&made);
			made_off_cpu_event(&made);
			made_comm(&made, 0, text_tid("A"), text_tid("A"), false, "A");
			made_comm(&made, 0, text_tid("B"), text_tid("B"), false, "B");
			if (switches) {
				made_switch(&made, 0, 10, "-", "R", "A", "");
				made_switch(&made, 0, 100, "A", "S", "-", "recv");
				made_waking(&made, 1, 600, "B", "A", "send");
				made_switch(&made, 0, 610, "-", "R", "A", "");
			}
			made_off_cpu(&made, "A", 430000, "schedule", in_raw);
			made_off_cpu(&made, "A", 70000, "schedule", in_raw);
			made_end(&made);
			r = expect_folded("A", switches ? "A;recv;--;send;B;[running] 500\n"
							  "A;recv;[runnable] 10\n"
							: "A;schedule;[unknown] 500\n");
			assert_int_equal(r.off_cpu, 2);
			assert_int_equal(r.only_off_cpu, !switches);
			assert_false(import_damaged(&r));
		}
}

static void a_loss_is_unknown(void **state)
{
	struct import_report r;
	struct made *m = begin();

	(void)state;
	made_switch(m, 1, 1, "-", "R", "B", "");
	made_switch(m, 0, 10, "-", "R", "A", "");
	made_switch(m, 0, 100, "A", "S", "-", "schedule");
	made_lost(m, 0, 500, 7);
	made_waking(m, 1, 600, "B", "A", "");
	made_switch(m, 0, 610, "-", "R", "A", "");
	made_end(m);
	/* When it was woken first is not known. */
	r = expect_folded("A", "A;[unknown stack];[runnable] 10\n");
	assert_int_equal(r.lost_records, 1);
	assert_false(import_damaged(&r));
}

/* ---- names ---------------------------------------------------------------------------------- */

static const uint8_t kernel_id[20] = { 0xab, 0xcd, 1 };

/* Makes a folder with perf's cache, which has a list of the functions of that kernel. */
static void make_cache(char *home, size_t size)
{
	char path[600];
	FILE *f;

	snprintf(home, size, "/tmp/chain-perf-data.XXXXXX");
	assert_non_null(mkdtemp(home));
	snprintf(path, sizeof(path),
		 "mkdir -p %s/.debug/.build-id/ab/cd010000000000000000000000000000000000", home);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path),
		 "%s/.debug/.build-id/ab/cd010000000000000000000000000000000000/kallsyms", home);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("ffffffff81000000 T _text\n"
	      "ffffffff81001000 T schedule\n"
	      "ffffffff81002000 T end\n"
	      "ffffffffa0001010 t module_waits\t[a_module]\n"
	      "ffffffffa0001800 t module_end\t[a_module]\n",
	      f);
	fclose(f);
	setenv("HOME", home, 1);
}

static void remove_cache(const char *home)
{
	char command[600];

	snprintf(command, sizeof(command), "rm -r %s", home);
	assert_int_equal(system(command), 0);
}

/* A waits in the functions with these addresses. */
static void wait_in(struct made *m, const uint8_t id[20], uint64_t text, uint64_t module,
		    const char *frames)
{
	made = (struct made) { .is_pipe = true };
	made_begin(m);
	made_build_id(m, PERF_MISC_KERNEL, id, "[kernel.kallsyms]");
	made_kernel_map(m, text, 0x1000000, "[kernel.kallsyms]_text");
	made_kernel_map(m, module, 0x2000, "/lib/modules/6.1/kernel/a-module.ko.xz");
	made_switch(m, 1, 1, "-", "R", "B", "");
	made_switch(m, 0, 10, "A", "S", "-", frames);
	made_waking(m, 1, 20, "B", "A", frames);
	made_switch(m, 0, 20, "-", "R", "A", "");
	made_end(m);
}

/*
 * Functions lie one behind the other, 256 bytes each: an exception interrupted the second one's
 * first instruction. Behind a call that does not return, that is where it would return to.
 */
static void what_an_exception_interrupted_may_be_a_first_instruction(void **state)
{
	(void)state;
	made = (struct made) { .len = 0 };
	made_begin(&made);
	made_switch(&made, 0, 100, "A", "S", "B",
		    "first;second;asm_exc_page_fault;0xffffffff81000100");
	made_waking(&made, 0, 120, "B", "A", "wake;0xffffffff81000100");
	made_switch(&made, 0, 130, "B", "S", "A", "");
	made_end(&made);
	expect_folded("A", "A;second;asm_exc_page_fault;second;first;--;wake;first;B;[running] 20\n"
			   "A;second;asm_exc_page_fault;second;first;[runnable] 10\n");
}

static void functions_of_the_recorded_kernel(void **state)
{
	static const uint8_t other[20] = { 0xab, 0xce };
	struct import_report r;
	char home[64];

	(void)state;
	make_cache(home, sizeof(home));
	wait_in(&made, kernel_id, 0xffffffff81000000, 0xffffffffa0001000,
		"0xffffffff81001010;0xffffffffa0001020");
	r = expect_folded("A", "A;module_waits;schedule;--;schedule;module_waits;B;[running] 10\n");
	assert_int_equal(r.kernel_names, IMPORT_KERNEL_NAMED);
	/* In another boot it lay elsewhere, and so did the module: where, the list does not say. */
	wait_in(&made, kernel_id, 0xffffffff91000000, 0xffffffffa0008000,
		"0xffffffff91001010;0xffffffffa0008020;0xffffffffa0001020");
	expect_folded("A", "A;[unknown];[unknown];schedule;--;schedule;[unknown];[unknown];B;"
			   "[running] 10\n");
	/* Another build. */
	wait_in(&made, other, 0xffffffff81000000, 0xffffffffa0001000, "0xffffffff81001010");
	r = expect_folded("A", "A;[unknown];--;[unknown];B;[running] 10\n");
	assert_int_equal(r.kernel_names, IMPORT_KERNEL_NOT_HERE);
	remove_cache(home);
}

/* The build ID of the module of the only user frame; "": it has none. */
static void expect_build_id(int64_t written_ns, const char *expected)
{
	struct text_trace tt;
	const char *found = NULL;

	assert_int_equal(made_open_written(&tt, made.p, made.len, written_ns), 0);
	for (uint32_t id = 1; id < trace_frames_end(tt.trace); id++) {
		const struct trace_frame *f = trace_frame(tt.trace, id);

		if (f->space)
			found = trace_module_build_id(tt.trace, f->module);
	}
	assert_non_null(found);
	if (expected)
		assert_string_equal(found, expected);
	else
		assert_true(strlen(found) >= 16); /* this program's own */
	assert_int_equal(tt.report.files_without_id, expected && !*expected);
	text_close(&tt);
}

static void map_file(const char *path, const struct made_file *file, const uint8_t id[20])
{
	made = (struct made) { .is_pipe = true };
	made_begin(&made);
	made_map_of(&made, 0, text_tid("A"), 0x400000, 0x1000, 0x1000, path, file);
	if (id)
		made_build_id(&made, PERF_MISC_USER, id, path);
	made_switch(&made, 0, 10, "A", "S", "-", "|400100");
	made_end(&made);
}

/* A file without a recorded build ID has that of the file here only if this is proven to be it. */
static void build_ids_of_files(void **state)
{
	static const uint8_t id[20] = { 1, 2, 3 };
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct made_file file, other;
	struct stat st;
	int64_t changed_ns;

	(void)state;
	assert_true(len > 0);
	path[len] = 0;
	assert_int_equal(stat(path, &st), 0);
	file = (struct made_file) { major(st.st_dev), minor(st.st_dev), st.st_ino, 0 };
	changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	map_file(path, &file, NULL);
	expect_build_id(changed_ns + 1, NULL);
	/* Changed since, or perhaps. */
	expect_build_id(changed_ns, "");
	expect_build_id(0, "");
	other = file;
	other.inode++;
	map_file(path, &other, NULL);
	expect_build_id(changed_ns + 1, "");
	other = file;
	other.minor++;
	map_file(path, &other, NULL);
	expect_build_id(changed_ns + 1, "");
	map_file(path, &file, id);
	expect_build_id(changed_ns + 1, "0102030000000000000000000000000000000000");
}

/* ---- compressed ---------------------------------------------------------------------------- */

#ifdef HAVE_ZSTD
/* The records of an uncompressed file in pieces of a stream, which are cut anywhere. */
static void compress_records(struct made *to, const struct made *from, size_t piece, bool newer)
{
	static uint8_t packed[256 << 10];
	ZSTD_CStream *z = ZSTD_createCStream();
	ZSTD_inBuffer in = { from->p + from->data, from->len - from->data, 0 };

	assert_non_null(z);
	while (in.pos < in.size) {
		ZSTD_outBuffer out = { packed, sizeof(packed), 0 };
		size_t end = in.pos + piece, at;

		in.size = end < from->len - from->data ? end : from->len - from->data;
		while (in.pos < in.size)
			assert_false(ZSTD_isError(ZSTD_compressStream(z, &out, &in)));
		assert_int_equal(ZSTD_flushStream(z, &out), 0);
		in.size = from->len - from->data;
		at = made_begin_record(to, newer ? PERF_COMPRESSED2 : PERF_COMPRESSED, 0);
		if (newer)
			made_u64(to, out.pos);
		made_bytes(to, packed, out.pos);
		if (newer) {
			made_end_record(to, at);
		} else {
			uint16_t len = (uint16_t)(to->len - at);

			memcpy(to->p + at + 6, &len, sizeof(len));
		}
	}
	ZSTD_freeCStream(z);
}

static void compressed_records(void **state)
{
	static struct made plain;

	(void)state;
	for (int newer = 0; newer < 2; newer++)
		for (size_t piece = 40; piece < 4000; piece = piece * 3 + 1) {
			plain = (struct made) { .len = 0 };
			made_begin(&plain);
			relay(&plain);
			begin();
			compress_records(&made, &plain, piece, newer);
			made_end(&plain);
			made_end(&made);
			expect_relayed();
		}
}

static void a_bomb_is_no_record(void **state)
{
	static uint8_t zeros[1 << 20];
	uint8_t packed[60000];
	struct text_trace tt;
	struct made *m = begin();
	ZSTD_CStream *z = ZSTD_createCStream();
	ZSTD_outBuffer out = { packed, sizeof(packed), 0 };
	size_t at;

	(void)state;
	assert_non_null(z);
	for (int i = 0; i < 300; i++) {
		ZSTD_inBuffer in = { zeros, sizeof(zeros), 0 };

		while (in.pos < in.size)
			assert_false(ZSTD_isError(ZSTD_compressStream(z, &out, &in)));
	}
	assert_int_equal(ZSTD_flushStream(z, &out), 0);
	ZSTD_freeCStream(z);
	relay(m);
	at = made_begin_record(m, PERF_COMPRESSED2, 0);
	made_u64(m, out.pos);
	made_bytes(m, packed, out.pos);
	made_end_record(m, at);
	made_end(m);
	assert_int_equal(made_open(&tt, made.p, made.len), 0);
	assert_int_equal(tt.report.bad_lines, 1);
	assert_true(import_damaged(&tt.report));
	text_close(&tt);
}
#else
static void compressed_records(void **state)
{
	struct made *m = begin();

	(void)state;
	relay(m);
	made_end_record(m, made_begin_record(m, PERF_COMPRESSED, 0));
	made_end(m);
	assert_int_equal(error_of(made.p, made.len), -IMPORT_E_PERF_ZSTD);
}
#endif

/* ---- what cannot be read ------------------------------------------------------------------- */

static void files_that_cannot_be_read(void **state)
{
	struct made *m = begin();
	uint64_t zero = 0;

	(void)state;
	relay(m);
	made_end(m);
	memcpy(m->p + 48, &zero, sizeof(zero));
	assert_int_equal(error_of(m->p, m->len), -IMPORT_E_PERF_UNFINISHED);
	memcpy(m->p, "2ELIFREP", 8);
	assert_int_equal(error_of(m->p, m->len), -IMPORT_E_PERF_ORDER);
	memcpy(m->p, "PERFILE2", 8);
	memcpy(m->p + 8, "\377\377\0\0\0\0\0\0", 8);
	assert_int_equal(error_of(m->p, m->len), -IMPORT_E_PERF_DAMAGED);

	made = (struct made) { .sample_type = MADE_USUAL & ~(uint64_t)PERF_BIT_CPU };
	made_begin(&made);
	relay(&made);
	made_end(&made);
	assert_int_equal(error_of(made.p, made.len), -IMPORT_E_PERF_FIELDS);

	m = begin();
	made_end(m);
	assert_int_equal(error_of(m->p, m->len), -IMPORT_E_PERF_UNFINISHED);
	m = begin();
	made_comm(m, 5, 1, 1, false, "x");
	made_end(m);
	assert_int_equal(error_of(m->p, m->len), -IMPORT_E_PERF_SWITCHES);
}

/* Wherever it ends: what is there is read, or the error says what it is. */
static void cut_off_anywhere(void **state)
{
	(void)state;
	for (int pipe = 0; pipe < 2; pipe++) {
		made = (struct made) { .is_pipe = pipe };
		made_begin(&made);
		relay(&made);
		made_end(&made);
		for (size_t len = 16; len < made.len; len++) {
			struct text_trace tt;
			int err = made_open(&tt, made.p, len);

			assert_true(err <= 0);
			if (err)
				continue;
			/* Only at the end of a record nothing says that more should follow. */
			assert_true(import_damaged(&tt.report) || (pipe && len % 8 == 0));
			text_close(&tt);
		}
	}
}

/* Each byte in turn is another one: no length, offset or number leads out of the file. */
static void damaged_anywhere(void **state)
{
	(void)state;
	for (int pipe = 0; pipe < 2; pipe++) {
		made = (struct made) { .is_pipe = pipe };
		made_begin(&made);
		relay(&made);
		made_end(&made);
		for (size_t at = 8; at < made.len; at++)
			for (int value = 0; value < 256; value += 51) {
				uint8_t old = made.p[at];

				made.p[at] = (uint8_t)value;
				(void)error_of(made.p, made.len);
				made.p[at] = old;
			}
	}
}

static void a_bad_record_is_a_loss(void **state)
{
	struct import_report r;
	struct made *m = begin();
	size_t bad;
	uint32_t bytes = 9;

	(void)state;
	made_switch(m, 1, 1, "-", "R", "B", "");
	made_switch(m, 0, 10, "-", "R", "A", "");
	made_switch(m, 0, 100, "A", "S", "-", "");
	bad = m->len;
	made_waking(m, 1, 500, "B", "A", "");
	/* Too short to have the field. */
	memcpy(m->p + bad + 8 + 56, &bytes, sizeof(bytes));
	made_waking(m, 1, 600, "B", "A", "");
	made_switch(m, 0, 610, "-", "R", "A", "");
	made_end(m);
	r = expect_folded("A", "");
	assert_int_equal(r.bad_lines, 1);
	assert_int_equal(r.bad_offset, bad);
	assert_true(import_damaged(&r));
}

/* As a record of a pipe: what it has more than are kept is damage, no lack of memory. */
static void too_many_attributes_are_damage(void **state)
{
	const uint32_t size = 64;
	struct text_trace tt;
	uint8_t *m;
	size_t at;

	(void)state;
	made = (struct made) { .is_pipe = true };
	made_begin(&made);
	relay(&made);
	for (uint32_t i = 0; i < PERF_ATTRS_MAX; i++) {
		at = made_begin_record(&made, PERF_HEADER_ATTR, 0);
		made_u32(&made, 0);
		made_u32(&made, size);
		for (uint32_t n = 8; n < size; n += 8)
			made_u64(&made, 0);
		made_end_record(&made, at);
	}
	made_end(&made);
	assert_int_equal(made_open(&tt, made.p, made.len), 0);
	assert_in_range(tt.report.bad_lines, 1, 9);
	text_close(&tt);

	/* As a section of a file, behind all else: where it is, and its size, are in the head. */
	begin();
	relay(&made);
	made_end(&made);
	m = made.p;
	at = made.len;
	memcpy(m + 16, (const uint64_t[]) { size + 16, at, (PERF_ATTRS_MAX + 1) * (size + 16) },
	       24);
	for (uint32_t i = 0; i <= PERF_ATTRS_MAX; i++)
		for (uint32_t n = 0; n < size + 16; n += 8)
			made_u64(&made, 0);
	assert_int_equal(error_of(m, made.len), -IMPORT_E_PERF_DAMAGED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_waker_itself_waited),
		cmocka_unit_test(user_stacks_that_come_later),
		cmocka_unit_test(what_a_pipe_brings),
		cmocka_unit_test(fields_of_samples),
		cmocka_unit_test(fields_of_tracepoints_lie_where_the_format_says),
		cmocka_unit_test(records_are_put_in_order),
		cmocka_unit_test(a_round_waits_for_the_next_one),
		cmocka_unit_test(what_is_mapped_changes),
		cmocka_unit_test(a_child_has_its_parents_mappings),
		cmocka_unit_test(names_and_processes),
		cmocka_unit_test(a_loss_is_unknown),
		cmocka_unit_test(a_loss_before_all_events),
		cmocka_unit_test(sums_of_off_cpu_time),
		cmocka_unit_test(what_an_exception_interrupted_may_be_a_first_instruction),
		cmocka_unit_test(functions_of_the_recorded_kernel),
		cmocka_unit_test(build_ids_of_files),
		cmocka_unit_test(compressed_records),
#ifdef HAVE_ZSTD
		cmocka_unit_test(a_bomb_is_no_record),
#endif
		cmocka_unit_test(files_that_cannot_be_read),
		cmocka_unit_test(cut_off_anywhere),
		cmocka_unit_test(damaged_anywhere),
		cmocka_unit_test(a_bad_record_is_a_loss),
		cmocka_unit_test(too_many_attributes_are_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
