// SPDX-License-Identifier: GPL-2.0-or-later
/* JVMs are asked for their perf maps: by whom, in which root directory, and what may come of it. */
#define OWN_MAIN
#include "test.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/java_maps.h"
#include "kernel/caps.h"
#include "kernel/clock.h"
#include "kernel/host_proc.h"

#define USER 12345u
#define SECOND_NS 1000000000u

static char root[] = "/tmp/java-maps-XXXXXX";
static struct helpers *helpers;

/* What one that plays a JVM has seen of who asked. */
struct seen {
	struct ucred peer;
	uint64_t capabilities;
	uid_t attach_uid; /* of the file that makes it listen */
	size_t len;
	char request[64];
};

static volatile sig_atomic_t is_told, asker;
/* What it does to who tells it so, and who comes after; 0: nothing. */
static int revenge;

static void on_sigquit(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	is_told = 1;
	asker = info->si_pid;
}

/* What play() does, instead of an answer: it does not even listen; and ends or stops who asks. */
static const char mute[] = "mute", kills[] = "kills", stops[] = "stops";

static uint64_t capabilities_of(int proc, pid_t pid)
{
	char name[32], text[4096], *p;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%d/status", pid);
	fd = openat(proc, name, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	p = strstr(text, "CapPrm:");
	return p ? strtoull(p + 7, NULL, 16) : UINT64_MAX;
}

/* answer NULL: it never answers. */
static void play(const char *answer, int proc, int out)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct seen s = { .attach_uid = (uid_t)-1 };
	socklen_t size = sizeof(s.peer);
	struct stat st;
	char name[40];
	int listening = socket(AF_UNIX, SOCK_STREAM, 0), fd;

	while (!is_told || answer == mute)
		usleep(1000);
	while (revenge)
		for (pid_t pid = asker; pid < asker + 20; pid++)
			if (!kill(pid, revenge) || !ptrace(PTRACE_SEIZE, pid, NULL, NULL))
				_exit(7);
	snprintf(name, sizeof(name), "/tmp/.attach_pid%d", getpid());
	if (!stat(name, &st))
		s.attach_uid = st.st_uid;
	snprintf(a.sun_path, sizeof(a.sun_path), "/tmp/.java_pid%d", getpid());
	if (bind(listening, (struct sockaddr *)&a, sizeof(a)) || listen(listening, 1))
		_exit(1);
	fd = accept(listening, NULL, NULL);
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &s.peer, &size))
		_exit(2);
	s.len = (size_t)read(fd, s.request, sizeof(s.request));
	s.capabilities = capabilities_of(proc, s.peer.pid);
	if (write(out, &s, sizeof(s)) != sizeof(s))
		_exit(3);
	if (answer && write(fd, answer, strlen(answer)) < 0)
		_exit(4);
	if (!answer)
		pause();
	close(fd);
}

/* A process of another user in another root directory. hears: it handles SIGQUIT. */
static pid_t start(const char *answer, bool hears, int *from)
{
	int out[2], ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		const struct sigaction act = { .sa_sigaction = on_sigquit, .sa_flags = SA_SIGINFO };
		int proc = open("/proc", O_RDONLY | O_DIRECTORY);

		alarm(60);
		if (chroot(root) || chdir("/") || setgid(USER) || setuid(USER))
			_exit(5);
		revenge = answer == kills ? SIGKILL : answer == stops ? SIGSTOP : 0;
		if (hears)
			sigaction(SIGQUIT, &act, NULL);
		if (write(ready[1], "", 1) != 1)
			_exit(6);
		play(answer, proc, out[1]);
		_exit(0);
	}
	close(out[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	*from = out[0];
	return pid;
}

static enum java_map ask(pid_t pid, uint64_t wait_ns)
{
	uint32_t tgid = (uint32_t)pid;
	enum java_map result;

	java_maps_write(helpers, &tgid, 1, &result, wait_ns);
	return result;
}

static void end(pid_t pid, int from)
{
	int status;

	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(from);
}

TEST(it_is_asked_by_its_own_user_without_capabilities)
{
	static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0";
	struct seen s;
	int from;
	pid_t pid = start("0\nwritten\n", true, &from);

	assert_int_equal(ask(pid, 10 * (uint64_t)SECOND_NS), JAVA_MAP_WRITTEN);
	assert_int_equal(read(from, &s, sizeof(s)), sizeof(s));
	assert_int_equal(s.peer.uid, USER);
	assert_int_equal(s.peer.gid, USER);
	assert_int_equal(s.capabilities, 0);
	assert_int_equal(s.attach_uid, USER);
	assert_int_equal(s.len, sizeof(request));
	assert_memory_equal(s.request, request, sizeof(request));
	end(pid, from);
}

/* A recorder that was killed leaves one. */
TEST(a_file_that_is_there_does_no_harm)
{
	int from, fd;
	pid_t pid = start("0\nwritten\n", true, &from);
	char name[80];

	snprintf(name, sizeof(name), "%s/tmp/.attach_pid%d", root, pid);
	fd = open(name, O_CREAT | O_WRONLY | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, USER, USER), 0);
	close(fd);
	assert_int_equal(ask(pid, 10 * (uint64_t)SECOND_NS), JAVA_MAP_WRITTEN);
	assert_int_equal(access(name, F_OK), -1);
	end(pid, from);
}

