// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What recorded programs can fill, filled to its bound and beyond: the tables of docs/security.md,
 * "Memory", that no other test fills (files_budgets, names_symbolize, common_encoder,
 * unwind_pending_stacks, kernel_forgetting, kernel_sideband).
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "flight/id_pool.h"
#include "helper/call_timeout.h"
#include "files/codefile.h"
#include "files/coderoot.h"
#include "common/kallsyms.h"
#include "names/reader.h"
#include "unwind/files.h"
#include "unwind/sleeping_threads.h"

/* Temporary files: as many as the largest table here takes, and more. */
#define FILES 300

static char folder[] = "/tmp/tables-test-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/tables-test-XXXXXX");
	return !mkdtemp(folder);
}

static int remove_folder(void **state)
{
	char path[64];

	(void)state;
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/%d", folder, i);
		(void)remove(path);
	}
	return rmdir(folder);
}

/* A mapping of a new file in that folder, by this process. */
static uint32_t map_file(struct code_files *f, int i)
{
	struct code_place p = { .tgid = (uint32_t)getpid(), .start = 0x1000, .end = 0x2000 };
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/%d", folder, i);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && !fstat(fd, &st));
	close(fd);
	p.maj = gnu_dev_major(st.st_dev);
	p.min = gnu_dev_minor(st.st_dev);
	p.ino = st.st_ino;
	p.path = path;
	return code_files_get(f, &p);
}

