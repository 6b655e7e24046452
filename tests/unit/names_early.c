// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that were deleted while they were mapped, and generated code of processes that ended: named
 * and closed while the recording goes on. Of files with many frames, these are named then.
 */
#define OWN_MAIN
#include "test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbolized_trace.h"

#define LIBRARIES 30
/* Mappings are forgotten after 5 s; on a loaded machine all takes longer. */
#define SECONDS_MAX 30
#define FORGOTTEN_NS 5500000000u

static char folder[] = "/tmp/names-early.XXXXXX";

/* The path of the library that has the function. */
static const char *library_of(const char *function)
{
	static char path[PATH_MAX];
	void *lib = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
	Dl_info info;

	assert_non_null(lib);
	assert_true(dladdr(dlsym(lib, function), &info));
	assert_non_null(realpath(info.dli_fname, path));
	return path;
}

static void copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	struct stat st;

	assert_true(in >= 0 && out >= 0);
	assert_int_equal(fstat(in, &st), 0);
	assert_int_equal(sendfile(out, in, NULL, (size_t)st.st_size), st.st_size);
	close(in);
	close(out);
}

/* Descriptors of this process for paths that begin so. */
static int open_below(const char *path_begin)
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *d;
	int n = 0;

	assert_non_null(fds);
	while ((d = readdir(fds))) {
		char path[300], to[PATH_MAX] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%s", d->d_name);
		if (readlink(path, to, sizeof(to) - 1) > 0)
			n += !strncmp(to, path_begin, strlen(path_begin));
	}
	closedir(fds);
	return n;
}

static int open_files(void)
{
	return open_below(folder);
}

/* Loads a copy of the library, is seen in its function, deletes the copy and unloads it. */
static uint32_t see_a_copy(struct trace *t, const char *from, const char *function, int i)
{
	char path[PATH_MAX];
	uint32_t frame;
	void *lib;

	snprintf(path, sizeof(path), "%s/%d.so", folder, i);
	copy(from, path);
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(lib);
	frame = seen(t, getpid(), (uint64_t)(uintptr_t)dlsym(lib, function) + 1);
	assert_int_equal(unlink(path), 0);
	dlclose(lib);
	return frame;
}

TEST(deleted_libraries_are_named_and_closed_while_recording)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	const char *from = library_of("fegetround");
	uint32_t frames[LIBRARIES];
	uint64_t until_ns;

	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < LIBRARIES; i++)
		frames[i] = see_a_copy(t, from, "fegetround", i);
	assert_int_equal(open_files(), LIBRARIES);
	until_ns = now_ns() + SECONDS_MAX * 1000000000ull;
	/* The last one is mapped, as far as is known: nothing has taken its place. */
	while (open_files() > 1 && now_ns() < until_ns) {
		symbolizer_poll(t->s);
		usleep(1000);
	}
	assert_int_equal(open_files(), 1);
	assert_int_equal(encoder_flush(t->enc), 0);
	for (int i = 0; i < LIBRARIES; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%d.so", folder, i);
		if (i == LIBRARIES - 1)
			finish(t);
		expect(t, frames[i], "fegetround", path, 1);
	}
	assert_int_equal(t->stats.user_named, LIBRARIES);
	assert_int_equal(t->stats.files_read, LIBRARIES);
	end(t);
	rmdir(folder);
}

/* Some are still being read, or not begun, when it ends. */
TEST(what_has_no_name_yet_gets_it_at_the_end)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	const char *from = library_of("fegetround");
	uint64_t until_ns = now_ns() + SECONDS_MAX * 1000000000ull;
	char name[] = "/tmp/names-early.XXXXXX";

	strcpy(folder, name);
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < LIBRARIES; i++)
		see_a_copy(t, from, "fegetround", i);
	while (!symbolizer_is_naming(t->s) && now_ns() < until_ns) {
		symbolizer_poll(t->s);
		usleep(1000);
	}
	assert_true(symbolizer_is_naming(t->s));
	finish(t);
	assert_int_equal(t->stats.user_named, LIBRARIES);
	end(t);
	rmdir(folder);
}

/* Tells where it has memory for generated code, and waits. */
static _Noreturn void generate(int tell, int until)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t addr = (uint64_t)(uintptr_t)code;
	char path[40], c;
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = code == MAP_FAILED ? NULL : fopen(path, "w");
	if (!map || fprintf(map, "%llx 100 generated\n", (unsigned long long)addr) < 0 ||
	    fclose(map) || write(tell, &addr, sizeof(addr)) != sizeof(addr))
		_exit(1);
	_exit(read(until, &c, 1) != 0);
}

