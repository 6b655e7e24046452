// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What reads strangers' files for unwinding has no rights. When it dies, hangs or lies, the
 * recorder is without a rule for a while, and goes on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/clock.h"
#include "no_rights.h"
#include "elf/elfsym.h"
#include "files/codefile.h"
#include "unwind/cfi.h"
#include "unwind/rules.h"
#include "unwind/rules_private.h"

#define MS 1000000u

static int self; /* this program, open */

/* What each look at the thread's CPU time adds to it. */
static uint64_t slower_ns;
/* Whether time stands still, and how much it has gone on all the same; for all processes. */
static bool is_still;
static uint64_t *later_ns;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	static uint64_t added_ns;
	static struct timespec still;
	int err = __real_clock_gettime(clock, now);

	if (clock == CLOCK_MONOTONIC && is_still) {
		if (!still.tv_sec)
			still = *now;
		*now = still;
		now->tv_sec += (time_t)(*later_ns / 1000000000u);
	}
	if (clock != CLOCK_THREAD_CPUTIME_ID || !slower_ns)
		return err;
	added_ns += slower_ns;
	now->tv_sec += (time_t)(added_ns / 1000000000u);
	return err;
}

/* An offset of this program that has a rule. */
static uint64_t own_offset(void)
{
	struct elfsym_segment code;
	struct elfsym *e;
	struct unwind_rule rule;
	struct cfi *c;
	uint64_t at, row_end;

	assert_int_equal(elfsym_open(&e, self), 0);
	assert_true(elfsym_code(e, 0, &code));
	elfsym_close(e);
	assert_int_equal(cfi_open(&c, self), 0);
	for (at = code.offset + code.bytes / 2; cfi_row(c, at, &rule, &row_end); at++)
		assert_true(at < code.offset + code.bytes);
	cfi_close(c);
	return at;
}

struct world {
	struct helpers *helpers;
	struct rules *rules;
	struct rules_file file;
	struct rules_window window;
	uint64_t offset;
	bool is_signal;
	/* What the last answer was about. */
	const struct rules_file *heard_of;
	uint64_t heard_at;
};

static void take_answer(void *world, struct rules_file *f, uint64_t offset,
			const struct rules_window *window, bool is_it)
{
	struct world *w = world;

	if (window)
		w->window = *window;
	w->is_signal = is_it;
	w->heard_of = f;
	w->heard_at = offset;
}

static void begin_with(struct world *w, const struct helper_kind *kind)
{
	*w = (struct world) { .offset = own_offset() };
	assert_int_equal(helpers_start(&w->helpers, HELPERS_NO_RIGHTS), 0);
	assert_int_equal(rules_new(&w->rules, w->helpers, kind, take_answer, w), 0);
}

static void end(struct world *w)
{
	rules_free(w->rules);
	helpers_free(w->helpers);
}

static int find(struct world *w)
{
	rules_poll(w->rules);
	return rules_ask(w->rules, &w->file, w->offset, false);
}

/*
 * Opens the file if it is not open, and asks for a rule in it until there is an answer: on a busy
 * machine that may come after the question was given up.
 */
static int find_in(struct world *w, struct rules_file *f, int fd, uint64_t offset)
{
	int err = -EAGAIN;

	w->heard_of = NULL;
	for (int i = 0; err == -EAGAIN && i < 100; i++) {
		if (i)
			usleep(50000);
		rules_poll(w->rules);
		if (w->heard_of == f && w->heard_at == offset)
			return 0;
		err = rules_ask(w->rules, f, offset, false);
		if (err != -ENOTCONN)
			continue;
		err = rules_open(w->rules, f, fd);
		if (!err)
			err = rules_ask(w->rules, f, offset, false);
		else if (err == -EBUSY)
			err = -EAGAIN;
	}
	return err;
}

static int find_again(struct world *w)
{
	return find_in(w, &w->file, self, w->offset);
}

static pid_t reader_of(const struct world *w)
{
	return child_of(helpers_pid(w->helpers));
}

/* ---- what they are ------------------------------------------------------------------------- */

static void they_have_no_rights(void **state)
{
	struct world w;

	(void)state;
	if (geteuid()) {
		print_message("needs root: others' readers have their user\n");
		skip();
	}
	begin_with(&w, &rules_kind);
	assert_int_equal(find_again(&w), 0);
	assert_true(w.window.n > 0);
	/* /dev/null three times and a socket; and the file. */
	expect_no_rights(reader_of(&w), 5);
	rules_close(w.rules, &w.file);
	assert_int_equal(find_again(&w), 0);
	rules_close(w.rules, &w.file);
	expect_no_rights(reader_of(&w), 4);
	end(&w);
}

