// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process that shows the recorder another file than the one it had mapped names nobody's
 * functions: neither by mapping two files over each other, nor by a file system of its own.
 */
#define OWN_MAIN
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "files/codefile.h"
#include "files/coderoot.h"
#include "files/program_name.h"
#include "symbolized_trace.h"
#include "watched_child.h"

static bool may_mount;

#define NEEDS_MOUNTS()                                                                   \
	do {                                                                             \
		if (!may_mount) {                                                        \
			print_message("needs root, and not a chroot, to mount files\n"); \
			skip();                                                          \
		}                                                                        \
	} while (0)

/* ---- files --------------------------------------------------------------------------------- */

static const char impostors_name[] = "b_function_of_the_child";

/* A copy of this program whose function has another name. */
static void write_impostor(const char *path)
{
	static const char own[] = "a_function_of_the_child";
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to;
	struct stat st;
	char *bytes, *p;
	size_t len, n = 0;

	assert_true(from >= 0 && !fstat(from, &st));
	len = (size_t)st.st_size;
	bytes = malloc(len);
	assert_non_null(bytes);
	assert_int_equal(read(from, bytes, len), len);
	for (p = bytes; (p = memmem(p, len - (size_t)(p - bytes), own, sizeof(own))); n++)
		*p = 'b';
	assert_true(n > 0);
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	assert_true(to >= 0);
	assert_int_equal(write(to, bytes, len), len);
	close(to);
	close(from);
	free(bytes);
}

static void copy_to(const char *path)
{
	char own[64];
	pid_t pid;
	int status;

	copy_self(own);
	pid = fork();
	if (!pid) {
		execlp("mv", "mv", own, path, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* ---- the attacker -------------------------------------------------------------------------- */

/* Maps all of path as code, at `at` if that is not NULL. */
static void *map_code(const char *path, void *at)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st))
		_exit(1);
	p = mmap(at, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at ? MAP_FIXED : 0),
		 fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		_exit(2);
	return p;
}

/* Runs attack(ctx) in a process that lives on, and returns when that is done. */
static pid_t start_attack(void (*attack)(const char *ctx), const char *ctx)
{
	int done[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe2(done, O_CLOEXEC), 0);
	pid = fork_child();
	assert_true(pid >= 0);
	if (!pid) {
		attack(ctx);
		if (write(done[1], "x", 1) != 1)
			_exit(3);
		pause();
		_exit(0);
	}
	close(done[1]);
	assert_int_equal(read(done[0], &c, 1), 1);
	close(done[0]);
	return pid;
}

