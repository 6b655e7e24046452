/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.h - the table of all threads of the machine: identity and state at one moment, which
 * moves forward event by event. The flight recorder keeps one for the beginning of its window (the
 * threads that a trace begins with), and its trigger one for the present (to see waits end).
 *
 * After lost events the state of a thread is unknown until its next event.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/event_block.h"
#include "common/id_index.h"

#define THREADS_NAME_LEN 16 /* with the terminator; as the kernel has them */

enum thread_doing {
	THREAD_UNKNOWN, /* or runnable, but not on a CPU */
	THREAD_RUNNING,
	THREAD_ASLEEP,
	THREAD_WOKEN, /* woken, not yet on a CPU */
};

struct thread_state {
	uint32_t tid, tgid;	 /* tgid 0: not known */
	uint64_t start_ns;	 /* when it was created; 0: not known, long ago */
	uint64_t last_ns;	 /* of its last event or listing */
	uint64_t out_ns;	 /* ASLEEP, WOKEN: when the wait began, or was first seen */
	uint32_t kstack, ustack; /* ASLEEP, WOKEN: where it sleeps; 0: not known */
	uint32_t object;	 /* ASLEEP, WOKEN: what for; 0: not known */
	uint32_t holder;	 /* ASLEEP, WOKEN: tid of who has that, a lock; 0: not known */
	uint32_t group;		 /* its control group, an object; 0: not known */
	uint32_t own_id;	 /* of a process, in its own PID namespace; 0: as tid */
	uint32_t flags;		 /* CHAINLOG_THREAD_KTHREAD */
	uint8_t doing;		 /* enum thread_doing */
	char state;		 /* ASLEEP, WOKEN: as ps shows it */
	bool early;		 /* woken while still on its CPU */
	uint64_t listed_ns;	 /* when the last listing that contains it began */
	char name[THREADS_NAME_LEN];
	uint32_t next; /* free place */
};

/* A zeroed struct is an empty table. */
struct threads {
	struct thread_state *list; /* places with tid 0 are free */
	uint32_t n, free_place;
	size_t cap;
	struct id_index index; /* places by tid, from 1 */
	uint64_t lost_ns;      /* the last event that was lost */
	uint64_t moves_ns;     /* moves to other control groups are missing up to then */
	/* The last switch: an event that says what its thread waits for comes right after it. */
	uint64_t switched_ns;
	uint32_t switched_cpu, switched_tid;
};

void threads_free(struct threads *t);

/* NULL: unknown. Valid until the next call that may add a thread. */
struct thread_state *threads_find(const struct threads *t, uint32_t tid);
/* Adds it, replacing an older thread of the same tid. NULL when out of memory. */
struct thread_state *threads_add(struct threads *t, const struct thread_state *thread);
void threads_remove(struct threads *t, uint32_t tid);

/*
 * Notes that the listing of all threads that began at listing_ns contains this thread, and fills in
 * its identity if that is unknown. False if the table has no such thread.
 */
bool threads_listed(struct threads *t, const struct thread_state *listed, uint64_t listing_ns);
/* Removes threads that this listing does not contain and that had no event since. */
void threads_drop_unlisted(struct threads *t, uint64_t listing_ns);

/* Applies an event. name: text of its string, "" for none. Returns 0 or -ENOMEM. */
int threads_event(struct threads *t, const struct event *ev, const char *name);
/* The control group that is called old has got another name, and with it another object. */
void threads_rename_group(struct threads *t, uint32_t old, uint32_t group);
/* Events were lost, the last at last_ns. */
void threads_lost(struct threads *t, uint64_t last_ns);
/* Whether its state is certain: nothing was lost since its last event. */
bool threads_certain(const struct threads *t, const struct thread_state *thread);
