// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names are looked up for a bounded time at the end, whatever strangers have run: files that take
 * long to read, files with many names, readers that do not answer.
 */
#define OWN_MAIN
#include "test.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "no_rights.h"
#include "symbolized_trace.h"
#include "watched_child.h"

#define SECOND_NS UINT64_C(1000000000)
#define STRANGER 12345

static char folder[] = "/tmp/names-time-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	return mkdtemp(folder) && !chmod(folder, 0755) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char line[64];

	(void)state;
	snprintf(line, sizeof(line), "rm -rf %s", folder);
	return system(line);
}

static const char *in_folder(char path[64], int i)
{
	snprintf(path, 64, "%s/%d", folder, i);
	return path;
}

static void copy_to(const char *to)
{
	char own[64];

	copy_self(own);
	assert_int_equal(rename(own, to), 0);
}

/* Runs it: the frame of its function. */
static uint32_t see(struct trace *t, const char *path)
{
	struct child c = start_child(path, NULL);
	uint32_t frame;

	assert_true(c.addr != 0);
	frame = seen(t, c.pid, c.addr);
	end_child(&c);
	return frame;
}

/* Returns how long it took, in ns. */
static uint64_t finish_within(struct trace *t, uint64_t limit_ns)
{
	uint64_t begin_ns = now_ns();

	symbolizer_limit(t->s, false, limit_ns);
	finish(t);
	return now_ns() - begin_ns;
}

/* ---- one file, many names ------------------------------------------------------------------- */

TEST_IN(a_file_with_many_names_is_read_once, make_folder, remove_folder)
{
	enum { NAMES = 20 };
	struct trace *t = begin(SYMBOLIZER_USER);
	uint32_t frames[NAMES];
	char path[64], first[64];

	copy_to(in_folder(first, 0));
	for (int i = 1; i < NAMES; i++)
		assert_int_equal(link(first, in_folder(path, i)), 0);
	for (int i = 0; i < NAMES; i++)
		frames[i] = see(t, in_folder(path, i));
	finish(t);
	for (int i = 0; i < NAMES; i++)
		expect(t, frames[i], "a_function_of_the_child", in_folder(path, i), 2);
	assert_int_equal(t->stats.user_named, NAMES);
	assert_int_equal(t->stats.files_read, 1);
	end(t);
}

/* The number of an inode is that of another file once the first one is deleted. */
TEST_IN(another_file_with_the_same_number_is_not_the_same, make_folder, remove_folder)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	uint32_t frames[2];
	char a[64], b[64];
	struct stat first, second;

	copy_to(in_folder(a, 0));
	frames[0] = see(t, a);
	assert_int_equal(stat(a, &first), 0);
	assert_int_equal(unlink(a), 0);
	copy_to(in_folder(b, 1));
	assert_int_equal(stat(b, &second), 0);
	frames[1] = see(t, b);
	finish(t);
	/* The first one was open all the time, or is not there to be opened any more. */
	assert_true(first.st_ino != second.st_ino || !name_of(t, frames[0]).symbol);
	expect(t, frames[1], "a_function_of_the_child", b, 2);
	end(t);
}

/* ---- readers that do not answer ------------------------------------------------------------- */

/* As somebody with their user id can do: then none is ever started. */
TEST_IN(readers_that_are_stopped_do_not_stop_the_end, make_folder, remove_folder)
{
	enum { FILES = 8 };
	struct trace *t = begin(SYMBOLIZER_USER);
	uint32_t frames[FILES];
	char path[64];
	uint64_t took_ns;

	for (int i = 0; i < FILES; i++) {
		copy_to(in_folder(path, i));
		frames[i] = see(t, path);
	}
	assert_int_equal(kill(helpers_pid(t->readers), SIGSTOP), 0);
	took_ns = finish_within(t, SECOND_NS / 2);
	kill(helpers_pid(t->readers), SIGCONT);
	print_message("%.1f s\n", (double)took_ns / 1e9);
	/* Five for each file would be 40. */
	assert_in_range(took_ns, 0, 20 * SECOND_NS);
	for (int i = 0; i < FILES; i++)
		expect(t, frames[i], "none", in_folder(path, i), name_of(t, frames[i]).offset);
	assert_int_equal(t->stats.late + t->stats.no_file, FILES);
	end(t);
}

