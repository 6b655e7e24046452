// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From an address to the name in the trace, on live processes: this one, and children that are gone
 * when the names are looked up. The trace's blocks are decoded here by the format's page alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "symbolize.h"

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- a trace in memory --------------------------------------------------------------------- */

struct trace {
	uint8_t *bytes;
	size_t len;
	struct encoder *enc;
	struct symbolizer *s;
	struct symbolizer_stats stats;
};

static int keep(void *ctx, const void *block, size_t len)
{
	struct trace *t = ctx;

	t->bytes = realloc(t->bytes, t->len + len);
	assert_non_null(t->bytes);
	memcpy(t->bytes + t->len, block, len);
	t->len += len;
	return 0;
}

static struct trace *begin(unsigned int parts)
{
	struct trace *t = calloc(1, sizeof(*t));
	int kernel, sideband;

	assert_non_null(t);
	t->enc = encoder_new(keep, t);
	assert_non_null(t->enc);
	t->s = symbolizer_new(t->enc, parts);
	assert_non_null(t->s);
	symbolizer_status(t->s, &kernel, &sideband);
	if (sideband == -EACCES || sideband == -EPERM) {
		print_message("perf_event_open is not permitted\n");
		skip();
	}
	assert_int_equal(sideband, 0);
	return t;
}

static void finish(struct trace *t)
{
	assert_int_equal(symbolizer_finish(t->s, &t->stats), 0);
	assert_int_equal(encoder_flush(t->enc), 0);
	assert_int_equal(t->stats.user_frames - t->stats.user_named,
			 t->stats.unmapped + t->stats.no_file + t->stats.no_symbol +
				 t->stats.no_perf_map);
}

static void end(struct trace *t)
{
	symbolizer_free(t->s);
	encoder_free(t->enc);
	free(t->bytes);
	free(t);
}

/* A user address of a process, now: the frame's id. */
static uint32_t seen(struct trace *t, pid_t tgid, uint64_t addr)
{
	uint64_t now = now_ns();
	uint32_t space = symbolizer_space(t->s, (uint32_t)tgid, now), frame;

	assert_true(space != 0);
	frame = encoder_frame(t->enc, space, addr);
	symbolizer_frame(t->s, frame, space, addr, now);
	return frame;
}

static uint64_t number(const uint8_t **p, const uint8_t *e)
{
	uint64_t v = 0;

	*p = chainlog_get_varint(*p, e, &v);
	assert_non_null(*p);
	return v;
}

/* The payload of the next block of that type from *at on; NULL: no more. */
static const uint8_t *next_block(const struct trace *t, size_t *at, int type, const uint8_t **e)
{
	while (*at < t->len) {
		const uint8_t *p = t->bytes + *at + CHAINLOG_HEADER_SIZE;
		uint32_t len = chainlog_get_le32(t->bytes + *at + CHAINLOG_OFF_LEN);
		int found = t->bytes[*at + CHAINLOG_OFF_TYPE];

		*at += CHAINLOG_HEADER_SIZE + len;
		*e = p + len;
		if (found == type)
			return p;
	}
	return NULL;
}

/* The string with that id, in a buffer of four. */
static const char *string(const struct trace *t, uint64_t id)
{
	static char bufs[4][5000];
	static int turn;
	const uint8_t *p, *e;
	size_t at = 0;

	while (id && (p = next_block(t, &at, CHAINLOG_BLOCK_STRINGS, &e))) {
		uint64_t first = number(&p, e), n = number(&p, e);

		for (uint64_t i = first; i < first + n; i++) {
			uint64_t len = number(&p, e);

			assert_true(len <= (size_t)(e - p));
			if (i == id) {
				turn = (turn + 1) % 4;
				snprintf(bufs[turn], sizeof(bufs[0]), "%.*s", (int)len,
					 (const char *)p);
				return bufs[turn];
			}
			p += len;
		}
	}
	return NULL;
}