/* Opens another file than the first one, which was read before, and expects another reader. */
static void expect_another_reader(struct world *w, struct rules_file *other, int fd)
{
	pid_t first = reader_of(w);

	assert_int_equal(rules_open(w->rules, other, fd), 0);
	assert_int_equal(find_in(w, other, fd, 0), 0);
	assert_int_equal(w->window.n, 0); /* it is empty */
	assert_true(other->process != w->file.process);
	/* The first one has not seen it. */
	expect_no_rights(first, 5);
}

static void another_owners_files_are_read_by_another(void **state)
{
	char path[] = "/tmp/rules-test-XXXXXX";
	struct world w;
	struct rules_file other = { .index = 1 };
	int fd;

	(void)state;
	if (geteuid()) {
		print_message("needs root, for a file of another user\n");
		skip();
	}
	begin_with(&w, &rules_kind);
	assert_int_equal(find_again(&w), 0);
	fd = mkstemp(path);
	assert_true(fd >= 0 && !fchown(fd, 65534, 65534));
	expect_another_reader(&w, &other, fd);
	close(fd);
	unlink(path);
	end(&w);
}

/* Of the same owner on the same file system: by its group, by all, or in a container's volume. */
static void what_others_may_write_is_read_by_another(void **state)
{
	static const struct {
		mode_t mode;
		uint32_t root;
		bool is_another;
	} cases[] = {
		{ 0600, 0, false }, { 0644, 0, false }, { 0664, 0, true },
		{ 0606, 0, true },  { 0600, 1, true },	{ 0600, CODE_ROOTS_SEVERAL, true },
	};
	struct world w;

	(void)state;
	if (geteuid()) {
		print_message("needs root: others' readers cannot be looked at\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char first[] = "/tmp/rules-test-XXXXXX", second[] = "/tmp/rules-test-XXXXXX";
		struct rules_file other = { .index = 1, .root = cases[i].root };
		int a = mkstemp(first), b = mkstemp(second);

		begin_with(&w, &rules_kind);
		assert_true(a >= 0 && b >= 0 && !fchmod(b, cases[i].mode));
		assert_int_equal(find_in(&w, &w.file, a, 0), 0);
		if (cases[i].is_another) {
			expect_another_reader(&w, &other, b);
		} else {
			assert_int_equal(rules_open(w.rules, &other, b), 0);
			assert_true(other.process == w.file.process);
		}
		end(&w);
		close(a);
		close(b);
		unlink(first);
		unlink(second);
	}
}

/*
 * Each file that others may write has a reader of its own. Who has many of them takes the readers
 * from himself.
 */
static void who_has_many_files_takes_no_readers_of_others(void **state)
{
	struct rules_file theirs[20];
	struct world w;
	uint64_t process;

	(void)state;
	if (geteuid()) {
		print_message("needs root, for files of another user\n");
		skip();
	}
	begin_with(&w, &rules_kind);
	assert_int_equal(find_again(&w), 0);
	process = w.file.process;
	for (uint32_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++) {
		char path[] = "/tmp/rules-test-XXXXXX";
		int fd = mkstemp(path);

		theirs[i] = (struct rules_file) { .index = i + 1 };
		assert_true(fd >= 0 && !fchown(fd, 65534, 65534) && !fchmod(fd, 0666));
		assert_int_equal(find_in(&w, &theirs[i], fd, 0), 0);
		close(fd);
		unlink(path);
	}
	assert_int_equal(rules_ask(w.rules, &w.file, w.offset, false), 0);
	assert_true(w.file.process == process);
	end(&w);
}

/* ---- what they say ------------------------------------------------------------------------- */

static bool is_same_rule(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return a->kind == b->kind && a->cfa_register == b->cfa_register &&
	       a->ra_register == b->ra_register && a->fp_saved == b->fp_saved &&
	       a->ra_saved == b->ra_saved && a->cfa_offset == b->cfa_offset &&
	       a->fp_offset == b->fp_offset && a->ra_offset == b->ra_offset;
}

/* Rows of a window come from one question; each byte must have what it has by itself. */
static void a_window_has_the_rule_of_each_byte(void **state)
{
	struct world w;
	struct unwind_rule rule;
	uint64_t row_end;
	struct cfi *c;
	unsigned int rules = 0, rows = 0;

	(void)state;
	begin_with(&w, &rules_kind);
	assert_int_equal(cfi_open(&c, self), 0);
	for (uint64_t end = w.offset + 65536; w.offset < end; w.offset += 97) {
		uint64_t base = w.offset - w.offset % RULES_WINDOW;
		uint32_t k = 0;

		assert_int_equal(find_again(&w), 0);
		rows += w.window.n;
		for (uint32_t at = w.window.from; w.window.n && at < w.window.to; at++) {
			const struct unwind_rule *r;

			while (k + 1 < w.window.n && w.window.starts[k + 1] <= at)
				k++;
			r = &w.window.rules[k];
			if (r->kind == UNWIND_NONE)
				continue;
			assert_int_equal(cfi_row(c, base + at, &rule, &row_end), 0);
			assert_true(is_same_rule(r, &rule));
			rules++;
		}
	}
	print_message("%u bytes in %u rows\n", rules, rows);
	/* Otherwise it was not a test. */
	assert_true(rules > 10000 && rows > 500);
	cfi_close(c);
	end(&w);
}

/* ---- when they die or hang ----------------------------------------------------------------- */

static void one_that_died_is_started_again(void **state)
{
	struct world w;
	uint64_t restarts, late;

	(void)state;
	begin_with(&w, &rules_kind);
	for (int i = 0; i < 3; i++) {
		pid_t pid;

		assert_int_equal(find_again(&w), 0);
		assert_true(w.window.n > 0);
		pid = reader_of(&w);
		assert_true(pid > 0 && !kill(pid, SIGKILL));
		usleep(50000);
	}
	assert_int_equal(find_again(&w), 0);
	rules_trouble(w.rules, &restarts, &late);
	assert_int_equal(restarts, 3);
	end(&w);
}

static void one_that_hangs_costs_its_rules_and_little_time(void **state)
{
	uint64_t start_ns, first_ns, more_ns, restarts, late_before, late;
	struct world w;
	pid_t pid;

	(void)state;
	begin_with(&w, &rules_kind);
	assert_int_equal(find_again(&w), 0);
	pid = reader_of(&w);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	usleep(10000);
	rules_trouble(w.rules, &restarts, &late_before);
	start_ns = clock_now_ns();
	assert_int_equal(find(&w), -EAGAIN);
	first_ns = clock_now_ns() - start_ns;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(find(&w), -EAGAIN);
	more_ns = clock_now_ns() - start_ns - first_ns;
	print_message("waited %.1f ms, then %.1f ms for 1000 questions\n", (double)first_ns / 1e6,
		      (double)more_ns / 1e6);
	/* 5 ms; then nothing, but this machine may be busy. */
	assert_true(first_ns >= 4 * MS && first_ns < 1000 * MS);
	assert_true(more_ns < 1000 * MS);
	rules_trouble(w.rules, &restarts, &late);
	assert_int_equal(late, late_before + 1);
	/* It goes on: so do the rules. */
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(find_again(&w), 0);
	rules_trouble(w.rules, &restarts, &late);
	assert_int_equal(restarts, 0);
	/* It does not: after some seconds there is another one. */
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(find(&w), -EAGAIN);
	for (int i = 0; i < 100 && find(&w) == -EAGAIN; i++)
		usleep(100000);
	assert_int_equal(find_again(&w), 0);
	/* On a busy machine the one that was killed may still be there. */
	for (int i = 0; i < 100 && reader_of(&w) == pid; i++)
		usleep(50000);
	assert_int_not_equal(reader_of(&w), pid);
	end(&w);
}

/* A file that ends who reads it. */
static void die_of_questions(int socket)
{
	struct rules_request q;
	int fd;

	while (sandbox_receive(socket, &q, sizeof(q), &fd) > 0 && q.op != RULES_FIND)
		;
	_exit(1);
}

static const struct helper_kind victim = { "victim", 64u << 20, 5, die_of_questions, 2 };

static void a_file_that_ends_its_readers_is_left_alone(void **state)
{
	struct world w;
	uint64_t restarts, late;

	(void)state;
	begin_with(&w, &victim);
	for (int i = 0; i < 20; i++)
		assert_true(find_again(&w) < 0);
	rules_trouble(w.rules, &restarts, &late);
	assert_int_equal(restarts, 2);
	end(&w);
}

/* ---- when they lie ------------------------------------------------------------------------- */

static void (*lie)(struct rules_answer *a);

static void tell_lies(int socket)
{
	struct rules_request q;
	int fd;

	while (sandbox_receive(socket, &q, sizeof(q), &fd) > 0) {
		uint8_t at = (uint8_t)(q.offset % RULES_WINDOW);
		struct rules_answer a = {
			.serial = q.serial,
			.window = { .from = at,
				    .to = (uint16_t)(at + 1),
				    .n = 1,
				    .starts = { at } },
		};

		a.window.rules[0].kind = UNWIND_REGISTER;
		lie(&a);
		if (q.op == RULES_FIND)
			(void)sandbox_send(socket, &a, sizeof(a), -1);
	}
	_exit(0);
}

static const struct helper_kind liar = { "liar", 64u << 20, 5, tell_lies, 2 };

static void the_truth(struct rules_answer *a)
{
	(void)a;
}

static void another_register(struct rules_answer *a)
{
	a->window.rules[0].cfa_register = UNWIND_REGISTERS;
}

static void another_link(struct rules_answer *a)
{
	a->window.rules[0].ra_register = 255;
}

static void another_kind(struct rules_answer *a)
{
	a->window.rules[0].kind = UNWIND_UNKNOWN;
}

static void many_rows(struct rules_answer *a)
{
	a->window.n = RULES_ROWS_MAX + 1;
}

static void elsewhere(struct rules_answer *a)
{
	a->window.from = a->window.to;
}

static void rows_backwards(struct rules_answer *a)
{
	a->window.n = 2;
}

static void beyond_the_window(struct rules_answer *a)
{
	a->window.to = RULES_WINDOW + 1;
}

static void another_answer(struct rules_answer *a)
{
	a->serial--;
}

static void much_memory(struct rules_answer *a)
{
	a->bytes = UINT64_MAX;
}

static void a_lie_is_no_rule(void **state)
{
	void (*const lies[])(struct rules_answer *) = {
		another_register, another_link,	     another_kind,   many_rows,	  elsewhere,
		rows_backwards,	  beyond_the_window, another_answer, much_memory,
	};
	struct world w;

	(void)state;
	lie = the_truth;
	begin_with(&w, &liar);
	assert_int_equal(find_again(&w), 0);
	end(&w);
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		lie = lies[i];
		begin_with(&w, &liar);
		assert_true(find_again(&w) < 0);
		assert_true(find_again(&w) < 0);
		end(&w);
	}
}