TEST(what_it_says_is_told)
{
	static const struct {
		const char *answer;
		enum java_map result;
	} cases[] = {
		{ "-1\njava.lang.IllegalArgumentException: Unknown diagnostic command\n",
		  JAVA_MAP_NO_COMMAND },
		{ "101\n", JAVA_MAP_REFUSED },
		{ "", JAVA_MAP_REFUSED },
		{ "\377 0\n", JAVA_MAP_REFUSED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int from;
		pid_t pid = start(cases[i].answer, true, &from);

		assert_int_equal(ask(pid, 10 * (uint64_t)SECOND_NS), cases[i].result);
		end(pid, from);
	}
}

/* Nobody is waited for longer than was said, and who asked is ended. */
TEST(one_that_never_answers_costs_a_bounded_time)
{
	int from;
	pid_t pid = start(NULL, true, &from);
	uint64_t begin_ns = clock_now_ns();
	struct seen s;

	assert_int_equal(ask(pid, SECOND_NS), JAVA_MAP_SILENT);
	assert_true(clock_now_ns() - begin_ns < 5 * (uint64_t)SECOND_NS);
	assert_int_equal(read(from, &s, sizeof(s)), sizeof(s));
	for (int i = 0; i < 500 && !kill(s.peer.pid, 0); i++)
		usleep(10000);
	assert_int_equal(kill(s.peer.pid, 0), -1);
	end(pid, from);
}

/* The file that has it listen is removed, and nobody who has the JVM's user ends who does that. */
TEST(nothing_is_left_of_who_was_not_heard)
{
	static const char *const cases[] = { mute, kills, stops };
	char name[80];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int from;
		pid_t pid = start(cases[i], true, &from);
		uint64_t begin_ns = clock_now_ns();

		assert_int_equal(ask(pid, SECOND_NS), JAVA_MAP_SILENT);
		assert_true(clock_now_ns() - begin_ns < 4 * (uint64_t)SECOND_NS);
		snprintf(name, sizeof(name), "%s/tmp/.attach_pid%d", root, pid);
		assert_int_equal(access(name, F_OK), -1);
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0); /* it ends when it hits one */
		end(pid, from);
	}
}

/* SIGQUIT ends a process that does not handle it. */
TEST(one_that_does_not_hear_sigquit_is_left_alone)
{
	int from, status;
	pid_t pid = start("0\n", false, &from);

	assert_int_equal(ask(pid, 10 * (uint64_t)SECOND_NS), JAVA_MAP_REFUSED);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	end(pid, from);
	assert_int_equal(ask(pid, 10 * (uint64_t)SECOND_NS), JAVA_MAP_GONE);
}

static int set_up(void **state)
{
	char path[64];

	(void)state;
	if (geteuid())
		return 0;
	assert_non_null(mkdtemp(root));
	assert_int_equal(chmod(root, 0755), 0);
	snprintf(path, sizeof(path), "%s/tmp", root);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 01777), 0);
	return helpers_start(&helpers, HELPERS_BECOME_USERS);
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	helpers_free(helpers);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return geteuid() ? 0 : system(command);
}

int main(void)
{
	if (geteuid()) {
		print_message("needs root, for other users' processes\n");
		return 77;
	}
	if (!caps_have(CAP_SYS_PTRACE)) {
		print_message("needs CAP_SYS_PTRACE, for other users' root directories\n");
		return 77;
	}
	host_proc_find();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
