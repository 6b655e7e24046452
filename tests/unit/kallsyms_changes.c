// SPDX-License-Identifier: GPL-2.0-or-later
/* Alone: programs that others load may get the addresses that are looked at. */
/*
 * Kernel code that takes the place of other code while it is watched: BPF programs at one address,
 * one after the other. /proc/kallsyms says what is there at the moment.
 */

#include "test.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <poll.h>
#include <unistd.h>

#include "kernel/sideband.h"
#include "kallsyms/kernel_changes.h"
#include "kallsyms/kernel_names.h"
#include "symbolized_trace.h"

/* ---- generations --------------------------------------------------------------------------- */

TEST(an_address_has_a_generation_for_each_change)
{
	struct kernel_changes *c;
	uint64_t since_ns;

	assert_int_equal(kernel_changes_new(&c), 0);
	assert_int_equal(kernel_changes_at(c, 0x1010, 5), 0);
	kernel_changes_note(c, 0x1000, 0x1040, 100, 100);
	kernel_changes_note(c, 0x2000, 0x2040, 150, 150);
	kernel_changes_note(c, 0x1000, 0x1100, 180, 200);
	assert_int_equal(kernel_changes_at(c, 0x1010, 99), 0);
	assert_int_equal(kernel_changes_at(c, 0x1010, 100), 1);
	assert_int_equal(kernel_changes_at(c, 0x1010, 180), 1);
	/* It may have been before or after. */
	assert_int_equal(kernel_changes_at(c, 0x1010, 190), KERNEL_GENERATION_UNKNOWN);
	assert_int_equal(kernel_changes_at(c, 0x1010, 200), 3);
	assert_int_equal(kernel_changes_at(c, 0x1080, 199), KERNEL_GENERATION_UNKNOWN);
	assert_int_equal(kernel_changes_at(c, 0x1080, 179), 0);
	/* A return address just past the last byte, and just at the first. */
	assert_int_equal(kernel_changes_at(c, 0x2040, 999), 2);
	assert_int_equal(kernel_changes_at(c, 0x2000, 999), 0);
	assert_int_equal(kernel_changes_latest(c, 0x1010, &since_ns), 3);
	assert_int_equal(since_ns, 200);
	assert_true(kernel_changes_between(c, 90, 110));
	assert_true(kernel_changes_between(c, 110, 90));
	assert_false(kernel_changes_between(c, 100, 149));
	assert_true(kernel_changes_between(c, 170, 190));
	assert_false(kernel_changes_between(c, 200, 9999));
	kernel_changes_free(c);
}

TEST(changes_without_number_give_no_wrong_generation)
{
	struct kernel_changes *c;
	uint32_t before = 0;

	assert_int_equal(kernel_changes_new(&c), 0);
	for (uint64_t i = 1; i <= 5000; i++) {
		uint64_t addr = 0x100000 + i % 7 * 64;
		uint32_t now, then;

		kernel_changes_note(c, addr, addr + 64, i * 10, i * 10);
		now = kernel_changes_at(c, addr + 8, i * 10 + 5);
		assert_true(now > before);
		before = now;
		/* What is forgotten is not taken for what is there now, or was at another time. */
		assert_int_not_equal(kernel_changes_at(c, addr + 8, i * 10 - 5), now);
		then = kernel_changes_at(c, addr + 8, 5);
		assert_true(then == 0 || then == KERNEL_GENERATION_UNKNOWN);
	}
	kernel_changes_free(c);
}

TEST(names_are_kept_by_generation)
{
	struct kernel_changes *c;
	struct kallsyms_symbol sym;
	char name[32];

	assert_int_equal(kernel_changes_new(&c), 0);
	kernel_changes_keep_name(c, 0x1000, 0x1040, 0, "first", NULL);
	kernel_changes_keep_name(c, 0x1000, 0x1040, 3, "second", "module");
	assert_true(kernel_changes_find(c, 0x1040, 0, &sym));
	assert_string_equal(sym.name, "first");
	assert_true(kernel_changes_find(c, 0x1001, 3, &sym));
	assert_string_equal(sym.name, "second");
	assert_string_equal(sym.module, "module");
	assert_false(kernel_changes_find(c, 0x1001, 1, &sym));
	assert_false(kernel_changes_find(c, 0x1041, 3, &sym));
	/* Bounded. */
	for (uint32_t i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		kernel_changes_keep_name(c, 0x2000 + i * 16, 0x2010 + i * 16, 1, name, NULL);
	}
	assert_false(kernel_changes_find(c, 0x1001, 3, &sym));
	assert_true(kernel_changes_find(c, 0x2000 + 99999 * 16 + 8, 1, &sym));
	assert_string_equal(sym.name, "f99999");
	kernel_changes_free(c);
}

/* ---- in the kernel ------------------------------------------------------------------------- */

