// SPDX-License-Identifier: GPL-2.0-or-later
/* Helpers end when they are told to or by themselves, not when strangers want; and what they take.
 */
#define OWN_MAIN
#include "test.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "helper/helper.h"
#include "kernel/host_proc.h"
#include "no_rights.h"

#define WAIT_NS 60000000000u
#define BURNED_NS 20000000

/* Takes some CPU time, says that, and goes on until there is a message or none can come. */
static void burn(int socket)
{
	struct timespec used = { 0 };
	char byte = 0;
	int fd;

	while (used.tv_sec == 0 && used.tv_nsec < BURNED_NS)
		if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used))
			return;
	(void)sandbox_send(socket, &byte, 1, -1);
	(void)sandbox_receive(socket, &byte, 1, &fd);
}

static const struct helper_kind burner = { "burner", 64u << 20, 5, burn, 2 };

static struct helper start(struct helpers *all)
{
	struct helper h;
	char byte;

	assert_int_equal(helper_start(&h, all, &burner, HELPER_USUAL), 0);
	assert_int_equal(helper_receive(&h, &byte, 1, NULL, WAIT_NS), 1);
	return h;
}

/* A zombie is a child, too. */
static void expect_no_child(pid_t pid)
{
	for (int i = 0; i < 1000 && child_of(pid); i++)
		usleep(10000);
	assert_int_equal(child_of(pid), 0);
}

TEST(one_that_ended_is_no_zombie)
{
	const enum helpers_rights all_rights[] = { HELPERS_NO_RIGHTS, HELPERS_MAY_OPEN };
	struct helpers *all;

	for (int i = 0; i < 2; i++) {
		struct helper h;

		assert_int_equal(helpers_start(&all, all_rights[i]), 0);
		h = start(all);
		helper_end(&h);
		expect_no_child(helpers_pid(all));
		h = start(all);
		assert_int_equal(helper_send(&h, "", 1, -1), 0);
		expect_no_child(helpers_pid(all));
		helper_end(&h);
		h = start(all);
		assert_int_equal(kill(child_of(helpers_pid(all)), SIGKILL), 0);
		expect_no_child(helpers_pid(all));
		helper_end(&h);
		assert_true(helpers_stop(all) >= 3 * BURNED_NS);
		helpers_free(all);
	}
}

/* The set of signals that a process blocks. */
static unsigned long long blocked_by(pid_t pid)
{
	unsigned long long set = ~0ull;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "SigBlk: %llx", &set) == 1)
			break;
	fclose(f);
	return set;
}

TEST(it_blocks_the_signals_that_the_recorder_blocks)
{
	struct helpers *all;
	sigset_t usual, set;
	struct helper h;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, &usual), 0);
	assert_int_equal(helpers_start(&all, HELPERS_NO_RIGHTS), 0);
	h = start(all);
	assert_int_equal(blocked_by(child_of(helpers_pid(all))), blocked_by(getpid()));
	helper_end(&h);
	helpers_free(all);
	assert_int_equal(sigprocmask(SIG_SETMASK, &usual, NULL), 0);
}

/* ---- who may end them ----------------------------------------------------------------------- */

/* The user and the group of a process, which must be the same number. */
static unsigned int id_of(pid_t pid)
{
	unsigned int uid = 0, gid = 1, n = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += sscanf(line, "Uid: %u", &uid) == 1 || sscanf(line, "Gid: %u", &gid) == 1;
	fclose(f);
	assert_int_equal(n, 2);
	assert_int_equal(uid, gid);
	return uid;
}

/* What kill() says to the user nobody. */
static int kill_as_nobody(pid_t pid)
{
	int status;
	pid_t nobody = fork();

	assert_true(nobody >= 0);
	if (!nobody)
		_exit(setgid(65534) || setuid(65534) ? 255 : kill(pid, SIGSTOP) ? errno : 0);
	assert_int_equal(waitpid(nobody, &status, 0), nobody);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(no_one_else_has_their_user)
{
	struct helpers *all[2];
	unsigned int ids[2];
	struct helper h;

	if (geteuid()) {
		print_message("needs root: others' helpers have their user\n");
		skip();
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(helpers_start(&all[i], HELPERS_NO_RIGHTS), 0);
		ids[i] = id_of(helpers_pid(all[i]));
		assert_null(getpwuid(ids[i]));
	}
	/* Neither do the helpers of another recorder. */
	assert_int_not_equal(ids[0], ids[1]);
	h = start(all[0]);
	assert_int_equal(id_of(h.pid), ids[0]);
	assert_int_equal(kill_as_nobody(h.pid), EPERM);
	assert_int_equal(kill_as_nobody(helpers_pid(all[0])), EPERM);
	helper_end(&h);
	for (int i = 0; i < 2; i++)
		helpers_free(all[i]);
}

/* Not even root's hand on them makes the end wait for long. */
TEST(stopped_ones_are_ended_all_the_same)
{
	struct timespec begin, end;
	struct helpers *all;
	struct helper h;
	pid_t pid;

	assert_int_equal(helpers_start(&all, HELPERS_NO_RIGHTS), 0);
	h = start(all);
	pid = h.pid;
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(kill(helpers_pid(all), SIGSTOP), 0);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	helper_end(&h);
	helpers_free(all);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_true(end.tv_sec - begin.tv_sec < 30); /* on a busy machine; else 2 */
	for (int i = 0; i < 1000 && !kill(pid, 0); i++)
		usleep(10000);
	assert_int_equal(kill(pid, 0), -1);
}

static uint64_t ms_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)((now.tv_sec - begin->tv_sec) * 1000 +
			  (now.tv_nsec - begin->tv_nsec) / 1000000);
}