/* In hours, a runtime is started thousands of times. */
TEST(generated_code_is_named_when_its_process_has_ended)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	uint64_t until_ns, addr;
	int tell[2], until[2], status;
	uint32_t frame;
	char path[40];
	pid_t pid;

	assert_int_equal(pipe(tell), 0);
	assert_int_equal(pipe(until), 0);
	pid = fork();
	if (!pid) {
		close(until[1]);
		generate(tell[1], until[0]);
	}
	assert_int_equal(read(tell[0], &addr, sizeof(addr)), sizeof(addr));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	frame = seen(t, pid, addr + 8);
	assert_int_equal(open_below(path), 1);
	assert_int_equal(unlink(path), 0);
	close(until[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	until_ns = now_ns() + FORGOTTEN_NS;
	while (now_ns() < until_ns) {
		symbolizer_poll(t->s);
		usleep(10000);
	}
	symbolizer_forget_ended(t->s);
	until_ns = now_ns() + SECONDS_MAX * 1000000000ull;
	while (open_below(path) && now_ns() < until_ns) {
		symbolizer_poll(t->s);
		usleep(1000);
	}
	assert_int_equal(open_below(path), 0);
	assert_int_equal(encoder_flush(t->enc), 0);
	expect(t, frame, "generated", path, 8);
	finish(t);
	assert_int_equal(t->stats.user_named, 1);
	end(t);
	close(until[0]);
	close(tell[0]);
	close(tell[1]);
}

/* As symbolize_early.c has it. */
#define WAITING_MANY (1u << 18)

/* A large program that never ends: its frames do not all wait for the end of the recording. */
TEST(many_frames_are_named_while_recording)
{
	uint64_t until_ns = now_ns() + SECONDS_MAX * 1000000000ull, start;
	struct trace *t = begin(SYMBOLIZER_USER);
	void *lib = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
	struct encoder_counts before, after;
	uint32_t first;

	assert_non_null(lib);
	start = (uint64_t)(uintptr_t)dlsym(lib, "fegetround");
	first = seen(t, getpid(), start + 1);
	for (uint32_t i = 1; i < WAITING_MANY - 1; i++)
		seen(t, getpid(), start + 1 + i % 1000);
	symbolizer_poll(t->s);
	assert_false(symbolizer_is_naming(t->s));
	seen(t, getpid(), start + 2);
	while (!symbolizer_is_naming(t->s) && now_ns() < until_ns) {
		symbolizer_poll(t->s);
		usleep(1000);
	}
	while (symbolizer_is_naming(t->s) && now_ns() < until_ns) {
		symbolizer_poll(t->s);
		usleep(1000);
	}
	assert_int_equal(encoder_flush(t->enc), 0);
	expect(t, first, "fegetround", library_of("fegetround"), 1);
	/* Nothing is left for the end, and the file can still be seen in. */
	encoder_counts(t->enc, &before);
	seen(t, getpid(), start + 1);
	finish(t);
	encoder_counts(t->enc, &after);
	assert_in_range(after.bytes - before.bytes, 0, 1000);
	end(t);
	dlclose(lib);
}

enum { PROCESSES = 1100, OPEN = 1024 };
static pid_t pids[PROCESSES];

/* Also where the test failed. */
static int remove_maps(void **state)
{
	char path[40];
	int err = 0;

	(void)state;
	for (int i = 0; i < PROCESSES && pids[i] > 0; i++) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", pids[i]);
		err |= unlink(path);
	}
	return err;
}

/* Of many processes with generated code, all of which get their names at the end. */
TEST_IN(few_perf_maps_stay_open, NULL, remove_maps)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	int before = open_below("/tmp/perf-"), tell[2], until[2], status;
	uint64_t addr;

	assert_int_equal(pipe(tell), 0);
	assert_int_equal(pipe(until), 0);
	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			close(until[1]);
			generate(tell[1], until[0]);
		}
		assert_int_equal(read(tell[0], &addr, sizeof(addr)), sizeof(addr));
		seen(t, pids[i], addr + 8);
	}
	assert_int_equal(open_below("/tmp/perf-") - before, OPEN);
	close(until[1]);
	for (int i = 0; i < PROCESSES; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	finish(t);
	assert_int_equal(t->stats.user_named, PROCESSES);
	end(t);
	close(until[0]);
	close(tell[0]);
	close(tell[1]);
}

int main(void)
{
	return cmocka_run_group_tests_name("names_early", tests, NULL, NULL);
}
