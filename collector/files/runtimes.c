// SPDX-License-Identifier: GPL-2.0-or-later
#include "runtimes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "helper/call_timeout.h"
#include "kernel/host_proc.h"

#define NO_JAVA_NAMES "Java functions have no names"
#define NODE_OPTIONS "NODE_OPTIONS=\"--perf-basic-prof --interpreted-frames-native-stack\""

static const struct runtime runtimes[] = {
	{
		.files = { "libjvm.so" },
		.is_jvm = true,
		.names = { NO_JAVA_NAMES, "chaincap --java-maps" },
		.callers = { "compiled Java frames are missing", "-XX:+PreserveFramePointer" },
	},
	{
		.files = { "node", "nodejs", "libnode.so" },
		.names = { "JavaScript functions have no names", NODE_OPTIONS },
		.interpreter = "Builtins_InterpreterEntryTrampoline",
		.map_option = "--perf-basic-prof",
		.interpreted_option = "--interpreted-frames-native-stack",
		.interpreted_mark = ":~", /* "JS:~f", before Node.js 20 "LazyCompile:~f" */
		.interpreted = { "JavaScript functions that are not compiled have no names",
				 NODE_OPTIONS },
	},
};

const struct runtime_lack runtime_stale_map = {
	"the perf map is older than the process, and was ignored",
	NULL,
};

const struct runtime_lack runtime_32bit = {
	"callers are missing: 32-bit programs are unwound by frame pointers only",
	"-fno-omit-frame-pointer",
};

const struct runtime_lack runtime_java_map[JAVA_MAP_RESULTS] = {
	[JAVA_MAP_GONE] = { NO_JAVA_NAMES, "the JVM has ended: -XX:+UnlockDiagnosticVMOptions "
					   "-XX:+DumpPerfMapAtExit" },
	[JAVA_MAP_NO_RIGHTS] = { NO_JAVA_NAMES,
				 "--java-maps needs CAP_SETUID, CAP_SETGID and CAP_SYS_CHROOT" },
	[JAVA_MAP_REFUSED] = { NO_JAVA_NAMES, "the JVM takes no commands" },
	[JAVA_MAP_NO_COMMAND] = { NO_JAVA_NAMES,
				  "only JVMs of JDK 17 and later can write a perf map" },
	[JAVA_MAP_SILENT] = { NO_JAVA_NAMES, "the JVM did not write its perf map in time" },
};

/* A library's may have a version: "libnode.so.108". */
static bool is_named(const char *base, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(base, name, len) && (!base[len] || (base[len] == '.' && strchr(name, '.')));
}

const struct runtime *runtime_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		for (size_t k = 0; k < 3 && runtimes[i].files[k]; k++)
			if (is_named(base, runtimes[i].files[k]))
				return &runtimes[i];
	return NULL;
}

const struct runtime_lack *runtime_bare_library(const char *path)
{
	static const struct runtime_lack musl = {
		"callers of C library functions are missing: musl has no call frame information",
		"built with -fno-omit-frame-pointer only the innermost one is",
	};
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	/* Debian's and Alpine's; it is the dynamic loader, too. */
	return !strncmp(base, "ld-musl-", 8) ? &musl : NULL;
}

/* ---- in a process that may hang: the other may hold the lock of its mappings ----------------- */

/* More than the kernel allows by default. */
#define TEXT_MAX_BYTES (4u << 20)
#define OPTION_MAX 64u

struct question {
	uint32_t tgid;
	bool is_known, has_it; /* out */
	char option[OPTION_MAX];
};

/* V8 takes both for its options. */
static bool is_option(const char *p, const char *option)
{
	while (*option && (*p == *option || (*option == '-' && *p == '_'))) {
		p++;
		option++;
	}
	return !*option;
}

static void look_in(struct question *q, const char *file)
{
	size_t len = strnlen(q->option, OPTION_MAX), kept = 0, read_bytes = 0;
	char text[4096 + OPTION_MAX];
	ssize_t n;
	int fd;

	fd = open(host_proc_name(q->tgid, file).text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	q->is_known = true;
	while (!q->has_it && read_bytes < TEXT_MAX_BYTES && (n = read(fd, text + kept, 4096)) > 0) {
		size_t have = kept + (size_t)n;

		read_bytes += (size_t)n;
		for (size_t i = 0; i + len <= have && !q->has_it; i++)
			q->has_it = is_option(text + i, q->option);
		kept = have < len - 1 ? have : len - 1;
		memmove(text, text + have - kept, kept);
	}
	close(fd);
}

static int run_question(void *data, int none)
{
	struct question *q = data;

	(void)none;
	look_in(q, "cmdline");
	look_in(q, "environ");
	return -1;
}

bool runtime_has_option(uint32_t tgid, const char *option)
{
	struct question q = { .tgid = tgid };
	int none;

	snprintf(q.option, sizeof(q.option), "%s", option);
	return call_with_timeout(run_question, call_key_process(tgid), &q, sizeof(q), -1, &none) ||
	       !q.is_known || q.has_it;
}

static int run_memory(void *data, int none)
{
	(void)none;
	return open(host_proc_name(*(uint32_t *)data, "mem").text, O_RDONLY | O_CLOEXEC);
}

int runtime_memory(uint32_t tgid)
{
	int fd, err = call_with_timeout(run_memory, call_key_process(tgid), &tgid, sizeof(tgid), -1,
					&fd);

	return err ? err : fd < 0 ? -EACCES : fd;
}