static void end_attack(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

/* After an attack: what its victim, which runs path, is named. */
static void expect_right_name(struct trace *t, const char *path)
{
	struct child c = start_child(path, NULL);
	uint32_t frame;

	assert_true(c.addr != 0);
	frame = seen(t, c.pid, c.addr);
	end_child(&c);
	finish(t);
	expect(t, frame, "a_function_of_the_child", path, 2);
}

/* ---- two files, one address ---------------------------------------------------------------- */

static void map_over(const char *path)
{
	char other[80];

	snprintf(other, sizeof(other), "%s.b", path);
	map_code(other, map_code(path, NULL));
}

TEST(a_file_mapped_over_another_does_not_name_it)
{
	struct trace *t;
	char path[64], other[80];
	pid_t attacker;

	if (geteuid()) {
		print_message("needs root, for /proc/PID/map_files\n");
		skip();
	}
	t = begin(SYMBOLIZER_USER);
	copy_self(path);
	snprintf(other, sizeof(other), "%s.b", path);
	write_impostor(other);
	attacker = start_attack(map_over, path);
	symbolizer_poll(t->s); /* both records at once; only the second file is still there */
	expect_right_name(t, path);
	end_attack(attacker);
	unlink(path);
	unlink(other);
	end(t);
}

/* ---- the same number in another file system ------------------------------------------------ */

static void map_and_hide(const char *folder)
{
	char path[80];
	struct stat before, after;

	snprintf(path, sizeof(path), "%s/program", folder);
	if (stat(path, &before) || munmap(map_code(path, NULL), (size_t)before.st_size))
		_exit(4);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", folder, "tmpfs", 0, NULL))
		_exit(5);
	write_impostor(path);
	if (stat(path, &after) || before.st_ino != after.st_ino || before.st_dev == after.st_dev)
		_exit(6);
}

TEST(a_file_with_the_same_inode_number_elsewhere_does_not_name_it)
{
	char folder[] = "/tmp/identity-test-XXXXXX", path[80];
	struct trace *t;
	pid_t attacker;

	NEEDS_MOUNTS();
	t = begin(SYMBOLIZER_USER);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(mount("none", folder, "tmpfs", 0, NULL), 0);
	snprintf(path, sizeof(path), "%s/program", folder);
	write_impostor(path); /* the first number */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(umount2(folder, MNT_DETACH), 0);
	assert_int_equal(mount("none", folder, "tmpfs", 0, NULL), 0);
	copy_to(path);
	attacker = start_attack(map_and_hide, folder);
	symbolizer_poll(t->s);
	expect_right_name(t, path);
	end_attack(attacker);
	end(t);
	assert_int_equal(umount2(folder, MNT_DETACH), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* ---- a name of one's own ------------------------------------------------------------------- */

static void map_renamed(const char *path)
{
	char other[80];

	snprintf(other, sizeof(other), "%s.b", path);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(path, other, NULL, MS_BIND, NULL))
		_exit(4);
	map_code(other, NULL);
}

TEST(the_name_that_a_stranger_gave_a_file_is_his_own)
{
	struct trace *t;
	char path[64], other[80];
	pid_t attacker;

	NEEDS_MOUNTS();
	t = begin(SYMBOLIZER_USER);
	copy_self(path);
	snprintf(other, sizeof(other), "%s.b", path);
	write_impostor(other); /* a place to mount it on */
	attacker = start_attack(map_renamed, path);
	symbolizer_poll(t->s);
	expect_right_name(t, path);
	end_attack(attacker);
	unlink(path);
	unlink(other);
	end(t);
}

/* ---- file systems whose stat() differs from /proc/PID/maps --------------------------------- */

/* ---- a root directory of its own ------------------------------------------------------------ */

/* Where the debug file of the program is looked for: "/usr/lib/debug/.build-id/12/34....debug" */
static void debug_path(char *path, const char *program)
{
	char *p = path + sprintf(path, "/usr/lib/debug/.build-id/");
	int fd = open(program, O_RDONLY | O_CLOEXEC);
	uint8_t id[BUILD_ID_MAX];
	struct elfsym *e;
	size_t len;

	if (fd < 0 || elfsym_open(&e, fd))
		_exit(4);
	len = elfsym_build_id(e, id);
	for (size_t i = 0; i < len; i++)
		p += sprintf(p, i == 1 ? "/%02x" : "%02x", id[i]);
	strcpy(p, ".debug");
	elfsym_close(e);
	close(fd);
}

/* Where the attacker maps the program. */
#define MAPPED_AT UINT64_C(0x200000000000)
extern const char __executable_start[];

/* Maps the program first, with a /usr/lib/debug of its own: the impostor beside it. */
static void map_with_own_debug_files(const char *path)
{
	char debug[512], impostor[80], *slash;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/usr/lib/debug", "tmpfs", 0, NULL))
		_exit(5);
	debug_path(debug, path);
	snprintf(impostor, sizeof(impostor), "%s.impostor", path);
	mkdir("/usr/lib/debug/.build-id", 0755);
	slash = strrchr(debug, '/');
	*slash = '\0';
	mkdir(debug, 0755);
	*slash = '/';
	if (symlink(impostor, debug))
		_exit(6);
	map_code(path, (void *)(uintptr_t)MAPPED_AT);
}

/* The impostor has the build ID, is on the program's file system and belongs to root. */
TEST(who_maps_a_file_first_does_not_choose_its_debug_file)
{
	char path[64], impostor[80], line[200];
	uint32_t frame, own;
	struct trace *t;
	struct child c;
	pid_t attacker;

	NEEDS_MOUNTS();
	copy_self(path);
	snprintf(impostor, sizeof(impostor), "%s.impostor", path);
	write_impostor(impostor);
	snprintf(line, sizeof(line), "strip %s", path);
	if (access("/usr/lib/debug", X_OK) || system(line)) {
		unlink(path);
		unlink(impostor);
		print_message("needs strip and /usr/lib/debug\n");
		skip();
	}
	t = begin(SYMBOLIZER_USER);
	attacker = start_attack(map_with_own_debug_files, path);
	symbolizer_poll(t->s);
	c = start_child(path, NULL);
	frame = seen(t, c.pid, c.addr);
	end_child(&c);
	finish(t);
	assert_string_not_equal(name_of(t, frame).symbol, impostors_name);
	end_attack(attacker);
	end(t);

	/* As long as it alone maps the file, it does. */
	t = begin(SYMBOLIZER_USER);
	attacker = start_attack(map_with_own_debug_files, path);
	own = seen(t, attacker,
		   MAPPED_AT + addr_of_child_function() - (uint64_t)(uintptr_t)__executable_start);
	finish(t);
	assert_string_equal(name_of(t, own).symbol, impostors_name);
	end_attack(attacker);
	end(t);
	unlink(path);
	unlink(impostor);
}

static void enter(const char *folder)
{
	if (chroot(folder))
		_exit(7);
}

/* What is read of a file of a container must not be read together with what is the machine's. */
TEST(whose_a_file_is_follows_who_maps_it)
{
	struct code_place p = { .start = 0x1000, .end = 0x2000, .path = self_exe };
	struct code_files *f;
	struct stat st;
	uint32_t id, of;
	pid_t contained;

	if (geteuid()) {
		print_message("needs root, for chroot\n");
		skip();
	}
	assert_int_equal(stat(self_exe, &st), 0);
	p.maj = major(st.st_dev);
	p.min = minor(st.st_dev);
	p.ino = st.st_ino;
	assert_int_equal(code_files_new(&f), 0);
	contained = start_attack(enter, "/tmp");
	p.tgid = (uint32_t)contained;
	id = code_files_get(f, &p);
	of = code_files_root_id(f, id);
	assert_true(of && of != CODE_ROOTS_SEVERAL);
	assert_true(code_files_root(f, id) >= 0);
	/* Where it was is not forgotten when it is closed, and not believed for ever. */
	code_files_hold(f, id);
	code_files_put_mapping(f, id);
	code_files_detach(f, id, -1, 0);
	assert_int_equal(code_files_root_id(f, id), CODE_ROOTS_SEVERAL);
	assert_int_equal(code_files_get(f, &p), id);
	of = code_files_root_id(f, id);
	assert_true(of && of != CODE_ROOTS_SEVERAL);
	/* It is nobody's alone once this process maps it, too. */
	p.tgid = (uint32_t)getpid();
	assert_int_equal(code_files_get(f, &p), id);
	assert_int_equal(code_files_root_id(f, id), CODE_ROOTS_SEVERAL);
	assert_int_equal(code_files_root(f, id), -1);
	end_attack(contained);
	code_files_put_mapping(f, id);
	code_files_put_mapping(f, id);
	code_files_put(f, id);
	code_files_free(f);
}

/* A process that runs the program at path, and says as its first argument whatever it likes. */
static pid_t start_as(const char *path, const char *argument)
{
	int out[2], in[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	pid = fork_child();
	assert_true(pid >= 0);
	if (!pid) {
		if (pipe(in)) /* whose other end it has itself: it waits */
			_exit(1);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execl(path, argument, "child", (char *)NULL);
		_exit(1);
	}
	close(out[1]);
	assert_int_equal(read(out[0], &c, 1), 1);
	close(out[0]);
	return pid;
}

static void expect_name(const char *expected, const char *path, const char *comm, pid_t pid)
{
	struct program_name n = { .tgid = (uint32_t)pid };

	snprintf(n.path, sizeof(n.path), "%s", path);
	snprintf(n.comm, sizeof(n.comm), "%s", comm);
	assert_int_equal(program_name_find(&n, -1), -1);
	assert_string_equal(n.name, expected);
}

TEST(a_program_has_the_name_by_which_it_is_run)
{
	char folder[] = "/tmp/identity-test-XXXXXX", real[80], beside[80], inside[80], other[80];
	pid_t pid;

	assert_non_null(mkdtemp(folder));
	snprintf(real, sizeof(real), "%s/real", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	snprintf(beside, sizeof(beside), "%s/beside-and-longer-than-a-comm", folder);
	snprintf(inside, sizeof(inside), "%s/in/inside", folder);
	write_impostor(real);
	write_impostor(other);
	assert_int_equal(symlink(real, beside), 0);
	*strrchr(inside, '/') = '\0';
	assert_int_equal(mkdir(inside, 0700), 0);
	inside[strlen(inside)] = '/';
	assert_int_equal(symlink("../real", inside), 0);

	/* By what exec set, of a process that is gone. */
	expect_name("", real, "real", 0);
	expect_name("", real, "other", 0);
	expect_name("", real, "in/../other", 0);
	expect_name("", real, "..", 0);
	expect_name("", "real", "inside", 0);
	/* A comm that fills its room may be cut: what was passed to exec is asked. */
	pid = start_as(beside, other);
	expect_name(beside, real, "beside-and-long", pid);
	end_attack(pid);
	pid = start_as(inside, other);
	expect_name(inside, real, "inside", pid);
	/* What does not lead to the file counts for nothing, whatever it is called. */
	expect_name("", other, "inside", pid);
	end_attack(pid);
	/* By its own name, whatever it says. */
	pid = start_as(real, beside);
	expect_name("", real, "other", pid);
	end_attack(pid);
	/* A script's: exec was told of another file. Its first argument is what ran it. */
	pid = start_as(other, inside);
	expect_name(inside, real, "script", pid);
	end_attack(pid);
	assert_int_equal(unlink(inside), 0);
	*strrchr(inside, '/') = '\0';
	assert_int_equal(rmdir(inside), 0);
	assert_int_equal(unlink(beside), 0);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(unlink(real), 0);
	assert_int_equal(rmdir(folder), 0);
}

TEST(a_file_is_one_for_each_name_by_which_it_is_run)
{
	struct code_place p = { .start = 0x1000, .end = 0x2000, .path = self_exe };
	uint32_t own, linked, again;
	struct code_files *f;
	struct stat st;

	assert_int_equal(stat(self_exe, &st), 0);
	p.tgid = (uint32_t)getpid();
	p.maj = major(st.st_dev);
	p.min = minor(st.st_dev);
	p.ino = st.st_ino;
	assert_int_equal(code_files_new(&f), 0);
	own = code_files_get(f, &p);
	p.name = "/a/link";
	linked = code_files_get(f, &p);
	again = code_files_get(f, &p);
	assert_true(own && linked && own != linked);
	assert_int_equal(again, linked);
	assert_string_equal(code_files_name(f, own), self_exe);
	assert_string_equal(code_files_name(f, linked), "/a/link");
	/* It is the same file to read. */
	assert_string_equal(code_files_path(f, linked), self_exe);
	assert_true(code_files_is_same(f, own, linked));
	code_files_put_mapping(f, own);
	code_files_put_mapping(f, linked);
	code_files_put_mapping(f, again);
	code_files_free(f);
}

TEST(a_file_on_overlayfs_is_named)
{
	char folder[] = "/tmp/identity-test-XXXXXX", path[80], options[256], sub[80];
	static const char *const subs[] = { "low", "high", "high/upper", "high/work", "all" };
	struct trace *t;

	NEEDS_MOUNTS();
	t = begin(SYMBOLIZER_USER);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(mount("none", folder, "tmpfs", 0, NULL), 0);
	for (size_t i = 0; i < sizeof(subs) / sizeof(*subs); i++) {
		snprintf(sub, sizeof(sub), "%s/%s", folder, subs[i]);
		assert_int_equal(mkdir(sub, 0755), 0);
		/* Two file systems below: then stat() shows a device of its own for the lower. */
		if (i == 1)
			assert_int_equal(mount("none", sub, "tmpfs", 0, NULL), 0);
	}
	snprintf(path, sizeof(path), "%s/low/program", folder);
	copy_to(path);
	snprintf(options, sizeof(options),
		 "lowerdir=%s/low,upperdir=%s/high/upper,workdir=%s/high/work", folder, folder,
		 folder);
	if (mount("none", sub, "overlay", 0, options)) {
		end(t);
		umount2(folder, MNT_DETACH);
		rmdir(folder);
		print_message("no overlayfs: %s\n", strerror(errno));
		skip();
	}
	snprintf(path, sizeof(path), "%s/all/program", folder);
	expect_right_name(t, path);
	end(t);
	assert_int_equal(umount2(folder, MNT_DETACH), 0);
	assert_int_equal(rmdir(folder), 0);
}

TEST(another_file_is_not_the_same_by_any_number)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;

	assert_true(fd >= 0 && !fstat(fd, &st));
	assert_true(
		code_is_file(fd, gnu_dev_major(st.st_dev), gnu_dev_minor(st.st_dev), st.st_ino));
	assert_false(code_is_file(fd, gnu_dev_major(st.st_dev), gnu_dev_minor(st.st_dev),
				  st.st_ino + 1));
	assert_false(code_is_file(fd, gnu_dev_major(st.st_dev), gnu_dev_minor(st.st_dev) + 1,
				  st.st_ino));
	close(fd);
}

/* A process that maps, again and again, what cannot be opened costs nobody a call each time. */
TEST(a_file_that_cannot_be_opened_is_tried_once_for_each_process)
{
	char path[] = "/tmp/chain-file-XXXXXX", moved[sizeof(path) + 2];
	struct code_place p = { .tgid = (uint32_t)getpid(), .start = 1, .end = 2, .path = path };
	struct code_files *f;
	struct stat st;
	uint32_t id;
	int fd = mkstemp(path);

	assert_true(fd >= 0 && !fstat(fd, &st));
	p.maj = gnu_dev_major(st.st_dev);
	p.min = gnu_dev_minor(st.st_dev);
	p.ino = st.st_ino;
	if (!code_is_file(fd, p.maj, p.min, p.ino)) {
		close(fd);
		unlink(path);
		print_message("files in /tmp have other numbers in /proc\n");
		skip();
	}
	close(fd);
	assert_int_equal(code_files_new(&f), 0);
	snprintf(moved, sizeof(moved), "%s-2", path);
	assert_int_equal(rename(path, moved), 0);
	id = code_files_get(f, &p);
	assert_false(code_files_is_open(f, id));
	assert_int_equal(rename(moved, path), 0);
	assert_int_equal(code_files_get(f, &p), id);
	assert_false(code_files_is_open(f, id));
	p.tgid = (uint32_t)getppid();
	assert_int_equal(code_files_get(f, &p), id);
	assert_true(code_files_is_open(f, id));
	code_files_free(f);
	unlink(path);
}

/* An inode number that was reused: the record has the generation of the file that is gone. */
TEST(another_generation_is_another_file)
{
	struct code_files *f;
	struct code_place p = {
		.tgid = (uint32_t)getpid(), .start = 1, .end = 2, .path = self_exe
	};
	int fd = open(self_exe, O_RDONLY | O_CLOEXEC);
	uint32_t generation, right, wrong;
	struct stat st;

	assert_int_equal(code_files_new(&f), 0);
	assert_true(fd >= 0 && !fstat(fd, &st));
	p.maj = gnu_dev_major(st.st_dev);
	p.min = gnu_dev_minor(st.st_dev);
	p.ino = st.st_ino;
	generation = code_generation(fd);
	close(fd);
	if (!generation || !code_is_file(fd = open(self_exe, O_RDONLY), p.maj, p.min, p.ino)) {
		code_files_free(f);
		print_message("this file system has no generations\n");
		skip();
	}
	close(fd);
	p.generation = generation + 1;
	wrong = code_files_get(f, &p);
	assert_int_equal(code_files_open(f, wrong), -ESTALE);
	p.generation = generation;
	right = code_files_get(f, &p);
	assert_int_not_equal(right, wrong);
	assert_true(code_files_open(f, right) >= 0);
	code_files_put(f, right);
	code_files_put(f, wrong);
	code_files_free(f);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "child"))
		return be_child();
	if (readlink("/proc/self/exe", self_exe, sizeof(self_exe) - 1) < 0)
		return 1;
	/* What the tests mount is seen by nobody else. */
	may_mount = !geteuid() && !unshare(CLONE_NEWNS) &&
		    !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