/*
 * The address of the function whose name ends like that, and its name; 0: there is none. Only at
 * that address, if it is not 0.
 */
static uint64_t find_symbol(const char *end, uint64_t there, char *symbol)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], found[256];
	uint64_t addr = 0, at;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &at, found) == 2 &&
		    (!there || at == there) && strlen(found) >= strlen(end) &&
		    !strcmp(found + strlen(found) - strlen(end), end)) {
			addr = at;
			strcpy(symbol, found);
		}
	fclose(f);
	return addr;
}

/*
 * Others who watch, like perf record -a: for each of them the kernel makes a record of new code
 * longer than it is.
 */
static struct sideband *others[3];

/* A trace, and then they begin: the last one that began comes first. */
static struct trace *begin_before_others(void)
{
	struct trace *t = begin(SYMBOLIZER_KERNEL);

	for (int i = 0; i < 3; i++)
		(void)sideband_open(&others[i], 64 << 10, false);
	return t;
}

static int unwatch(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		sideband_close(others[i]);
	return 0;
}

static int load(const char *name)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, name, "GPL", insns, 2, NULL);
}

/* Where its code is; 0: not known, or not compiled. */
static uint64_t address_of(int fd)
{
	struct bpf_prog_info info = { .nr_jited_ksyms = 1 };
	uint64_t addr = 0;
	__u32 len = sizeof(info);

	info.jited_ksyms = (uintptr_t)&addr;
	return bpf_obj_get_info_by_fd(fd, &info, &len) ? 0 : addr;
}

/* Ends programs, whose memory is free a grace period later. */
static void unload(const int *fds, uint32_t n, const char *end)
{
	char symbol[256];

	while (n--)
		close(fds[n]);
	for (int ms = 0; find_symbol(end, 0, symbol) && ms < 5000; ms += 50)
		poll(NULL, 0, 50);
	poll(NULL, 0, 200);
}

#define PROGRAMS 10u

static void load_all(int *fds, uint64_t *addrs, const char *name)
{
	for (uint32_t i = 0; i < PROGRAMS; i++) {
		fds[i] = load(name);
		addrs[i] = fds[i] < 0 ? 0 : address_of(fds[i]);
	}
}

/* The first address that both have; 0: there is none. */
static uint64_t common(const uint64_t *a, const uint64_t *b)
{
	for (uint32_t i = 0; i < PROGRAMS * PROGRAMS; i++)
		if (a[i / PROGRAMS] == b[i % PROGRAMS])
			return a[i / PROGRAMS];
	return 0;
}

/* Ends t, which may be NULL, and the test. */
static void skip_without_programs(struct trace *t)
{
	print_message("no BPF program can be loaded, or it is not compiled\n");
	if (t)
		end(t);
	skip();
}

/*
 * Loads a program, whose symbol ends with an underscore and its name; else skips the test, and ends
 * t, which may be NULL. Returns its address, and puts its symbol into symbol.
 */
static uint64_t load_one(struct trace *t, const char *name, int *fd, char symbol[256])
{
	char last[64];
	uint64_t addr;

	*fd = load(name);
	snprintf(last, sizeof(last), "_%s", name);
	addr = *fd < 0 ? 0 : find_symbol(last, 0, symbol);
	if (!addr)
		skip_without_programs(t);
	return addr;
}

TEST_IN(what_takes_the_place_of_a_program_has_its_own_name, NULL, unwatch)
{
	struct trace *t = begin_before_others();
	uint64_t firsts[PROGRAMS], thens[PROGRAMS], addr = 0, first_ns, gone_ns, second_ns;
	uint32_t frames[PROGRAMS], frame, between, after;
	char first[256], second[256];
	const char *name;
	int fds[PROGRAMS];

	load_all(fds, firsts, "here_first");
	if (!firsts[0] || !find_symbol("_here_first", firsts[0], first))
		skip_without_programs(t);
	first_ns = now_ns();
	for (uint32_t i = 0; i < PROGRAMS; i++)
		frames[i] = kernel_seen(t, firsts[i] + 3, first_ns);
	unload(fds, PROGRAMS, "_here_first");
	gone_ns = now_ns();
	/* The kernel puts each at one of ten offsets in some place that is free. */
	for (int tries = 0; !addr && tries < 60; tries++) {
		if (tries)
			unload(fds, PROGRAMS, "_here_then");
		load_all(fds, thens, "here_then");
		addr = common(firsts, thens);
	}
	if (!addr) {
		print_message("no program was loaded where another one had been\n");
		unload(fds, PROGRAMS, "_here_then");
		end(t);
		skip();
	}
	assert_true(find_symbol("_here_then", addr, second) != 0);
	second_ns = now_ns();
	after = kernel_seen(t, addr + 3, second_ns);
	frame = kernel_seen(t, addr + 3, first_ns);
	assert_int_not_equal(after, frame);
	assert_true(frame >= frames[0] && frame <= frames[PROGRAMS - 1]);
	assert_int_equal(kernel_seen(t, addr + 3, second_ns + 1), after);
	assert_false(symbolizer_kernel_held(t->s, first_ns, second_ns));
	assert_true(symbolizer_kernel_held(t->s, second_ns, second_ns));
	/* When neither was there. */
	between = kernel_seen(t, addr + 3, gone_ns);
	assert_int_not_equal(between, after);
	assert_int_not_equal(between, frame);
	unload(fds, PROGRAMS, "_here_then");
	finish(t);
	expect(t, frame, first, "[bpf]", 3);
	expect(t, after, second, "[bpf]", 3);
	/* Other tracers' programs may have been there. */
	name = name_of(t, between).symbol;
	assert_string_not_equal(name ? name : "none", first);
	assert_string_not_equal(name ? name : "none", second);
	end(t);
}