/* Those that are waited for are given up long before the time for which they are. */
TEST(stopped_ones_are_not_waited_for)
{
	struct timespec begin;
	struct helpers *all;
	struct helper h, next;
	char answer[8];

	assert_int_equal(helpers_start(&all, HELPERS_NO_RIGHTS), 0);
	h = start(all);
	assert_int_equal(kill(h.pid, SIGSTOP), 0);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	assert_int_equal(helper_receive(&h, answer, sizeof(answer), NULL, 60000000000u), -EPIPE);
	assert_true(ms_since(&begin) < 4000); /* 50 on an idle machine; else 5000 */
	helper_end(&h);
	/* Nor is one that cannot begin; then no more are started, however often, */
	assert_int_equal(kill(helpers_pid(all), SIGSTOP), 0);
	assert_int_equal(helper_start(&h, all, &burner, HELPER_USUAL), 0);
	assert_int_equal(helper_receive(&h, answer, sizeof(answer), NULL, 60000000000u), -EPIPE);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(helper_start(&next, all, &burner, HELPER_USUAL), -EBUSY);
	helper_end(&h);
	assert_true(ms_since(&begin) < 8000);
	/* until it goes on. */
	assert_int_equal(kill(helpers_pid(all), SIGCONT), 0);
	do {
		assert_true(ms_since(&begin) < 60000);
		usleep(10000);
	} while (helper_start(&h, all, &burner, HELPER_USUAL));
	assert_int_equal(helper_wait_begun(&h, 60000000000u), 0);
	helper_end(&h);
	helpers_free(all);
}

/* All sets of them together take no longer to end than one. */
TEST(stopped_sets_end_together)
{
	static const enum helpers_rights rights[3] = { HELPERS_NO_RIGHTS, HELPERS_MAY_OPEN,
						       HELPERS_BECOME_USERS };
	struct helpers *all[3];
	struct timespec begin;
	struct helper h[3];
	pid_t pids[6];

	if (geteuid()) {
		print_message("needs root, for helpers that become users\n");
		skip();
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(helpers_start(&all[i], rights[i]), 0);
		h[i] = start(all[i]);
		pids[i] = h[i].pid;
		pids[i + 3] = helpers_pid(all[i]);
	}
	for (int i = 0; i < 6; i++)
		assert_int_equal(kill(pids[i], SIGSTOP), 0);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < 3; i++) {
		helper_end(&h[i]);
		helpers_begin_stop(all[i]);
	}
	for (int i = 0; i < 3; i++)
		helpers_free(all[i]);
	assert_true(ms_since(&begin) < 5000); /* 3000 and what the machine does else; not 6000 */
	/* They were waited for: none is left, not even as a zombie. */
	for (int i = 3; i < 6; i++)
		assert_int_equal(kill(pids[i], 0), -1);
	for (int k = 0; k < 1000 && !kill(pids[0], 0); k++)
		usleep(10000);
	assert_int_equal(kill(pids[0], 0), -1);
}

/* ---- memory --------------------------------------------------------------------------------- */

#define MIB (UINT64_C(1) << 20)

/* Answers by how many MiB it can take. */
static void take_all(int socket)
{
	uint8_t mib = 0;

	while (mib < 255 && mmap(NULL, MIB, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) != MAP_FAILED)
		mib++;
	(void)sandbox_send(socket, &mib, 1, -1);
	burn(socket);
}

static const struct helper_kind taker = { "taker", 1024 * MIB, 20, take_all, 2 };

static unsigned int taken_by(struct helper *h, struct helpers *all)
{
	uint8_t mib;

	assert_int_equal(helper_start(h, all, &taker, HELPER_USUAL), 0);
	assert_int_equal(helper_receive(h, &mib, 1, NULL, WAIT_NS), 1);
	return mib;
}

