/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper.h - processes that do for the recorder what it must not do itself: read what strangers
 * wrote (they have no rights: sandbox.h), or make system calls that may hang (call_timeout.h).
 *
 * Helpers are forked, when one is needed, from a process that was started before the recording
 * (struct helpers), and so have nothing of it in memory or open. The recorder and a helper send
 * each other messages, over a socket that is all that the helper has. No call here waits for longer
 * than the caller says, or for a second where it says nothing. A helper that does not answer is
 * ended, by SIGKILL, and another one is started: that is for the caller to decide.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox.h"

struct helpers;

enum helpers_rights {
	HELPERS_NO_RIGHTS, /* a user of their own, no capabilities, few system calls: see sandbox.h
			    */
	HELPERS_MAY_OPEN,  /* user and capabilities that opening files takes, all system calls */
	HELPERS_BECOME_USERS, /* user and capabilities that it takes to become other users */
};

/* What a helper does. Static, as it is passed by its address: forks have the same ones. */
struct helper_kind {
	const char *name;	   /* of the process, at most 15 bytes */
	uint64_t memory_bytes;	   /* its bounds, where it has no rights: this, */
	unsigned int cpu_seconds;  /* and this */
	void (*serve)(int socket); /* answers until the recorder closes the socket */
	unsigned int memory_parts; /* nor may it take more than such a part of what is left */
};

#define HELPER_MESSAGE_MAX (33u << 10)

/* A serve function's work: passes each message to take, with the descriptor that came, or -1. */
void helper_serve(int socket, void (*take)(int socket, void *message, size_t len, int fd));
/* Ends a helper that cannot go on. That memory is what it lacks is known by errno. */
_Noreturn void helper_fail(void);

/*
 * Starts the process that forks helpers with these rights. Call it before anything secret is open
 * or in memory. Returns 0, and *out to be freed; or a negative errno.
 */
int helpers_start(struct helpers **out, enum helpers_rights rights);
/* Why helpers_start() returned err for helpers without rights: static text, or strerror()'s. */
const char *helpers_refusal(int err);
/*
 * Tells all helpers to end, also those in use; no new ones can be started. Where there are several
 * sets, all are told before helpers_stop() waits for one of them. NULL is allowed.
 */
void helpers_begin_stop(struct helpers *all);
/*
 * Ends all helpers, also those in use; no new ones can be started. Returns the CPU time that all of
 * them took, in ns. In a fork of the process that started them it ends none. NULL is allowed.
 */
uint64_t helpers_stop(struct helpers *all);
/* Stops and frees. Nothing may use it any more. NULL is allowed. */
void helpers_free(struct helpers *all);

/* What all helpers without rights together may take, in bytes of memory, unless that is changed. */
#define HELPERS_MEMORY (256u << 20)
/*
 * Changes that. Who asks for a helper when there is none left, or less than there was, has the one
 * ended that may take the most.
 */
void helpers_memory(struct helpers *all, uint64_t bytes);
/* How many helpers were ended so, not started, or could not read a file for want of memory. */
uint32_t helpers_given_up(const struct helpers *all);

/* The id of the process from which the others are forked. */
int helpers_pid(const struct helpers *all);

enum helper_priority {
	HELPER_FOLLOWS, /* that of the thread that waits for it, whenever that changes */
	HELPER_USUAL,	/* that of the recorder before it raised its own */
};

/* One helper; zeroed, it is not running. */
struct helper {
	struct helpers *all; /* NULL: not running */
	uint64_t id;	     /* that no other has, also none of a fork of the recorder */
	int socket;
	pid_t pid; /* 0: it has not begun */
	bool follows, is_low;
	int nice;
};

/*
 * Returns 0 or a negative errno: -ENOTSUP if all is NULL or was stopped; -EBUSY as long as somebody
 * stops helpers by signals.
 */
int helper_start(struct helper *h, struct helpers *all, const struct helper_kind *kind,
		 enum helper_priority priority);
/* Ends the process, wherever it is. Nothing happens if it is not running. */
void helper_end(struct helper *h);
/* Ends one that was late: it may hang in what key says (call_timeout.h); 0: it does not. */
void helper_end_late(struct helper *h, uint64_t key);
/*
 * Whether one hangs there: it was ended so more than a second ago, by this process or a fork of it,
 * and is still there. Then no other one is to be sent there. all may be NULL.
 */
bool helpers_hang(const struct helpers *all, uint64_t key);

/* Sends a message, with fd if it is not -1, which stays the caller's. Returns 0 or -EPIPE. */
int helper_send(struct helper *h, const void *message, size_t len, int fd);
/*
 * Receives the next message, of at most size bytes. *fd: the descriptor that came with it, to be
 * closed, or -1; with fd NULL none may come. Waits for at most wait_ns, and shorter for a helper
 * that uses no CPU for seconds. Returns its length; -EAGAIN: there was none; or -EPIPE: the helper
 * has ended, or somebody has stopped it by a signal and does not let it go on.
 */
ssize_t helper_receive(struct helper *h, void *message, size_t size, int *fd, uint64_t wait_ns);
/* Waits until it runs, for at most wait_ns. 0; -EAGAIN; or -EPIPE. */
int helper_wait_begun(struct helper *h, uint64_t wait_ns);

/* The CPU time that it has used, in ns; 0: not known. */
uint64_t helper_cpu_ns(const struct helper *h);
/* Gives it that nice value, if that is permitted. */
void helper_set_nice(struct helper *h, int nice);