struct name {
	const char *symbol, *module; /* NULL: none */
	uint64_t offset, build_id_len;
};

static void look_up_module(const struct trace *t, uint64_t id, struct name *out)
{
	const uint8_t *p, *e;
	size_t at = 0;

	while ((p = next_block(t, &at, CHAINLOG_BLOCK_MODULES, &e))) {
		uint64_t first = number(&p, e), n = number(&p, e);

		for (uint64_t i = first; i < first + n; i++) {
			uint64_t path = number(&p, e), len = number(&p, e);

			p += len;
			if (i == id) {
				out->module = string(t, path);
				out->build_id_len = len;
			}
		}
	}
}

static struct name name_of(const struct trace *t, uint32_t frame)
{
	struct name out = { 0 };
	const uint8_t *p, *e;
	size_t at = 0;

	while ((p = next_block(t, &at, CHAINLOG_BLOCK_NAMES, &e))) {
		uint64_t id = 0;

		for (uint64_t n = number(&p, e); n; n--) {
			uint64_t symbol, module, offset;

			id += (uint64_t)chainlog_unzigzag(number(&p, e));
			symbol = number(&p, e);
			module = number(&p, e);
			offset = number(&p, e);
			if (id != frame)
				continue;
			out.symbol = string(t, symbol);
			out.offset = offset;
			look_up_module(t, module, &out);
		}
	}
	return out;
}

static void expect(const struct trace *t, uint32_t frame, const char *symbol, const char *module,
		   uint64_t offset)
{
	struct name n = name_of(t, frame);

	assert_string_equal(n.symbol ? n.symbol : "none", symbol);
	assert_string_equal(n.module ? n.module : "none", module);
	assert_int_equal(n.offset, offset);
}

/* ---- a process to look at ------------------------------------------------------------------ */

__attribute__((noinline)) static int a_function_of_the_child(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3 + 1;
}

static uint64_t addr_of_child_function(void)
{
	return (uint64_t)(uintptr_t)a_function_of_the_child + 2;
}

static char self_exe[4096];

struct child {
	pid_t pid;
	int to, from;
	uint64_t addr;
};

/* The child's side: says where the function is and lives until its input ends. */
static int be_child(void)
{
	uint64_t addr = addr_of_child_function();
	char c;

	if (write(STDOUT_FILENO, &addr, sizeof(addr)) != (ssize_t)sizeof(addr))
		return 1;
	return read(STDIN_FILENO, &c, 1) ? a_function_of_the_child(1) : 0;
}

/* In a mount namespace of its own, if so wanted, where the program is in a tmpfs nobody else has. */
static void exec_child(const char *path, const char *hidden_root)
{
	char hidden[4096 + 64];
	int from, to;
	char buf[65536];
	ssize_t n;

	if (!hidden_root) {
		execl(path, path, "child", (char *)NULL);
		_exit(127);
	}
	snprintf(hidden, sizeof(hidden), "%s/hidden", hidden_root);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", hidden_root, "tmpfs", 0, NULL))
		_exit(126);
	from = open(path, O_RDONLY | O_CLOEXEC);
	to = open(hidden, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	while ((n = read(from, buf, sizeof(buf))) > 0)
		if (write(to, buf, (size_t)n) != n)
			_exit(125);
	close(to);
	execl(hidden, hidden, "child", (char *)NULL);
	_exit(127);
}

static struct child start_child(const char *path, const char *hidden_root)
{
	struct child c = { 0 };
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (!c.pid) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		exec_child(path, hidden_root);
	}
	close(in[0]);
	close(out[1]);
	c.to = in[1];
	c.from = out[0];
	if (read(c.from, &c.addr, sizeof(c.addr)) != (ssize_t)sizeof(c.addr))
		c.addr = 0;
	return c;
}

static void end_child(struct child *c)
{
	int status;

	close(c->to);
	close(c->from);
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
}

