// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * map_bomb WHAT FOLDER - sleeps again and again, for 2 ms each, in code that it has made, which
 * called itself from 500 places; and writes a perf map or, in FOLDER, a jitdump that is to take
 * whoever reads it much time or memory. WHAT:
 *
 *     lines    three million lines, each for one place
 *     covers   a million lines, each for all places
 *     hole     a line, and a hole of a terabyte
 *     endless  a line of 512 MiB, without a hole
 *     records  a jitdump with four million records of code, each for all places
 *     empty    a jitdump with records that say that they are longer than the file, or have no bytes
 *     jithole  a jitdump with a record, and a hole of a terabyte that the next one says it fills
 *
 * Prints "ready" before it sleeps, and removes its perf map when it gets a SIGTERM. x86-64 only;
 * exit status 77 elsewhere.
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PLACES 500u
#define PLACE_BYTES 32u
#define HOLE_BYTES ((off_t)1 << 40)

static char path[256];
static uint8_t *code;

#if defined(__x86_64__)
/*
 * Each place calls the next one, and the last one makes the system call; all have a frame pointer:
 *     push %rbp; mov %rsp,%rbp; call next; pop %rbp; ret
 */
static void make_code(void)
{
	static const uint8_t calls[] = { 0x55, 0x48, 0x89, 0xe5, 0xe8, PLACE_BYTES - 9,
					 0,    0,    0,	   0x5d, 0xc3 };
	/* mov $35,%eax (nanosleep); xor %esi,%esi; syscall */
	static const uint8_t naps[] = { 0x55, 0x48, 0x89, 0xe5, 0xb8, 35,   0,	 0,
					0,    0x31, 0xf6, 0x0f, 0x05, 0x5d, 0xc3 };

	code = mmap(NULL, PLACES * PLACE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		exit(1);
	for (unsigned int i = 0; i < PLACES - 1; i++)
		memcpy(code + i * PLACE_BYTES, calls, sizeof(calls));
	memcpy(code + (PLACES - 1) * PLACE_BYTES, naps, sizeof(naps));
}
#else
static void make_code(void)
{
	exit(77);
}
#endif

static void put(FILE *f, const void *bytes, size_t len)
{
	if (fwrite(bytes, len, 1, f) != 1)
		exit(1);
}

/* ---- perf maps ------------------------------------------------------------------------------- */

static void write_map(const char *what, FILE *f)
{
	uint64_t at = (uintptr_t)code;

	if (!strcmp(what, "lines"))
		for (unsigned int i = 0; i < 3000000; i++)
			fprintf(f, "%lx %x bomb_%u\n", at + i % PLACES * PLACE_BYTES, PLACE_BYTES,
				i);
	if (!strcmp(what, "covers"))
		for (unsigned int i = 0; i < 1000000; i++)
			fprintf(f, "%lx %x bomb_%u\n", at, PLACES * PLACE_BYTES, i);
	if (!strcmp(what, "hole")) {
		fprintf(f, "%lx %x bomb\n", at, PLACES * PLACE_BYTES);
		fflush(f);
		if (ftruncate(fileno(f), HOLE_BYTES))
			exit(1);
	}
	if (!strcmp(what, "endless")) {
		static char line[1 << 20];

		fprintf(f, "%lx %x ", at, PLACES * PLACE_BYTES);
		memset(line, 'b', sizeof(line));
		for (int i = 0; i < 512; i++)
			put(f, line, sizeof(line));
	}
}

/* ---- jitdumps: tools/perf/Documentation/jitdump-specification.txt of Linux ----------------------
 */

struct dump_header {
	uint32_t magic, version, bytes, machine, pad, pid;
	uint64_t time_ns, flags;
};

struct dump_code {
	uint32_t id, bytes;
	uint64_t time_ns;
	uint32_t pid, tid;
	uint64_t vma, addr, code_bytes, index;
	char name[8];
};

static void write_dump(const char *what, FILE *f)
{
	struct dump_header h = { 0x4a695444, 1, sizeof(h), EM_X86_64, 0, (uint32_t)getpid(), 1, 0 };
	struct dump_code c = {
		.bytes = sizeof(c),
		.time_ns = 1,
		.pid = h.pid,
		.tid = h.pid,
		.vma = (uintptr_t)code,
		.addr = (uintptr_t)code,
		.code_bytes = PLACES * PLACE_BYTES,
		.name = "bomb",
	};
	bool is_long = !strcmp(what, "jithole");
	unsigned int n = !strcmp(what, "records") ? 4000000 : 3;

	put(f, &h, sizeof(h));
	for (unsigned int i = 0; i < n; i++) {
		c.index = i;
		if (i == 2)
			c.bytes = is_long ? UINT32_MAX : !strcmp(what, "empty") ? 0 : c.bytes;
		if (i == 1 && !strcmp(what, "empty"))
			c.code_bytes = UINT64_MAX;
		put(f, &c, sizeof(c));
	}
	fflush(f);
	if (is_long && ftruncate(fileno(f), HOLE_BYTES))
		exit(1);
	/* By this the recorder knows of it. */
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0) == MAP_FAILED)
		exit(1);
}

static void end(int sig)
{
	(void)sig;
	unlink(path);
	_exit(0);
}

int main(int argc, char **argv)
{
	static const struct timespec nap = { .tv_nsec = 2000000 };
	static const char *const dumps[] = { "records", "empty", "jithole" };
	bool is_dump = false;
	FILE *f;

	if (argc != 3)
		return 2;
	make_code();
	for (size_t i = 0; i < sizeof(dumps) / sizeof(dumps[0]); i++)
		is_dump = is_dump || !strcmp(argv[1], dumps[i]);
	if (is_dump)
		snprintf(path, sizeof(path), "%s/jit-%d.dump", argv[2], getpid());
	else
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	signal(SIGTERM, end);
	f = fopen(path, "w+xe");
	if (!f)
		return 1;
	if (is_dump)
		write_dump(argv[1], f);
	else
		write_map(argv[1], f);
	if (fflush(f)) {
		unlink(path);
		return 1;
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		((void (*)(const struct timespec *))(uintptr_t)code)(&nap);
}
