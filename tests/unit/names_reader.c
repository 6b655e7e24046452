// SPDX-License-Identifier: GPL-2.0-or-later
/* What reads strangers' files has no rights, and when it dies that costs names only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "no_rights.h"
#include "symbolized_trace.h"
#include "watched_child.h"

#define WAIT_NS 60000000000u

static int open_file(struct reader **rd, struct helpers *helpers, int fd, struct reader_file *file)
{
	int err = reader_open(rd, helpers, HELPER_FOLLOWS, fd);

	return err ? err : reader_file(*rd, file, WAIT_NS);
}

/* ---- what it may do ------------------------------------------------------------------------ */

static void those_who_read_have_no_rights(void **state)
{
	struct reader_file file;
	struct helpers *helpers;
	struct reader *rd;
	int fd;

	(void)state;
	if (geteuid()) {
		print_message("needs root: others' readers have their user\n");
		skip();
	}
	assert_int_equal(helpers_start(&helpers, HELPERS_NO_RIGHTS), 0);
	fd = open(self_exe, O_RDONLY | O_CLOEXEC);
	assert_int_equal(open_file(&rd, helpers, fd, &file), 0);
	close(fd);
	/* /dev/null three times and a socket; and the file. */
	expect_no_rights(helpers_pid(helpers), 4);
	expect_no_rights(child_of(helpers_pid(helpers)), 5);
	reader_close(rd);
	helpers_free(helpers);
}

/* How a process ends that does this after it has been sealed. */
static int end_of(void (*act)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		sandbox_limit(256u << 20, 5);
		if (!sandbox_seal(false))
			_exit(1);
		act();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 1000 + WEXITSTATUS(status);
}

static void do_nothing(void)
{
}

static void open_a_file(void)
{
	_exit(open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0);
}

static void fork_another(void)
{
	_exit(fork() < 0);
}

static void run_a_program(void)
{
	_exit(execl("/bin/true", "true", (char *)NULL) < 0);
}

static void end_another(void)
{
	_exit(kill(1, 0) < 0);
}

static void connect_somewhere(void)
{
	_exit(socket(AF_UNIX, SOCK_STREAM, 0) < 0);
}

static void map_a_lot(void)
{
	_exit(malloc(512u << 20) ? 1 : 7);
}

static void compute_for_ever(void)
{
	for (volatile unsigned int i = 0;; i++)
		;
}

static void what_they_have_no_need_for_is_forbidden(void **state)
{
	(void)state;
	if (!sandbox_is_real()) {
		print_message("nothing is forbidden in builds with sanitizers\n");
		skip();
	}
	assert_int_equal(end_of(do_nothing), 1000);
	assert_int_equal(end_of(connect_somewhere), 1001);
	assert_int_equal(end_of(open_a_file), 1001);
	assert_int_equal(end_of(fork_another), 1001);
	assert_int_equal(end_of(run_a_program), 1001);
	assert_int_equal(end_of(end_another), 1001);
	assert_int_equal(end_of(map_a_lot), 1007);
	assert_int_equal(end_of(compute_for_ever), SIGKILL);
}

/* ---- when they die ------------------------------------------------------------------------- */

static int count(void *ctx, size_t i, const struct reader_answer *a, const char *name)
{
	(void)i;
	(void)a;
	*(int *)ctx += name != NULL;
	return 0;
}

/* On a busy machine the answer about a debug file may come when nobody waits for it any more. */
static void a_late_answer_is_not_taken_for_another(void **state)
{
	const struct reader_question question = { .value = 0 };
	struct reader_file file;
	struct helpers *helpers;
	struct reader *rd;
	int fd, named = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(helpers_start(&helpers, HELPERS_NO_RIGHTS), 0);
	fd = open(self_exe, O_RDONLY | O_CLOEXEC);
	assert_int_equal(open_file(&rd, helpers, fd, &file), 0);
	pid = child_of(helpers_pid(helpers));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(kill(pid, SIGSTOP), 0);
		assert_false(reader_add_debug(rd, dup(fd), 1000000));
		assert_int_equal(kill(pid, SIGCONT), 0);
	}
	assert_int_equal(reader_find(rd, &question, 1), 0);
	assert_int_equal(reader_found(rd, count, &named, WAIT_NS), 0);
	reader_close(rd);
	close(fd);
	helpers_free(helpers);
}

static void sleep_for_ever(int socket)
{
	(void)socket;
	for (;;)
		poll(NULL, 0, -1);
}

static const struct helper_kind idle = { "idle", 64u << 20, 5, sleep_for_ever, 2 };

static void a_reader_that_dies_takes_no_other_with_it(void **state)
{
	const struct reader_question question = { .value = 0 };
	struct reader *first, *second;
	struct reader_file file;
	struct helpers *helpers;
	struct helper h;
	int fd, named = 0;

	(void)state;
	assert_int_equal(helpers_start(&helpers, HELPERS_NO_RIGHTS), 0);
	fd = open(self_exe, O_RDONLY | O_CLOEXEC);
	assert_int_equal(open_file(&first, helpers, fd, &file), 0);
	assert_int_equal(kill(child_of(helpers_pid(helpers)), SIGKILL), 0);
	assert_int_equal(open_file(&second, helpers, fd, &file), 0);
	(void)reader_find(first, &question, 1);
	assert_int_equal(reader_found(first, count, &named, WAIT_NS), -EPIPE);
	assert_int_equal(reader_find(second, &question, 1), 0);
	assert_int_equal(reader_found(second, count, &named, WAIT_NS), 0);
	reader_close(first);
	reader_close(second);
	/* After the end of all, who asks still is told so. */
	assert_true(helpers_stop(helpers) > 0);
	assert_int_equal(open_file(&first, helpers, fd, &file), -ENOTSUP);
	assert_int_equal(helper_start(&h, helpers, &idle, HELPER_USUAL), -ENOTSUP);
	helper_end(&h);
	close(fd);
	helpers_free(helpers);
}

static void a_recording_whose_readers_died_is_whole_but_for_names(void **state)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	struct child c = start_child(self_exe, NULL);
	uint32_t frame;
	struct name n;

	(void)state;
	assert_true(c.addr != 0);
	assert_int_equal(kill(helpers_pid(t->readers), SIGKILL), 0);
	frame = seen(t, c.pid, c.addr);
	end_child(&c);
	finish(t); /* without an error, and it is said */
	assert_int_equal(t->stats.late, 1);
	n = name_of(t, frame);
	assert_null(n.symbol);
	assert_string_equal(n.module, self_exe);
	end(t);
}

static void what_is_no_file_is_said_to_be_none(void **state)
{
	struct reader_file file;
	struct helpers *helpers;
	struct reader *rd;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(open_file(&rd, NULL, fd, &file), -ENOTSUP);
	assert_int_equal(helpers_start(&helpers, HELPERS_NO_RIGHTS), 0);
	assert_int_equal(open_file(&rd, helpers, fd, &file), -ENOEXEC);
	reader_close(rd);
	close(fd);
	helpers_free(helpers);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_who_read_have_no_rights),
		cmocka_unit_test(what_they_have_no_need_for_is_forbidden),
		cmocka_unit_test(a_reader_that_dies_takes_no_other_with_it),
		cmocka_unit_test(a_late_answer_is_not_taken_for_another),
		cmocka_unit_test(a_recording_whose_readers_died_is_whole_but_for_names),
		cmocka_unit_test(what_is_no_file_is_said_to_be_none),
	};

	if (argc == 2 && !strcmp(argv[1], "child"))
		return be_child();
	if (readlink("/proc/self/exe", self_exe, sizeof(self_exe) - 1) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