/* A copy of this program under another name. */
static void copy_self(char path[64])
{
	char buf[65536];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to;
	ssize_t n;

	strcpy(path, "/tmp/symbolize-test-XXXXXX");
	to = mkstemp(path);
	assert_true(from >= 0 && to >= 0);
	while ((n = read(from, buf, sizeof(buf))) > 0)
		assert_int_equal(write(to, buf, (size_t)n), n);
	assert_int_equal(fchmod(to, 0700), 0);
	close(from);
	close(to);
}

/* ---- what is named ------------------------------------------------------------------------- */

static void functions_of_what_ran_before_are_named(void **state)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	uint64_t libc = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "getppid");
	uint32_t own = seen(t, getpid(), addr_of_child_function()), lib = seen(t, getpid(), libc + 1);
	struct name n;

	(void)state;
	finish(t);
	expect(t, own, "a_function_of_the_child", self_exe, 2);
	n = name_of(t, lib);
	assert_string_equal(n.symbol ? n.symbol : "none", "getppid");
	assert_non_null(strstr(n.module, "libc"));
	assert_int_equal(n.offset, 1);
	assert_true(n.build_id_len >= 8);
	assert_int_equal(t->stats.user_frames, 2);
	assert_int_equal(t->stats.user_named, 2);
	assert_int_equal(t->stats.files_read, 2);
	end(t);
}

static void a_library_loaded_later_is_named(void **state)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	void *lib = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
	uint64_t addr;
	uint32_t frame;
	struct name n;

	(void)state;
	assert_non_null(lib);
	addr = (uint64_t)(uintptr_t)dlsym(lib, "fegetround");
	assert_true(addr != 0);
	frame = seen(t, getpid(), addr + 1);
	dlclose(lib); /* the file counts, not what is there at the end */
	finish(t);
	n = name_of(t, frame);
	assert_string_equal(n.symbol ? n.symbol : "none", "fegetround");
	assert_non_null(strstr(n.module, "libm"));
	end(t);
}

static void the_vdso_is_named(void **state)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	bool found = false;
	uint32_t first = 0, last = 0;

	(void)state;
	if (!start) {
		print_message("this kernel gives no vdso\n");
		end(t);
		skip();
	}
	for (uint64_t at = 0; at < 4096; at += 16) {
		last = seen(t, getpid(), start + at);
		first = first ? first : last;
	}
	finish(t);
	for (uint32_t f = first; f <= last; f++) {
		struct name n = name_of(t, f);

		if (n.symbol && strstr(n.symbol, "clock_gettime")) {
			assert_string_equal(n.module, "[vdso]");
			found = true;
		}
	}
	assert_true(found);
	end(t);
}

static void a_process_that_came_and_went_is_named_even_if_its_file_is_deleted(void **state)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	char path[64];
	struct child c;
	uint32_t frame;

	(void)state;
	copy_self(path);
	c = start_child(path, NULL);
	assert_true(c.addr != 0);
	symbolizer_poll(t->s); /* as the drain loop does, ten times a second */
	assert_int_equal(unlink(path), 0);
	end_child(&c);
	frame = seen(t, c.pid, c.addr);
	finish(t);
	expect(t, frame, "a_function_of_the_child", path, 2);
	end(t);
}

static void a_process_too_fast_for_any_poll_is_named_by_its_file(void **state)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	char path[64];
	struct child c;
	uint32_t frame;

	(void)state;
	copy_self(path);
	c = start_child(path, NULL);
	end_child(&c);
	frame = seen(t, c.pid, c.addr);
	finish(t);
	unlink(path);
	expect(t, frame, "a_function_of_the_child", path, 2);
	end(t);
}