/* Whether it was told that the code at an address has changed. */
struct told {
	uint64_t addr;
	bool is_told;
};

static void tell(void *ctx, uint64_t start, uint64_t end)
{
	struct told *told = ctx;

	told->is_told |= start < told->addr && told->addr <= end;
}

TEST_IN(a_late_stack_gets_the_name_of_its_time, NULL, unwatch)
{
	struct trace *t = begin_before_others();
	struct told told = { 0 };
	uint64_t addr, first_ns;
	char first[256];
	uint32_t frame;
	int fd;

	addr = load_one(t, "here_first", &fd, first);
	symbolizer_poll(t->s);
	first_ns = now_ns();
	told.addr = addr + 4;
	kernel_names_on_change(symbolizer_kernel(t->s), tell, &told);
	unload(&fd, 1, "_here_first");
	fd = load("here_then");
	assert_true(fd >= 0);
	poll(NULL, 0, 10);
	assert_false(told.is_told);
	symbolizer_poll(t->s);
	assert_true(told.is_told);
	frame = kernel_seen(t, addr + 4, first_ns);
	close(fd);
	finish(t);
	expect(t, frame, first, "[bpf]", 4);
	end(t);
}

/* The table that was read at the begin has it. A new one may have another program there. */
TEST(what_went_since_the_table_was_read_does_not_get_its_name)
{
	uint32_t before, after;
	struct trace *t;
	char symbol[256];
	const char *name;
	uint64_t addr;
	int fd;

	addr = load_one(NULL, "here_before", &fd, symbol);
	t = begin(SYMBOLIZER_KERNEL);
	before = kernel_seen(t, addr + 3, now_ns());
	unload(&fd, 1, "_here_before");
	after = kernel_seen(t, addr + 3, now_ns());
	finish(t);
	expect(t, before, symbol, "[bpf]", 3);
	name = name_of(t, after).symbol;
	assert_string_not_equal(name ? name : "none", symbol);
	end(t);
}

/* Makes the kernel say that a module that is built in went. False: it cannot be made to. */
static bool say_a_module_went(void)
{
	DIR *d = opendir("/sys/module");
	const struct dirent *e;
	bool said = false;

	while (d && !said && (e = readdir(d))) {
		char path[300];
		int fd;

		snprintf(path, sizeof(path), "/sys/module/%s/uevent", e->d_name);
		fd = *e->d_name == '.' ? -1 : open(path, O_WRONLY);
		if (fd < 0)
			continue;
		said = write(fd, "remove", 6) == 6;
		close(fd);
	}
	if (d)
		closedir(d);
	return said;
}

TEST(when_a_module_went_what_is_known_is_read_again)
{
	int fd = load("here_still");
	uint64_t addr = fd < 0 ? 0 : address_of(fd), before_ns, then_ns;
	struct trace *t = begin(SYMBOLIZER_KERNEL);
	uint32_t before, then, after;
	char symbol[256];

	before_ns = now_ns();
	before = kernel_seen(t, addr + 3, before_ns);
	if (!addr || !find_symbol("_here_still", addr, symbol) || !say_a_module_went()) {
		print_message("no BPF program can be loaded, or the kernel has no modules\n");
		end(t);
		skip();
	}
	then_ns = now_ns();
	symbolizer_poll(t->s);
	after = kernel_seen(t, addr + 3, now_ns());
	then = kernel_seen(t, addr + 3, then_ns);
	assert_int_not_equal(before, after);
	assert_int_equal(kernel_seen(t, addr + 3, before_ns), before);
	assert_false(symbolizer_kernel_held(t->s, before_ns, now_ns()));
	finish(t);
	close(fd);
	expect(t, before, symbol, "[bpf]", 3);
	expect(t, after, symbol, "[bpf]", 3);
	assert_null(name_of(t, then).symbol);
	end(t);
}