/* ---- files that take long ------------------------------------------------------------------ */

/* A machine that stands still in a search makes it long: it must not cost the file its rules. */
static void a_rule_not_found_in_time_is_found_later(void **state)
{
	uint64_t at = own_offset(), row_end;
	struct unwind_rule first, rule;
	struct cfi *c;

	(void)state;
	*later_ns = 0;
	is_still = true;
	assert_int_equal(cfi_open(&c, self), 0);
	assert_int_equal(cfi_row(c, at, &first, &row_end), 0);
	slower_ns = 1000 * MS;
	assert_int_equal(cfi_row(c, at, &rule, &row_end), 0);
	slower_ns = 0;
	assert_int_equal(cfi_row(c, at, &rule, &row_end), -EAGAIN);
	*later_ns = 2000ull * MS;
	assert_int_equal(cfi_row(c, at, &rule, &row_end), 0);
	assert_true(is_same_rule(&rule, &first));
	is_still = false;
	cfi_close(c);
}

static void search_slowly(int socket)
{
	slower_ns = 1000 * MS;
	is_still = true;
	rules_kind.serve(socket);
}

static const struct helper_kind slow = { "slow", 512u << 20, 20, search_slowly, 2 };

/*
 * Who asks is told to ask again: neither that there is no rule nor a rule that is none. Both would
 * be kept, in place of one that was known.
 */
