/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debuginfod_ask.h - asks the debuginfod servers in DEBUGINFOD_URLS for debug files by build ID,
 * through libdebuginfod, which is loaded when it is first needed: neither the build nor a program's
 * start depends on it. The library keeps what it fetches in its cache.
 */
#ifndef DEBUGINFOD_ASK_H
#define DEBUGINFOD_ASK_H

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* libdebuginfod's own, which is opaque. */
struct debuginfod_client;

typedef int (*debuginfod_find)(struct debuginfod_client *c, const unsigned char *build_id, int len,
			       char **path);

struct debuginfod_asker {
	struct debuginfod_client *client;
	debuginfod_find find_debuginfo, find_executable;
	void (*end)(struct debuginfod_client *c);
	time_t deadline; /* CLOCK_MONOTONIC, s */
};

static inline time_t debuginfod_ask_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static inline bool debuginfod_ask_wanted(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls;
}

/* The library has no way to pass anything to its progress function but its client. */
static inline struct debuginfod_asker **debuginfod_ask_current(void)
{
	static struct debuginfod_asker *current;

	return &current;
}

/* Called by the library several times a second; nonzero ends the request. */
static inline int debuginfod_ask_progress(struct debuginfod_client *c, long done, long total)
{
	(void)c;
	(void)done;
	(void)total;
	return debuginfod_ask_now() >= (*debuginfod_ask_current())->deadline;
}

static inline void debuginfod_ask_close(struct debuginfod_asker *a)
{
	if (a->client)
		a->end(a->client);
	/* The library stays: what it loaded itself does not free all that it allocated. */
	*a = (struct debuginfod_asker) { .client = NULL };
}

/*
 * Begins; all requests together may take that many seconds. Returns 0; -ENOENT if DEBUGINFOD_URLS
 * names no server; -ENOSYS if there is no libdebuginfod; -ENOMEM. To be closed in the first case.
 */
static inline int debuginfod_ask_open(struct debuginfod_asker *a, unsigned int seconds)
{
	struct debuginfod_client *(*begin)(void);
	void *library;
	void (*set_progress)(struct debuginfod_client * c,
			     int (*fn)(struct debuginfod_client * c, long done, long total));

	*a = (struct debuginfod_asker) { .deadline = debuginfod_ask_now() + (time_t)seconds };
	if (!debuginfod_ask_wanted())
		return -ENOENT;
	library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return -ENOSYS;
	/* As POSIX has it, for pointers to functions. */
	*(void **)&begin = dlsym(library, "debuginfod_begin");
	*(void **)&set_progress = dlsym(library, "debuginfod_set_progressfn");
	*(void **)&a->end = dlsym(library, "debuginfod_end");
	*(void **)&a->find_debuginfo = dlsym(library, "debuginfod_find_debuginfo");
	*(void **)&a->find_executable = dlsym(library, "debuginfod_find_executable");
	if (!begin || !set_progress || !a->end || !a->find_debuginfo || !a->find_executable) {
		debuginfod_ask_close(a);
		return -ENOSYS;
	}
	a->client = begin();
	if (!a->client) {
		debuginfod_ask_close(a);
		return -ENOMEM;
	}
	set_progress(a->client, debuginfod_ask_progress);
	return 0;
}

/*
 * The debug file (or the program itself, which has symbols if it was not stripped) with that build
 * ID of len bytes. Returns a descriptor to close, or a negative errno: -ENOENT if no server has it,
 * -ETIMEDOUT if the time is used up.
 */
static inline int debuginfod_ask(struct debuginfod_asker *a, const uint8_t *build_id, int len,
				 bool program)
{
	if (debuginfod_ask_now() >= a->deadline)
		return -ETIMEDOUT;
	*debuginfod_ask_current() = a;
	return (program ? a->find_executable : a->find_debuginfo)(a->client, build_id, len, NULL);
}

#endif /* DEBUGINFOD_ASK_H */
