// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks like a JVM that takes commands: the program is called libjvm.so, and has its tables of
 * options; it runs code of its own making, and handles SIGQUIT. Who asks it for its perf map is
 *     silent     never answered: it does not listen,
 *     hangs      heard, and not answered,
 *     floods     answered without end,
 *     stops      stopped, as often as it is seen: who asks has its user;
 *     answers    answered, by a perf map.
 *
 *     libjvm.so WHAT       (cc -rdynamic -pthread -o libjvm.so)
 */
#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FILE_BYTES 8192u
#define NAP_US 2000

#if defined(__x86_64__)
/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
#elif defined(__aarch64__)
/* stp x29, x30, [sp, #-16]!; mov x29, sp; blr x0; ldp x29, x30, [sp], #16; ret */
static const unsigned int code[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0 };
#endif

/* ---- what HotSpot says of itself: where its options are -------------------------------------- */

struct struct_entry {
	const char *type, *field, *type_of_field;
	int is_static;
	unsigned long offset;
	const void *address;
};

struct type_entry {
	const char *name, *super;
	int is_oop, is_integer, is_unsigned;
	unsigned long size;
};

static bool on = true, off = false;

static const struct option {
	const bool *value;
	const char *name;
} options[] = {
	{ &on, "PreserveFramePointer" },
	{ &on, "UseCompiler" },
	{ &off, "DisableAttachMechanism" },
};

static const struct option *const flags = options;
static const unsigned long n_flags = 3;

static const struct struct_entry structs[] = {
	{ "JVMFlag", "flags", "JVMFlag*", 1, 0, &flags },
	{ "JVMFlag", "numFlags", "size_t", 1, 0, &n_flags },
	{ "JVMFlag", "_name", "const char*", 0, offsetof(struct option, name), NULL },
	{ "JVMFlag", "_addr", "void*", 0, offsetof(struct option, value), NULL },
	{ NULL, NULL, NULL, 0, 0, NULL },
};

static const struct type_entry types[] = {
	{ "JVMFlag", NULL, 0, 0, 0, sizeof(struct option) },
	{ NULL, NULL, 0, 0, 0, 0 },
};

__attribute__((visibility("default"), used)) const struct struct_entry *gHotSpotVMStructs = structs;
__attribute__((visibility("default"), used)) const struct type_entry *gHotSpotVMTypes = types;

/* ---- the program ----------------------------------------------------------------------------- */

static void nap(void)
{
	usleep(NAP_US);
}

static void ignore(int signal)
{
	(void)signal;
}

static struct sockaddr_un a = { .sun_family = AF_UNIX };
static char map[64];

static void end(int signal)
{
	(void)signal;
	unlink(a.sun_path);
	unlink(map);
	_exit(0);
}

/* As a JVM does: of its own code, a_java_function. */
static void write_map(const void *code_at)
{
	FILE *f = fopen(map, "w");

	if (!f)
		return;
	fprintf(f, "%lx %x a_java_function\n", (unsigned long)code_at, FILE_BYTES);
	fclose(f);
}

static const void *answers; /* where its code is */

static void *serve(void *floods)
{
	static const char text[65536] = "0\n";
	int s = socket(AF_UNIX, SOCK_STREAM, 0), client;

	unlink(a.sun_path);
	if (s < 0 || bind(s, (struct sockaddr *)&a, sizeof(a)) || listen(s, 8))
		exit(1);
	while ((client = accept(s, NULL, NULL)) >= 0)
		if (answers) {
			write_map(answers);
			send(client, text, 2, MSG_NOSIGNAL);
			close(client);
		} else {
			while (floods && send(client, text, sizeof(text), MSG_NOSIGNAL) > 0)
				;
		}
	return NULL;
}

static bool is_asker(const char *pid)
{
	char path[300], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	f = fopen(path, "r");
	if (f && !fgets(name, sizeof(name), f))
		*name = '\0';
	if (f)
		fclose(f);
	return !strncmp(name, "chaincap", 8);
}

static void *stop(void *none)
{
	for (;; usleep(20000)) {
		DIR *proc = opendir("/proc");
		struct dirent *d;

		while (proc && (d = readdir(proc)))
			if (isdigit((unsigned char)d->d_name[0]) && is_asker(d->d_name))
				kill(atoi(d->d_name), SIGSTOP);
		if (proc)
			closedir(proc);
	}
	return none;
}

int main(int argc, char **argv)
{
	void *made =
		mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*call)(void (*)(void));
	pthread_t thread;

	if (argc < 2 || made == MAP_FAILED)
		return 1;
	prctl(PR_SET_NAME, "java");
	signal(SIGQUIT, ignore);
	snprintf(a.sun_path, sizeof(a.sun_path), "/tmp/.java_pid%d", (int)getpid());
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", (int)getpid());
	signal(SIGTERM, end);
	memcpy(made, code, sizeof(code));
	if (mprotect(made, FILE_BYTES, PROT_READ | PROT_EXEC))
		return 1;
	__builtin___clear_cache((char *)made, (char *)made + sizeof(code));
	memcpy(&call, &made, sizeof(call));
	if (!strcmp(argv[1], "answers"))
		answers = made;
	if (answers || !strcmp(argv[1], "hangs") || !strcmp(argv[1], "floods"))
		pthread_create(&thread, NULL, serve, argv[1][0] == 'f' ? made : NULL);
	if (!strcmp(argv[1], "stops"))
		pthread_create(&thread, NULL, stop, NULL);
	for (;;)
		call(nap);
}