static void who_asks_too_soon_asks_again(void **state)
{
	uint64_t row_end, restarts, late;
	struct unwind_rule rule;
	struct world w;
	struct cfi *c;

	(void)state;
	*later_ns = 0;
	begin_with(&w, &slow);
	assert_int_equal(find_again(&w), 0);
	w.heard_of = NULL;
	assert_int_equal(find(&w), -EAGAIN);
	usleep(100000); /* for an answer that comes late */
	rules_poll(w.rules);
	assert_null(w.heard_of);
	*later_ns = 2000ull * MS;
	assert_int_equal(find_again(&w), 0);
	assert_int_equal(cfi_open(&c, self), 0);
	assert_int_equal(cfi_row(c, w.offset, &rule, &row_end), 0);
	/* There was no time for more than one. */
	assert_int_equal(w.window.n, 1);
	assert_true(is_same_rule(&w.window.rules[0], &rule));
	cfi_close(c);
	rules_trouble(w.rules, &restarts, &late);
	assert_int_equal(restarts, 0);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_not_found_in_time_is_found_later),
		cmocka_unit_test(who_asks_too_soon_asks_again),
		cmocka_unit_test(they_have_no_rights),
		cmocka_unit_test(another_owners_files_are_read_by_another),
		cmocka_unit_test(what_others_may_write_is_read_by_another),
		cmocka_unit_test(who_has_many_files_takes_no_readers_of_others),
		cmocka_unit_test(a_window_has_the_rule_of_each_byte),
		cmocka_unit_test(one_that_died_is_started_again),
		cmocka_unit_test(one_that_hangs_costs_its_rules_and_little_time),
		cmocka_unit_test(a_file_that_ends_its_readers_is_left_alone),
		cmocka_unit_test(a_lie_is_no_rule),
	};

	self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	later_ns = mmap(NULL, sizeof(*later_ns), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	return self < 0 || later_ns == MAP_FAILED ||
	       cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
