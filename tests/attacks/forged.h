/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forged.h - what programs have in common that look like an interpreter and lie in its structs:
 * NAME WHAT. Their main thread sleeps and wakes for ever; "forged" is printed when it begins. WHAT,
 * for each of them, is in its lie(); and "race": another thread changes everything meanwhile.
 */
#pragma once

#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* Files with little code are not looked at: no interpreter is so small. */
__asm__(".section .text.padding, \"ax\"\n.fill 4 << 20\n.previous");

static const char *what;

/* Each program's own: makes the structs; changes them by what; runs wait() in what looks like the
 * evaluator. */
static void forge(void);
static void lie(void);
static void evaluate(void (*wait)(void));

static inline void put(void *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* size bytes of zeros, at a page's beginning. */
static inline void *forged_room(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(1);
	return at;
}

static void *change(void *unused)
{
	static const char *const lies[] = { "loop", "wild", "long", "control" };

	(void)unused;
	for (unsigned int i = 0;; i++) {
		what = lies[i % 4];
		lie();
		if (!(i % 16))
			forge();
	}
	return NULL;
}

static void wait_once(void)
{
	usleep(200);
}

/* What main() does once there is room for what is forged. */
static int forged_run(int argc, char **argv)
{
	bool races = argc > 1 && !strcmp(argv[1], "race");
	pthread_t other;

	what = argc > 1 ? argv[1] : "";
	forge();
	puts("forged");
	fflush(stdout);
	if (races && pthread_create(&other, NULL, change, NULL))
		return 1;
	for (;;) {
		if (!races)
			lie();
		evaluate(wait_once);
	}
}