static void another_file_under_the_same_name_is_not_taken_for_it(void **state)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	char path[64], other[64];
	struct child c;
	uint32_t frame;
	struct name n;

	(void)state;
	copy_self(path);
	copy_self(other);
	c = start_child(path, NULL);
	end_child(&c);
	assert_int_equal(rename(other, path), 0);
	frame = seen(t, c.pid, c.addr);
	finish(t);
	unlink(path);
	n = name_of(t, frame);
	assert_null(n.symbol);
	assert_string_equal(n.module, path);
	assert_int_equal(t->stats.no_file, 1);
	end(t);
}

static void a_process_in_a_mount_namespace_of_its_own_is_named(void **state)
{
	struct trace *t;
	char root[] = "/tmp/symbolize-root-XXXXXX", path[64];
	struct child c;
	uint32_t frame;

	(void)state;
	if (geteuid()) {
		print_message("needs root, to mount\n");
		skip();
	}
	t = begin(SYMBOLIZER_USER);
	assert_non_null(mkdtemp(root));
	c = start_child(self_exe, root);
	assert_true(c.addr != 0);
	symbolizer_poll(t->s);
	end_child(&c);
	assert_int_equal(rmdir(root), 0); /* nothing of it was ever seen here */
	frame = seen(t, c.pid, c.addr);
	finish(t);
	snprintf(path, sizeof(path), "%s/hidden", root);
	expect(t, frame, "a_function_of_the_child", path, 2);
	end(t);
}

static void an_exec_makes_another_address_space(void **state)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	int go[2], status;
	uint32_t before, after, frame;
	uint64_t t0;
	pid_t pid;
	char c;

	(void)state;
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(go[1]);
		if (!read(go[0], &c, 1))
			execl("/bin/sleep", "sleep", "20", (char *)NULL);
		_exit(1);
	}
	close(go[0]);
	t0 = now_ns();
	before = symbolizer_space(t->s, (uint32_t)pid, t0);
	frame = seen(t, pid, addr_of_child_function()); /* what fork gave it */
	close(go[1]);
	for (after = before; after == before && now_ns() - t0 < 10000000000u;)
		after = symbolizer_space(t->s, (uint32_t)pid, now_ns());
	assert_true(after && after != before);
	assert_int_equal(symbolizer_space(t->s, (uint32_t)pid, t0), before);
	assert_int_equal(symbolizer_space(t->s, (uint32_t)pid, now_ns()), after);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	finish(t);
	expect(t, frame, "a_function_of_the_child", self_exe, 2);
	end(t);
}

static void generated_code_is_named_by_the_perf_map(void **state)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	uint8_t *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t addr = (uint64_t)(uintptr_t)code;
	char map[64];
	uint32_t in, out, entry;
	FILE *f;

	(void)state;
	assert_ptr_not_equal(code, MAP_FAILED);
	assert_int_equal(mprotect(code, 8192, PROT_READ | PROT_EXEC), 0);
	in = seen(t, getpid(), addr + 0x20);
	out = seen(t, getpid(), addr + 0x900);
	entry = seen(t, getpid(), addr + 0x210);
	/* Written at the end, as some runtimes do. */
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", getpid());
	f = fopen(map, "w");
	assert_non_null(f);
	fprintf(f, "%" PRIx64 " 100 LRU::get\n%" PRIx64 " 10 _ZN1A1bEv\n", addr, addr + 0x200);
	fclose(f);
	finish(t);
	unlink(map);
	expect(t, in, "LRU::get", map, 0x20);
	expect(t, entry, "A::b", map, 0x10);
	assert_null(name_of(t, out).symbol);
	assert_int_equal(t->stats.no_symbol, 1);
	munmap(code, 8192);
	end(t);
}

