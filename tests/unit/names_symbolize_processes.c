// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of other processes: children that are gone, or whose files are, when they are looked up. */
#define OWN_MAIN
#include "test.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elf/elfsym.h"
#include "helper/call_timeout.h"
#include "kernel/host_proc.h"
#include "may_record.h"
#include "symbolized_trace.h"
#include "watched_child.h"

#define CONTAINED 20
/* Processes are forgotten after 5 s; on a loaded machine all takes longer. */
#define SECONDS_MAX 30

TEST(a_process_that_came_and_went_is_named_even_if_its_file_is_deleted)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	char path[64];
	struct child c;
	uint32_t frame;

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

TEST(a_running_program_is_named_whose_file_is_deleted)
{
	struct trace *t;
	char path[64];
	struct child c;
	uint32_t before, after;

	if (geteuid()) {
		print_message("needs root, for /proc/PID/map_files\n");
		skip();
	}
	copy_self(path);
	c = start_child(path, NULL);
	assert_int_equal(unlink(path), 0);
	t = begin(SYMBOLIZER_USER); /* long after, as with a service that was upgraded */
	before = seen(t, c.pid, c.addr);
	end_child(&c);
	copy_self(path);
	c = start_child(path, NULL);
	assert_int_equal(unlink(path), 0);
	after = seen(t, c.pid, c.addr); /* likewise, but while we watched */
	end_child(&c);
	finish(t);
	assert_string_equal(name_of(t, before).symbol ? name_of(t, before).symbol : "none",
			    "a_function_of_the_child");
	expect(t, after, "a_function_of_the_child", path, 2);
	end(t);
}

TEST(a_process_too_fast_for_any_poll_is_named_by_its_file)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	char path[64];
	struct child c;
	uint32_t frame;

	copy_self(path);
	c = start_child(path, NULL);
	end_child(&c);
	frame = seen(t, c.pid, c.addr);
	finish(t);
	unlink(path);
	expect(t, frame, "a_function_of_the_child", path, 2);
	end(t);
}

/* As configure scripts make them: compiled, run and deleted, all within milliseconds. */
static bool is_named_when_deleted_at_once(void)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	char path[64];
	struct child c;
	int out[2], status;
	pid_t script;
	uint32_t frame;
	bool is_named;

	copy_self(path);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	script = fork();
	assert_true(script >= 0);
	if (!script) {
		c = start_child(path, NULL);
		end_child(&c);
		unlink(path);
		_exit(write(out[1], &c, sizeof(c)) != (ssize_t)sizeof(c));
	}
	symbolizer_wait(t->s, 300);
	assert_int_equal(read(out[0], &c, sizeof(c)), sizeof(c));
	assert_int_equal(waitpid(script, &status, 0), script);
	assert_int_equal(access(path, F_OK), -1);
	close(out[0]);
	close(out[1]);
	frame = seen(t, c.pid, c.addr);
	finish(t);
	is_named = name_of(t, frame).symbol != NULL;
	if (is_named)
		expect(t, frame, "a_function_of_the_child", path, 2);
	end(t);
	return is_named;
}

/* Sleeping for the 300 ms instead would find none; a machine may be too busy to find all. */
TEST(a_program_deleted_as_soon_as_it_has_run_is_named)
{
	int tries = 1;

	while (!is_named_when_deleted_at_once())
		assert_true(++tries <= 20);
	if (tries > 1)
		print_message("at try %d\n", tries);
}

TEST(another_file_under_the_same_name_is_not_taken_for_it)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	char path[64], other[64];
	struct child c;
	uint32_t frame;
	struct name n;

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