static int count_open(void)
{
	int n = 0;

	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* ---- files --------------------------------------------------------------------------------- */

TEST_IN(of_files_that_nobody_maps_the_last_stay_open, make_folder, remove_folder)
{
	struct code_files *f;
	uint32_t ids[FILES], id, closed = 0;

	assert_int_equal(code_files_new(&f), 0);
	for (int i = 0; i < FILES; i++) {
		ids[i] = map_file(f, i);
		assert_true(code_files_open(f, ids[i]) >= 0);
	}
	/* Unless the folder is on a mount of its own, which is not kept busy. */
	if (code_files_is_pinning(f, ids[0])) {
		code_files_free(f);
		print_message("/tmp is on another mount than /\n");
		skip();
	}
	assert_int_equal(code_files_unused(f), 0);
	for (int i = 0; i < FILES; i++) {
		code_files_hold(f, ids[i]); /* for its frames */
		code_files_put_mapping(f, ids[i]);
	}
	/* Those that were unmapped first. */
	while ((id = code_files_unused(f)))
		assert_int_equal(id, ids[closed++]);
	assert_int_equal(closed, FILES - 256);
	for (int i = 0; i < FILES; i++)
		code_files_put(f, ids[i]);
	code_files_free(f);
}

/* In a process that may have 520 files open, not a million: 256 of them are for other things. */
static int map_more_files_than_may_be_open(void)
{
	struct rlimit few = { 520, 520 };
	struct code_files *f;
	uint32_t id = 0;
	int before;

	if (setrlimit(RLIMIT_NOFILE, &few))
		return 1;
	assert_int_equal(code_files_new(&f), 0);
	before = count_open();
	for (int i = 0; i < FILES; i++)
		id = map_file(f, i);
	if (count_open() - before != 520 - 256)
		return 2;
	/* The last one is not, and is when it is to be read. */
	return code_files_open(f, id) < 0 || count_open() - before != 520 - 256 + 1 ? 3 : 0;
}

TEST_IN(no_more_files_are_open_than_may_be, make_folder, remove_folder)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(map_more_files_than_may_be_open());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Of all files that stacks lead through, those whose rules are known. */
TEST(rules_of_few_files_are_kept)
{
	struct code_files *code;
	struct code_place p = { .start = 0x1000, .end = 0x2000, .path = "/gone" };
	struct helpers *helpers;
	struct unwind_files *f;
	struct unwinder_stats stats;
	uint32_t id;

	assert_int_equal(code_files_new(&code), 0);
	assert_int_equal(helpers_start(&helpers, HELPERS_NO_RIGHTS), 0);
	assert_int_equal(unwind_files_new(&f, code, helpers), 0);
	assert_non_null(f);
	for (uint32_t i = 1; i <= 1000; i++) {
		p.ino = i;
		id = code_files_get(code, &p);
		assert_true(id != 0);
		assert_int_equal(unwind_files_rule(f, id, 0x10, i, NULL).kind, UNWIND_HARD);
		unwind_files_stats(f, &stats);
		assert_int_equal(stats.files, i < 256 ? i : 256);
		code_files_put_mapping(code, id);
	}
	/* What is dropped is not held: its place is given to the next file. */
	assert_in_range(id, 1, 257);
	unwind_files_free(f);
	helpers_free(helpers);
	code_files_free(code);
}

/* ---- processes ----------------------------------------------------------------------------- */

/* A process that has another root directory each time that it is told to. */
static _Noreturn void change_roots(int told, int done)
{
	char path[64], c;

	for (int i = 0; read(told, &c, 1) == 1; i++) {
		snprintf(path, sizeof(path), "%s/%d", folder, i);
		/* Out of the last one by the descriptor of the folder above. */
		if (fchdir(3) || chroot(".") || mkdir(path, 0755) || chroot(path) ||
		    write(done, "", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

TEST_IN(root_directories_have_a_bound, make_folder, remove_folder)
{
	struct code_roots *r;
	int tell[2], done[2], status, err;
	uint32_t id;
	pid_t pid;
	char c;

	if (geteuid()) {
		print_message("needs root, for chroot\n");
		skip();
	}
	assert_int_equal(code_roots_new(&r), 0);
	assert_int_equal(pipe(tell), 0);
	assert_int_equal(pipe(done), 0);
	pid = fork_child();
	if (!pid) {
		int top = open("/", O_PATH | O_DIRECTORY);

		dup2(tell[0], 4);
		dup2(done[1], 5);
		dup2(top, 3);
		close_range(6, ~0u, 0);
		change_roots(4, 5);
	}
	for (uint32_t i = 0; i < FILES; i++) {
		assert_int_equal(write(tell[1], "", 1), 1);
		assert_int_equal(read(done[0], &c, 1), 1);
		err = code_roots_get(r, (uint32_t)pid, &id);
		assert_int_equal(err, i < 256 ? 0 : -EMFILE);
		assert_int_equal(id, i < 256 ? i + 1 : 0);
	}
	code_roots_put(r, 7);
	assert_int_equal(code_roots_get(r, (uint32_t)pid, &id), 0);
	assert_int_equal(id, 7);
	close(tell[1]);
	close(tell[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(done[0]);
	close(done[1]);
	code_roots_free(r);
}

TEST(threads_asleep_at_the_start_have_a_bound)
{
	struct sleeping_threads *s;
	struct wire_thread t = { .tgid = (uint32_t)getpid() };

	assert_int_equal(sleeping_threads_new(&s), 0);
	assert_non_null(s);
	for (t.tid = 1; t.tid <= 32768; t.tid++)
		assert_true(sleeping_threads_add(s, &t));
	assert_false(sleeping_threads_add(s, &t));
	assert_int_equal(sleeping_threads_left(s), 32768);
	/* One that was looked at makes room for another. */
	assert_non_null(sleeping_threads_next(s, false));
	assert_true(sleeping_threads_add(s, &t));
	assert_false(sleeping_threads_add(s, &t));
	assert_int_equal(sleeping_threads_left(s), 32768);
	sleeping_threads_free(s);
}

static int hang(void *data, int fd)
{
	(void)data;
	(void)fd;
	pause();
	return -1;
}

static int answer(void *data, int fd)
{
	(void)fd;
	*(char *)data = 'b';
	return -1;
}

/* Little of the wait budget is left after others that hung, and a busy machine answers late. */
static int call_that_answers(uint64_t key, char *data)
{
	int err, out;

	for (int tries = 0; tries < 5000; tries++) {
		err = call_with_timeout(answer, key, data, 1, -1, &out);
		if (err != -ETIMEDOUT)
			return err;
		usleep(1000);
	}
	return err;
}

TEST(calls_that_hang_have_a_bound)
{
	char data = 'a';
	int out;

	assert_int_equal(call_timeout_start(), 0);
	for (uint64_t key = 1; key <= 16; key++) {
		data = 'a';
		assert_int_equal(call_that_answers(100, &data), 0);
		assert_int_equal(data, 'b');
		assert_int_equal(call_with_timeout(hang, key, &data, 1, -1, &out), -ETIMEDOUT);
		/* What hangs is not asked again. */
		assert_int_equal(call_with_timeout(answer, key, &data, 1, -1, &out), -ETIMEDOUT);
	}
	assert_int_equal(call_with_timeout(answer, 100, &data, 1, -1, &out), -EBUSY);
	call_timeout_end();
}

static int answer_slowly(void *data, int fd)
{
	usleep(200000);
	return answer(data, fd);
}

TEST(an_answer_that_comes_late_is_had_by_who_asks_again)
{
	char data = 'a';
	int err = 0, out;

	assert_int_equal(call_timeout_start(), 0);
	assert_int_equal(call_or_earlier(answer_slowly, 1, &data, 1, &out), -ETIMEDOUT);
	assert_int_equal(call_that_answers(2, &data), 0); /* meanwhile another one */
	data = 'a';
	for (int tries = 0; tries < 5000; tries++) {
		err = call_or_earlier(answer_slowly, 1, &data, 1, &out);
		if (err != -ETIMEDOUT)
			break;
		usleep(1000);
	}
	assert_int_equal(err, 0);
	assert_int_equal(data, 'b');
	/* One that does not say so gets none: its answer would be that of another moment. */
	assert_int_equal(call_with_timeout(answer_slowly, 1, &data, 1, -1, &out), -ETIMEDOUT);
	usleep(300000);
	assert_int_equal(call_with_timeout(answer_slowly, 1, &data, 1, -1, &out), -ETIMEDOUT);
	call_timeout_end();
}

/* ---- memory -------------------------------------------------------------------------------- */

TEST(what_a_flight_recorder_keeps_has_a_bound)
{
	static char text[4000];
	struct id_pool p = { 0 };
	uint32_t n = 0, id;

	memset(text, 'x', sizeof(text));
	do {
		n++;
		memcpy(text, &n, sizeof(n));
		id = id_pool_get(&p, text, sizeof(text), n, NULL);
	} while (id && n < 200000);
	assert_int_equal(id, 0);
	assert_in_range(p.bytes, 256u << 20, (256u << 20) + 8192);
	/* Which makes room. */
	id_pool_drop(&p, 1);
	assert_int_equal(id_pool_get(&p, text, sizeof(text), n, NULL), 1);
	id_pool_free(&p);
}

TEST(code_that_the_kernel_loads_has_a_bound)
{
	struct kallsyms *k;
	struct kallsyms_symbol sym;
	uint64_t base = 0xffffffffc0000000u;

	assert_int_equal(kallsyms_new(&k), 0);
	for (uint64_t i = 0; i < 65536; i++)
		assert_int_equal(kallsyms_add(k, base + i * 64, 64, "bpf_prog_one"), 0);
	assert_int_equal(kallsyms_add(k, base + 65536 * 64, 64, "bpf_prog_other"), -ENOSPC);
	assert_false(kallsyms_find(k, base + 65536 * 64 + 8, &sym));
	assert_true(kallsyms_find(k, base + 65535 * 64 + 8, &sym));
	/* What is gone makes room. */
	kallsyms_remove(k, base, base + 64);
	assert_int_equal(kallsyms_add(k, base + 65536 * 64, 64, "bpf_prog_other"), 0);
	assert_true(kallsyms_find(k, base + 65536 * 64 + 8, &sym));
	assert_string_equal(sym.name, "bpf_prog_other");
	kallsyms_free(k);
}