static void what_cannot_be_named_is_counted_by_its_reason(void **state)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t anon, nowhere;

	(void)state;
	assert_ptr_not_equal(code, MAP_FAILED);
	anon = seen(t, getpid(), (uint64_t)(uintptr_t)code + 8);
	nowhere = seen(t, getpid(), 0x10);
	finish(t);
	assert_null(name_of(t, anon).symbol);
	assert_string_equal(name_of(t, anon).module, "//anon");
	assert_null(name_of(t, nowhere).symbol);
	assert_int_equal(t->stats.no_perf_map, 1);
	assert_int_equal(t->stats.unmapped, 1);
	assert_int_equal(t->stats.user_named, 0);
	munmap(code, 4096);
	end(t);
}

static uint64_t kernel_address(const char *name)
{
	char line[512], found[256];
	uint64_t addr = 0, at = 0;
	FILE *f = fopen("/proc/kallsyms", "r");

	assert_non_null(f);
	while (!addr && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &at, found) == 2 && !strcmp(found, name))
			addr = at;
	fclose(f);
	return addr;
}

static void kernel_functions_are_named_at_once(void **state)
{
	struct trace *t = begin(SYMBOLIZER_KERNEL);
	uint64_t addr = kernel_address("schedule"), stub = kernel_address("bpf_get_stack");
	uint32_t frame, hole;

	(void)state;
	if (!addr) {
		print_message("the kernel hides its addresses\n");
		end(t);
		skip();
	}
	frame = encoder_frame(t->enc, 0, addr + 9);
	symbolizer_kernel_frame(t->s, frame, addr + 9);
	assert_int_equal(encoder_flush(t->enc), 0); /* the recorder might be killed now */
	expect(t, frame, "schedule", "[kernel]", 9);
	assert_false(symbolizer_is_tracer_frame(t->s, addr + 9));
	if (stub)
		assert_true(symbolizer_is_tracer_frame(t->s, stub + 9));
	hole = encoder_frame(t->enc, 0, 0xfff);
	symbolizer_kernel_frame(t->s, hole, 0xfff);
	finish(t);
	assert_null(name_of(t, hole).symbol);
	assert_int_equal(t->stats.kernel_frames, 2);
	assert_int_equal(t->stats.kernel_named, 1);
	end(t);
}

/* Many short-lived processes, of none of which a stack was recorded. */
static void a_fork_storm_costs_little(void **state)
{
	enum { CHILDREN = 1000 };
	struct trace *t = begin(SYMBOLIZER_USER);
	uint64_t poll_ns = 0;
	int status;

	(void)state;
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		waitpid(pid, &status, 0);
		if (i % 50 == 49) {
			uint64_t start = now_ns();

			symbolizer_poll(t->s);
			poll_ns += now_ns() - start;
		}
	}
	finish(t);
	assert_int_equal(t->stats.sideband_lost, 0);
	assert_true(t->stats.processes >= 2 * CHILDREN);
	print_message("%.1f us of polling a process\n", (double)poll_ns / CHILDREN / 1000);
	assert_true(poll_ns / CHILDREN < 2000000);
	end(t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_what_ran_before_are_named),
		cmocka_unit_test(a_library_loaded_later_is_named),
		cmocka_unit_test(the_vdso_is_named),
		cmocka_unit_test(a_process_that_came_and_went_is_named_even_if_its_file_is_deleted),
		cmocka_unit_test(a_process_too_fast_for_any_poll_is_named_by_its_file),
		cmocka_unit_test(another_file_under_the_same_name_is_not_taken_for_it),
		cmocka_unit_test(a_process_in_a_mount_namespace_of_its_own_is_named),
		cmocka_unit_test(an_exec_makes_another_address_space),
		cmocka_unit_test(generated_code_is_named_by_the_perf_map),
		cmocka_unit_test(what_cannot_be_named_is_counted_by_its_reason),
		cmocka_unit_test(kernel_functions_are_named_at_once),
		cmocka_unit_test(a_fork_storm_costs_little),
	};

	if (argc == 2 && !strcmp(argv[1], "child"))
		return be_child();
	if (readlink("/proc/self/exe", self_exe, sizeof(self_exe) - 1) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