/* In a chroot "/" is none, and cannot be cut off from other mount namespaces. */
static bool root_is_a_mount(void)
{
	struct statx st;

	return !statx(AT_FDCWD, "/", 0, 0, &st) && st.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

TEST(a_process_in_a_mount_namespace_of_its_own_is_named)
{
	struct trace *t;
	char root[] = "/tmp/symbolize-root-XXXXXX", path[64];
	struct child c;
	uint32_t frame;

	if (geteuid() || !root_is_a_mount()) {
		print_message("needs root, and not a chroot, to mount where nobody else sees it\n");
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

static bool run(const char *program, const char *first, const char *second)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		execlp(program, program, first, second, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Makes /usr/lib/debug one of our own, with this very program as the debug file of its build ID. */
static void install_debug_file(void)
{
	char path[512], *p = path, own[64];
	uint8_t id[BUILD_ID_MAX];
	struct elfsym *e;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	size_t len;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/usr/lib/debug", "tmpfs", 0, NULL) || elfsym_open(&e, fd))
		_exit(2);
	len = elfsym_build_id(e, id);
	elfsym_close(e);
	close(fd);
	if (len < 2)
		_exit(3);
	copy_self(own);
	mkdir("/usr/lib/debug/.build-id", 0755);
	p += sprintf(p, "/usr/lib/debug/.build-id/%02x", id[0]);
	mkdir(path, 0755);
	*p++ = '/';
	for (size_t i = 1; i < len; i++)
		p += sprintf(p, "%02x", id[i]);
	strcpy(p, ".debug");
	if (!run("mv", own, path))
		_exit(4);
}

TEST(a_stripped_program_is_named_by_its_debug_file)
{
	char path[64];
	int status;
	pid_t pid;

	copy_self(path);
	if (what_is_refused() || !root_is_a_mount() || access("/usr/lib/debug", X_OK) ||
	    !run("strip", path, NULL)) {
		unlink(path);
		print_message("needs rights, and not a chroot, strip and /usr/lib/debug\n");
		skip();
	}
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct trace *t;
		struct child c;
		uint32_t frame;
		struct name n;

		install_debug_file();
		t = begin(SYMBOLIZER_USER);
		c = start_child(path, NULL);
		frame = seen(t, c.pid, c.addr);
		end_child(&c);
		finish(t);
		n = name_of(t, frame);
		_exit(n.symbol && !strcmp(n.symbol, "a_function_of_the_child") && n.offset == 2 &&
				      !strcmp(n.module, path)
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unlink(path);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}
TEST(an_exec_makes_another_address_space)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	int go[2], status;
	uint32_t before, after, frame;
	uint64_t t0;
	pid_t pid;
	char c;

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

/* ---- /proc that is not read in time -----------------------------------------------------------
 */

/* As many calls take long as are allowed to. */
#define CALLS_MAX 16
#define CALL_US 2000000

static int take_long(void *data, int fd)
{
	(void)data;
	(void)fd;
	usleep(CALL_US);
	return -1;
}

TEST(what_could_not_be_read_is_read_again_soon)
{
	uint64_t t0;
	struct symbolizer_code code;
	struct trace *t;
	char path[64], data = 0;
	struct child c;
	uint32_t space;
	int out;

	copy_self(path);
	c = start_child(path, NULL);
	host_proc_find();
	assert_int_equal(call_timeout_start(), 0);
	for (uint64_t key = 1; key <= CALLS_MAX; key++)
		assert_int_equal(call_with_timeout(take_long, key, &data, 1, -1, &out), -ETIMEDOUT);
	t = begin(SYMBOLIZER_USER); /* which reads what all processes map */
	t0 = now_ns();
	space = symbolizer_space(t->s, (uint32_t)c.pid, t0);
	assert_true(space != 0);
	assert_false(symbolizer_code(t->s, space, c.addr, now_ns(), &code));
	assert_true(symbolizer_is_late(t->s, space)); /* its stacks wait */
	while (!symbolizer_code(t->s, space, c.addr, now_ns(), &code) &&
	       now_ns() - t0 < 10000000000u)
		usleep(1000);
	assert_true(symbolizer_code(t->s, space, c.addr, now_ns(), &code));
	assert_false(symbolizer_is_late(t->s, space));
	call_timeout_end();
	end_child(&c);
	unlink(path);
	end(t);
}

/* Many short-lived processes, of none of which a stack was recorded. */
TEST(a_fork_storm_costs_little)
{
	enum { CHILDREN = 1000 };
	struct trace *t = begin(SYMBOLIZER_USER);
	uint64_t poll_ns = 0;
	int status;

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

/* Descriptors of this process for that directory. */
static int open_directories(const char *dir)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++) {
		char link[40], to[64] = "";

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (readlink(link, to, sizeof(to) - 1) > 0)
			n += !strcmp(to, dir);
	}
	return n;
}

/* In another root directory, with memory for generated code. */
static _Noreturn void be_contained(const char *root, int ready, int until)
{
	char c;

	if (chroot(root) || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				 0) == MAP_FAILED)
		_exit(1);
	if (write(ready, "", 1) != 1)
		_exit(1);
	_exit(read(until, &c, 1) != 0);
}

/* A sandbox has a root of its own for each program, a container one for thousands. */
TEST(the_root_of_processes_is_open_once_and_as_long_as_they_live)
{
	char root[] = "/tmp/names-root.XXXXXX", c;
	int ready[2], until[2], status;
	uint64_t until_ns;
	struct trace *t;

	if (geteuid()) {
		print_message("needs root, for chroot\n");
		skip();
	}
	assert_non_null(mkdtemp(root));
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(until), 0);
	t = begin(SYMBOLIZER_USER);
	for (int i = 0; i < CONTAINED; i++) {
		if (!fork()) {
			close(until[1]);
			be_contained(root, ready[1], until[0]);
		}
		assert_int_equal(read(ready[0], &c, 1), 1);
		symbolizer_poll(t->s);
	}
	assert_int_equal(open_directories(root), 1);
	close(until[1]);
	for (int i = 0; i < CONTAINED; i++)
		assert_true(wait(&status) > 0 && !status);
	until_ns = now_ns() + SECONDS_MAX * 1000000000ull;
	while (open_directories(root) && now_ns() < until_ns) {
		symbolizer_poll(t->s);
		usleep(10000);
	}
	assert_int_equal(open_directories(root), 0);
	finish(t);
	end(t);
	close(until[0]);
	close(ready[0]);
	close(ready[1]);
	rmdir(root);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "child"))
		return be_child();
	if (readlink("/proc/self/exe", self_exe, sizeof(self_exe) - 1) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