/* Which a signal handler says. */
static volatile sig_atomic_t asked;

static void ask(int signal)
{
	(void)signal;
	asked++;
}

TEST_IN(who_waits_gets_the_end_in_two_seconds, make_folder, remove_folder)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	uint64_t took_ns;
	char path[64];

	copy_to(in_folder(path, 0));
	see(t, path);
	assert_int_equal(kill(helpers_pid(t->readers), SIGSTOP), 0);
	symbolizer_hurry(t->s, &asked);
	signal(SIGALRM, ask);
	ualarm(200000, 0);
	took_ns = finish_within(t, 3600 * SECOND_NS);
	kill(helpers_pid(t->readers), SIGCONT);
	assert_in_range(took_ns, 0, 30 * SECOND_NS);
	end(t);
}

/* The two seconds are for names, too, not only for what would name the functions later. */
TEST_IN(who_waits_gets_names_in_two_seconds, make_folder, remove_folder)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	uint32_t frame;
	char path[64];

	copy_to(in_folder(path, 0));
	frame = see(t, path);
	symbolizer_hurry(t->s, &asked);
	asked++;
	finish_within(t, 10 * SECOND_NS);
	expect(t, frame, "a_function_of_the_child", path, 2);
	end(t);
}

/* ---- a file that takes long ----------------------------------------------------------------- */

#define SYMBOLS 8000u
#define STRINGS (32u << 20)
#define FEW_STRINGS (1u << 20)

/*
 * A program with one segment of code, and symbols for all of it, each of which is compared with
 * the others at each address. Their names are all of the rest of the table of strings.
 */
static void write_slow_file(const char *path, uint32_t strings)
{
	enum {
		CODE = 1u << 16,
		SYMTAB = CODE,
		STRTAB = SYMTAB + (SYMBOLS + 1) * sizeof(Elf64_Sym)
	};
	static const char names[] = "\0.shstrtab\0.symtab\0.strtab\0.text";
	Elf64_Shdr sections[] = {
		{ 0 },
		{ .sh_name = 1, .sh_type = SHT_STRTAB, .sh_size = sizeof(names) },
		{ .sh_name = 11,
		  .sh_type = SHT_SYMTAB,
		  .sh_offset = SYMTAB,
		  .sh_size = (SYMBOLS + 1) * sizeof(Elf64_Sym),
		  .sh_link = 3,
		  .sh_entsize = sizeof(Elf64_Sym),
		  .sh_addralign = 8 },
		{ .sh_name = 19, .sh_type = SHT_STRTAB, .sh_offset = STRTAB, .sh_size = strings },
		{ .sh_name = 27,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		  .sh_size = CODE },
	};
	Elf64_Phdr code = { .p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_filesz = CODE,
			    .p_memsz = CODE,
			    .p_align = 4096 };
	Elf64_Ehdr h = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(code),
		.e_phnum = 1,
		.e_phoff = sizeof(h),
		.e_shentsize = sizeof(sections[0]),
		.e_shnum = 5,
		.e_shstrndx = 1,
	};
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0755), self;
	Elf64_Ehdr own;
	uint8_t *p;
	size_t bytes = STRTAB + strings + sizeof(names) + sizeof(sections);

	self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(self, &own, sizeof(own), 0), sizeof(own));
	close(self);
	h.e_machine = own.e_machine;
	assert_true(fd >= 0 && !ftruncate(fd, (off_t)bytes));
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(p != MAP_FAILED);
	sections[1].sh_offset = STRTAB + strings;
	h.e_shoff = STRTAB + strings + sizeof(names);
	memcpy(p, &h, sizeof(h));
	memcpy(p + sizeof(h), &code, sizeof(code));
	for (uint32_t i = 1; i <= SYMBOLS; i++) {
		Elf64_Sym symbol = { .st_name = SYMBOLS - i + 1,
				     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				     .st_shndx = 4,
				     .st_size = CODE };

		memcpy(p + SYMTAB + i * sizeof(symbol), &symbol, sizeof(symbol));
	}
	memset(p + STRTAB, 'a', strings - 1);
	memcpy(p + STRTAB + strings, names, sizeof(names));
	memcpy(p + h.e_shoff, sections, sizeof(sections));
	munmap(p, bytes);
	close(fd);
}

