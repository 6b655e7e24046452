/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.h - who the threads of the machine are and what each of them is doing, at one moment that
 * moves forward event by event, in the order of time. The flight recorder keeps this for the
 * beginning of its window, as what a trace says of the threads at its start; and, to see waits end,
 * for the present.
 *
 * What is not certain, because events were lost, is said to be unknown.
 */
#ifndef THREADS_H
#define THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "decode.h"

#define THREADS_NAME_LEN 16 /* with the terminator; as the kernel has them */

enum thread_doing {
	THREAD_UNKNOWN, /* also: ready to run, but not on a CPU */
	THREAD_RUNNING,
	THREAD_ASLEEP,
	THREAD_WOKEN, /* not yet back on a CPU */
};

struct thread {
	uint32_t tid, tgid; /* tgid 0: not known */
	uint64_t start_ns;  /* when it was created; 0: not known, long ago */
	uint64_t last_ns;   /* of its last event, or when it was looked at */
	uint64_t out_ns;    /* ASLEEP, WOKEN: since when it waits, or has at least been waiting */
	uint32_t kstack, ustack; /* ASLEEP, WOKEN: where it sleeps; 0: not known */
	uint32_t flags;		 /* CHAINLOG_THREAD_KTHREAD */
	uint8_t doing;		 /* enum thread_doing */
	char state;		 /* ASLEEP, WOKEN: as ps shows it */
	bool early;		 /* a waking came while it was still on its CPU */
	uint64_t listed_ns;	 /* when a listing of all threads had it last */
	char name[THREADS_NAME_LEN];
	uint32_t next; /* of the bucket, or of the free places */
};

/* A zeroed struct is an empty table. */
struct threads {
	struct thread *list; /* places with tid 0 are free */
	uint32_t n, cap, count, free_place;
	uint32_t *buckets, mask;
	uint64_t lost_ns; /* until then, events were lost */
};

void threads_free(struct threads *t);

/* NULL if it is not known. Valid until the next call that may add one. */
struct thread *threads_find(const struct threads *t, uint32_t tid);
/* Adds it, or takes the place of an older one with its tid. NULL when out of memory. */
struct thread *threads_add(struct threads *t, const struct thread *thread);
void threads_remove(struct threads *t, uint32_t tid);

/*
 * A listing of all threads, begun at listing_ns, has this one: notes that, and who it is if that
 * was not known. False if there is no such thread in the table.
 */
bool threads_listed(struct threads *t, const struct thread *listed, uint64_t listing_ns);
/* Removes what that listing did not have, unless something has happened to it since. */
void threads_drop_unlisted(struct threads *t, uint64_t listing_ns);

/* name: of the event's string, "" if it has none. Returns 0 or -ENOMEM. */
int threads_event(struct threads *t, const struct decoded_event *ev, const char *name);
/* Events up to last_ns are missing. */
void threads_lost(struct threads *t, uint64_t last_ns);
/* Whether it is certain what it is doing: nothing was lost since it was last seen. */
bool threads_certain(const struct threads *t, const struct thread *thread);

#endif /* THREADS_H */