static bool ends_within(struct helper *h, uint64_t ns)
{
	char byte;
	ssize_t n;

	do {
		n = helper_receive(h, &byte, 1, NULL, ns);
	} while (n == 1); /* burn()'s */
	return n == -EPIPE;
}

TEST(together_they_take_no_more_than_they_may)
{
	unsigned int left = 128, mib;
	struct helper h[7];
	struct helpers *all;

	if (!sandbox_is_real()) {
		print_message("nothing is forbidden in builds with sanitizers\n");
		skip();
	}
	assert_int_equal(helpers_start(&all, HELPERS_NO_RIGHTS), 0);
	helpers_memory(all, 128 * MIB);
	/* Each gets half of what is left, of which it needs some to run. */
	for (int i = 0; i < 5; i++) {
		mib = taken_by(&h[i], all);
		assert_true(mib <= left / 2 && mib + 4 > left / 2);
		left -= left / 2;
	}
	assert_int_equal(helpers_given_up(all), 0);
	/* Too little is left for another one: it has the first ended. */
	(void)taken_by(&h[5], all);
	assert_true(ends_within(&h[0], WAIT_NS));
	assert_false(ends_within(&h[1], 1000000));
	assert_int_equal(helpers_given_up(all), 1);
	/* The recorder itself needs more: what has the most is given up until the others fit. */
	helpers_memory(all, 16 * MIB);
	assert_true(ends_within(&h[1], WAIT_NS) && ends_within(&h[2], WAIT_NS) &&
		    ends_within(&h[5], WAIT_NS));
	assert_false(ends_within(&h[3], 1000000) || ends_within(&h[4], 1000000));
	/* With nothing left none is started, which is said as well. */
	helpers_memory(all, 0);
	assert_int_equal(helper_start(&h[6], all, &taker, HELPER_USUAL), 0);
	assert_true(ends_within(&h[6], WAIT_NS));
	assert_int_equal(helpers_given_up(all), 7);
	for (int i = 0; i < 7; i++)
		helper_end(&h[i]);
	helpers_free(all);
}

static void want_more(int socket, void *message, size_t len, int fd)
{
	void *volatile much = malloc(512 * MIB);

	(void)fd;
	free(much);
	(void)sandbox_send(socket, message, len, -1);
}

static void serve_wishes(int socket)
{
	helper_serve(socket, want_more);
}

static const struct helper_kind wisher = { "wisher", 1024 * MIB, 20, serve_wishes, 2 };

TEST(one_that_lacks_memory_is_counted_once)
{
	struct helpers *all;
	struct helper h;
	char byte = 0;

	if (!sandbox_is_real()) {
		print_message("nothing is forbidden in builds with sanitizers\n");
		skip();
	}
	assert_int_equal(helpers_start(&all, HELPERS_NO_RIGHTS), 0);
	assert_int_equal(helper_start(&h, all, &wisher, HELPER_USUAL), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(helper_send(&h, &byte, 1, -1), 0);
		assert_int_equal(helper_receive(&h, &byte, 1, NULL, WAIT_NS), 1);
	}
	assert_int_equal(helpers_given_up(all), 1);
	helper_end(&h);
	helpers_free(all);
}

/* ---- what it may run ------------------------------------------------------------------------ */

/* Answers whether it can have memory that it may write, and then run. */
static void map_code(int socket)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *data = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t can[3] = { code != MAP_FAILED, data != MAP_FAILED,
			   !mprotect(data, 4096, PROT_READ | PROT_EXEC) };

	(void)sandbox_send(socket, can, sizeof(can), -1);
	burn(socket);
}

static const struct helper_kind coder = { "coder", 1024 * MIB, 20, map_code, 2 };

TEST(what_it_writes_it_cannot_run)
{
	struct helpers *all;
	uint8_t can[3];
	struct helper h;

	if (!sandbox_is_real()) {
		print_message("nothing is forbidden in builds with sanitizers\n");
		skip();
	}
	assert_int_equal(helpers_start(&all, HELPERS_NO_RIGHTS), 0);
	assert_int_equal(helper_start(&h, all, &coder, HELPER_USUAL), 0);
	assert_int_equal(helper_receive(&h, can, sizeof(can), NULL, WAIT_NS), sizeof(can));
	assert_false(can[0]);
	assert_true(can[1]);
	assert_false(can[2]);
	helper_end(&h);
	helpers_free(all);
}

int main(void)
{
	host_proc_find();
	return cmocka_run_group_tests_name("helper", tests, NULL, NULL);
}