TEST_IN(a_slow_file_costs_no_other_its_names, make_folder, remove_folder)
{
	enum { SLOW = 4 };
	struct trace *t = begin(SYMBOLIZER_USER);
	uint32_t ours, theirs;
	char path[64], mine[64], other[64];
	uint64_t took_ns;

	if (geteuid()) {
		print_message("needs root, to give files away\n");
		skip();
	}
	for (int i = 0; i < SLOW; i++) {
		int fd;
		void *p;

		write_slow_file(in_folder(path, i), STRINGS);
		assert_int_equal(chown(path, STRANGER, STRANGER), 0);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		p = mmap(NULL, 1 << 16, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		assert_true(fd >= 0 && p != MAP_FAILED);
		close(fd);
		for (uint64_t k = 1; k <= SYMBOLS; k++)
			seen(t, getpid(), (uint64_t)(uintptr_t)p + k * 8 + 1);
	}
	copy_to(in_folder(mine, SLOW));
	copy_to(in_folder(other, SLOW + 1));
	assert_int_equal(chown(other, STRANGER + 1, STRANGER), 0);
	ours = see(t, mine);
	theirs = see(t, other);
	took_ns = finish_within(t, 5 * SECOND_NS);
	print_message("%.1f s; %llu not in time\n", (double)took_ns / 1e9,
		      (unsigned long long)t->stats.late);
	/* Each of the slow ones would take more than a minute. */
	assert_in_range(took_ns, 0, 30 * SECOND_NS);
	expect(t, ours, "a_function_of_the_child", mine, 2);
	expect(t, theirs, "a_function_of_the_child", other, 2);
	end(t);
}

/* Where a child has the files 0 to n - 1 of the folder, which is its root directory. */
#ifdef __SANITIZE_ADDRESS__ /* which has its shadow there */
#define ELSEWHERE UINT64_C(0x200000000000)
#else
#define ELSEWHERE UINT64_C(0x200000000)
#endif

static pid_t map_elsewhere(int n)
{
	int ready[2];
	pid_t child;
	char c;

	assert_int_equal(pipe(ready), 0);
	child = fork_child();
	if (!child) {
		uint64_t at = ELSEWHERE;
		char path[32];

		if (chroot(folder) || chdir("/"))
			_exit(1);
		for (int i = 0; i < n; i++, at += 1 << 20) {
			int fd;

			snprintf(path, sizeof(path), "/%d", i);
			fd = open(path, O_RDONLY | O_CLOEXEC);
			if (mmap((void *)(uintptr_t)at, 1 << 16, PROT_READ | PROT_EXEC,
				 MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0) == MAP_FAILED)
				_exit(1);
			close(fd);
		}
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return child;
}

/* In a container all files may be root's: its owner has no more time than others for them. */
TEST_IN(root_elsewhere_has_one_turn_after_the_other, make_folder, remove_folder)
{
	enum { SLOW = 60, SEEN = 100 };
	struct trace *t = begin(SYMBOLIZER_USER);
	uint32_t ours, theirs;
	char path[64], mine[64], other[64];
	pid_t child;

	if (geteuid()) {
		print_message("needs root, for another root directory\n");
		skip();
	}
	for (int i = 0; i < SLOW; i++)
		write_slow_file(in_folder(path, i), FEW_STRINGS);
	child = map_elsewhere(SLOW);
	for (uint64_t i = 0; i < SLOW; i++)
		for (uint64_t k = 1; k <= SEEN; k++)
			seen(t, child, ELSEWHERE + (i << 20) + k * 8 + 1);
	copy_to(in_folder(mine, SLOW));
	copy_to(in_folder(other, SLOW + 1));
	assert_int_equal(chown(other, STRANGER, STRANGER), 0);
	ours = see(t, mine);
	theirs = see(t, other);
	finish_within(t, 3 * SECOND_NS);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	print_message("%llu not in time\n", (unsigned long long)t->stats.late);
	assert_true(t->stats.late > SLOW);
	expect(t, ours, "a_function_of_the_child", mine, 2);
	expect(t, theirs, "a_function_of_the_child", other, 2);
	end(t);
}

/* ---- whose names are missing ---------------------------------------------------------------- */

/* Two processes, of the one more functions; and one that has ended, with all that was known of it.
 */
TEST_IN(who_lacks_names_is_told_who_lacks_most_first, make_folder, remove_folder)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	const struct symbolizer_lack *lack = t->stats.lacks;
	char path[64], other[64];
	struct child few, many;
	uint32_t place[2], n;

	copy_to(in_folder(path, 0));
	copy_to(in_folder(other, 1));
	few = start_child(path, NULL);
	many = start_child(other, NULL);
	seen(t, few.pid, few.addr);
	seen(t, many.pid, many.addr);
	seen(t, many.pid, many.addr + 1);
	assert_int_equal(kill(helpers_pid(t->readers), SIGSTOP), 0);
	finish_within(t, SECOND_NS / 2);
	kill(helpers_pid(t->readers), SIGCONT);
	end_child(&few);
	end_child(&many);
	n = notes_with(t, "not looked up in time", (uint32_t)few.pid, &place[0]);
	assert_int_equal(notes_with(t, "not looked up in time", (uint32_t)many.pid, &place[1]), n);
	assert_int_equal(n, 2);
	assert_int_equal(place[1], 1);
	assert_int_equal(place[0], 2);
	assert_int_equal(t->stats.n_lacks, 1);
	assert_int_equal(lack->processes, 2);
	assert_int_equal(lack->named[0].tgid, many.pid);
	assert_string_equal(lack->named[0].program, "1");
	assert_string_equal(lack->named[1].program, "0");
	end(t);
}

/* Those of one user, of nobody here, lack more, and are many. */
TEST(a_user_with_many_processes_does_not_silence_others)
{
	enum { MANY = 3000, NOBODYS = 1 << 25 };
	struct trace *t = begin(SYMBOLIZER_USER);
	uint32_t n, place;

	for (uint32_t i = 0; i < MANY; i++)
		symbolizer_cut_stacks(t->s, NOBODYS + i, 1000);
	symbolizer_cut_stacks(t->s, (uint32_t)getpid(), 1);
	finish(t);
	n = notes_with(t, "were cut", (uint32_t)getpid(), &place);
	assert_in_range(n, 100, 1024);
	assert_int_equal(place, n);
	/* All are counted. */
	assert_int_equal(t->stats.lacks[0].processes, MANY + 1);
	end(t);
}

/* ---- later ---------------------------------------------------------------------------------- */

TEST_IN(later_nothing_is_named_but_build_ids_are_there, make_folder, remove_folder)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	uint32_t frame;
	struct name n;
	char path[64];

	copy_to(in_folder(path, 0));
	frame = see(t, path);
	symbolizer_limit(t->s, true, 0);
	finish(t);
	n = name_of(t, frame);
	assert_null(n.symbol);
	assert_string_equal(n.module, path);
	assert_true(n.build_id_len > 0);
	assert_int_equal(t->stats.user_named, 0);
	assert_int_equal(t->stats.late, 1);
	assert_int_equal(t->stats.late_files, 1);
	end(t);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "child"))
		return be_child();
	if (readlink("/proc/self/exe", self_exe, sizeof(self_exe) - 1) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
