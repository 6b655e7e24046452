// SPDX-License-Identifier: GPL-2.0-or-later
/* The process that forks helpers, shares out memory among them, and ends them. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "helper_private.h"
#include "kernel/caps.h"
#include "kernel/clock.h"
#include "kernel/host_proc.h"
#include "kernel/nice.h"

/* A recorder has some dozen helpers at a time. */
#define RUNNING_MAX 32u
/* For so long others wait until one that was killed has given back what it had. */
#define ROOM_MS 200
/* With less a helper can read next to no file. */
#define LEAST_BYTES (4u << 20)

struct forking {
	enum helpers_rights rights;
	struct tally tally;
	uint64_t memory_bytes; /* for all helpers together */
	uint64_t own_bytes;    /* of address space, which each fork has from the beginning */
	sigset_t mask;	       /* of helpers */
	/* Those that were started and not waited for yet: only then their memory is free. */
	struct {
		pid_t pid;
		uint64_t id;
		uint64_t bytes; /* that it may take; 0: as many as it likes */
		bool is_ending; /* it was killed, */
		uint64_t since_ns;
		uint64_t key; /* because it may hang in that; 0: for another reason */
	} list[RUNNING_MAX + HANGING_MAX];
	uint32_t n;
};

/* ---- helpers that end ----------------------------------------------------------------------- */

/* Says in what those hang that were late. */
static void tell_hanging(const struct forking *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n && n < HANGING_MAX; i++) {
		if (!f->list[i].is_ending || !f->list[i].key)
			continue;
		f->tally.hanging[n].since_ns = f->list[i].since_ns;
		f->tally.hanging[n++].key = f->list[i].key;
	}
	while (n < HANGING_MAX)
		f->tally.hanging[n++].key = 0;
}

static void reap(struct forking *f)
{
	uint32_t n = f->n;

	for (uint32_t i = 0; i < f->n;) {
		if (waitpid(f->list[i].pid, NULL, WNOHANG))
			f->list[i] = f->list[--f->n];
		else
			i++;
	}
	if (f->n < n)
		tell_hanging(f);
}

/* What no file backs of a process, in bytes: proc_pid_statm(5). It has ended: 0. */
static uint64_t taken_bytes(pid_t pid)
{
	unsigned long resident = 0, shared = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	f = host_proc_has_own_ids() ? fopen(path, "re") : NULL;
	if (f && fscanf(f, "%*u %lu %lu", &resident, &shared) != 2)
		resident = shared = 0;
	if (f)
		fclose(f);
	return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* One that hangs in a file system keeps what it has; none of them takes more. */
static void kill_one(struct forking *f, uint32_t i)
{
	uint64_t bytes;

	kill(f->list[i].pid, SIGKILL);
	if (!f->list[i].is_ending)
		f->list[i].since_ns = clock_now_ns();
	f->list[i].is_ending = true;
	bytes = taken_bytes(f->list[i].pid);
	if (bytes < f->list[i].bytes)
		f->list[i].bytes = bytes;
}

static void kill_all(struct forking *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		kill_one(f, i);
}

/* Nothing ends one that hangs in a file system (call_timeout.h). */
static bool hangs(const struct forking *f, uint32_t i)
{
	return f->list[i].is_ending && clock_now_ns() - f->list[i].since_ns > HELPER_ENDS_NS;
}

/*
 * Waits for those that were killed, but not for those that hang. False if one is still there after
 * that time.
 */
static bool wait_for_killed(struct forking *f, int wait_ms)
{
	for (int ms = 0;; ms++) {
		bool is_one_left = false;

		reap(f);
		for (uint32_t i = 0; i < f->n; i++)
			is_one_left |= f->list[i].is_ending && !hangs(f, i);
		if (!is_one_left || ms >= wait_ms)
			return !is_one_left;
		(void)ppoll(NULL, 0, &(struct timespec) { .tv_nsec = 1000000 }, NULL);
	}
}

static uint32_t count_ending(const struct forking *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n; i++)
		n += f->list[i].is_ending;
	return n;
}

/* For another one. False: there is none, as so many hang. */
static bool make_place(struct forking *f)
{
	if (count_ending(f) >= HANGING_MAX)
		(void)wait_for_killed(f, ROOM_MS);
	if (f->n - count_ending(f) >= RUNNING_MAX) {
		kill_all(f);
		(void)wait_for_killed(f, ROOM_MS);
	}
	return count_ending(f) < HANGING_MAX;
}

/* ---- memory --------------------------------------------------------------------------------- */

static uint64_t granted_bytes(const struct forking *f)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < f->n; i++)
		bytes += f->list[i].bytes;
	return bytes;
}

/* Ends the helper that may take the most, whatever it does. False: there is none. */
static bool give_up_largest(struct forking *f)
{
	uint32_t most = f->n;

	for (uint32_t i = 0; i < f->n; i++)
		if (!f->list[i].is_ending && f->list[i].bytes &&
		    (most == f->n || f->list[i].bytes > f->list[most].bytes))
			most = i;
	if (most == f->n)
		return false;
	(*f->tally.given_up)++;
	kill_one(f, most);
	return true;
}

static bool has_room(struct forking *f, uint64_t bytes)
{
	return granted_bytes(f) + bytes <= f->memory_bytes;
}

/* Until so many bytes are left. False: that cannot be. */
static bool make_room(struct forking *f, uint64_t bytes)
{
	if (!has_room(f, bytes))
		(void)wait_for_killed(f, ROOM_MS);
	while (!has_room(f, bytes) && give_up_largest(f))
		(void)wait_for_killed(f, ROOM_MS);
	return has_room(f, bytes);
}

/* What the next helper of that kind may take. 0: there is nothing. */
static uint64_t grant(struct forking *f, const struct helper_kind *kind)
{
	uint64_t part;

	/* So that there is always some for another one. */
	if (!make_room(f, kind->memory_parts * (uint64_t)LEAST_BYTES)) {
		(*f->tally.given_up)++;
		return 0;
	}
	part = (f->memory_bytes - granted_bytes(f)) / kind->memory_parts;
	return part < kind->memory_bytes ? part : kind->memory_bytes;
}

/* The size of this process's address space. */
static uint64_t address_space(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (f && fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- helpers -------------------------------------------------------------------------------- */

/* Of a helper: struct tally's, until it has said so. */
static _Atomic uint32_t *short_of;

static void tell_shortage(void)
{
	if (errno != ENOMEM || !short_of)
		return;
	(*short_of)++;
	short_of = NULL;
}

void helper_serve(int socket, void (*take)(int socket, void *message, size_t len, int fd))
{
	static _Alignas(max_align_t) uint8_t message[HELPER_MESSAGE_MAX];
	ssize_t n;
	int fd;

	while ((n = sandbox_receive(socket, message, sizeof(message), &fd)) > 0) {
		errno = 0;
		take(socket, message, (size_t)n, fd);
		tell_shortage();
	}
}

void helper_fail(void)
{
	tell_shortage();
	_exit(1);
}

/* ---- helpers that begin --------------------------------------------------------------------- */

static _Noreturn void become(const struct forking *f, const struct order *o, int socket,
			     uint64_t bytes)
{
	struct hello hello = { getpid() };
	const struct sched_param none = { 0 };

	sigprocmask(SIG_SETMASK, &f->mask, NULL);
	prctl(PR_SET_NAME, o->kind->name);
	/* Before it is low: who knows its id can make it hurry. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) ||
	    sandbox_send(socket, &hello, sizeof(hello), -1) != sizeof(hello) ||
	    munmap(f->tally.given_up, TALLY_BYTES) || munmap(f->tally.hanging, TALLY_BYTES))
		_exit(1);
	short_of = f->tally.short_of;
	if (o->is_low)
		sched_setscheduler(0, SCHED_IDLE, &none);
	if (f->rights == HELPERS_NO_RIGHTS) {
		sandbox_limit(f->own_bytes + bytes, o->kind->cpu_seconds);
		if (!sandbox_seal(false))
			_exit(1);
	}
	o->kind->serve(socket);
	_exit(0);
}

static void start(struct forking *f, const struct order *o, int socket)
{
	uint64_t bytes = 0;
	pid_t pid;

	if (!make_place(f)) {
		(*f->tally.given_up)++;
		return;
	}
	if (f->rights == HELPERS_NO_RIGHTS) {
		bytes = grant(f, o->kind);
		if (!bytes)
			return;
	}
	pid = fork();
	if (!pid) {
		close(SANDBOX_SOCKET);
		become(f, o, socket, bytes);
	}
	if (pid < 0)
		return;
	f->list[f->n].pid = pid;
	f->list[f->n].id = o->id;
	f->list[f->n].is_ending = false;
	f->list[f->n].key = 0;
	f->list[f->n++].bytes = bytes;
}

/* ---- orders --------------------------------------------------------------------------------- */

static bool give_up_rights(int socket, enum helpers_rights rights)
{
	if (rights == HELPERS_NO_RIGHTS)
		return sandbox_enter("chaincap-readers", socket, false) && sandbox_seal(true);
	if (rights == HELPERS_BECOME_USERS)
		return sandbox_enter("chaincap-users", socket, true) && !caps_drop_to_become();
	/* The recorder waits for it, and it does little. Not permitted: then it takes its time. */
	(void)setpriority(PRIO_PROCESS, 0, NICE_HIGHEST);
	return sandbox_enter("chaincap-opener", socket, true) && !caps_drop_to_open();
}

static void interrupt_wait(int signal)
{
	(void)signal;
}

/* From now on SIGCHLD comes only while next_order() waits. *mask: that of before. */
static bool hold_sigchld(sigset_t *mask)
{
	const struct sigaction act = { .sa_handler = interrupt_wait };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	return !sigaction(SIGCHLD, &act, NULL) && !sigprocmask(SIG_BLOCK, &child, mask);
}

/* Waits for an order, and for helpers that end meanwhile, however long no order comes. */
static bool next_order(struct forking *f, struct order *order, int *fd)
{
	struct pollfd in = { .fd = SANDBOX_SOCKET, .events = POLLIN };
	sigset_t waiting = f->mask;

	sigdelset(&waiting, SIGCHLD);
	while (ppoll(&in, 1, NULL, &waiting) < 0 && errno == EINTR)
		reap(f);
	return sandbox_receive(SANDBOX_SOCKET, order, sizeof(*order), fd) == sizeof(*order);
}

_Noreturn void forking_run(int socket, enum helpers_rights rights, const struct tally *tally,
			   uint64_t memory_bytes)
{
	struct forking f = { .rights = rights, .tally = *tally, .memory_bytes = memory_bytes };
	struct hello hello = { getpid() };
	struct order order;
	int fd;

	f.own_bytes = address_space();
	if (!hold_sigchld(&f.mask) || !give_up_rights(socket, rights) ||
	    sandbox_send(SANDBOX_SOCKET, &hello, sizeof(hello), -1) != sizeof(hello))
		_exit(1);
	while (next_order(&f, &order, &fd)) {
		reap(&f);
		switch (order.what) {
		case ORDER_START:
			if (fd >= 0)
				start(&f, &order, fd);
			break;
		case ORDER_END:
			for (uint32_t i = 0; i < f.n; i++)
				if (f.list[i].id == order.id) {
					f.list[i].key = order.key;
					kill_one(&f, i);
					tell_hanging(&f);
				}
			break;
		case ORDER_MEMORY:
			f.memory_bytes = order.memory_bytes;
			(void)make_room(&f, 0);
			break;
		}
		if (fd >= 0)
			close(fd);
	}
	/* Only what those without rights have used is to be known. */
	kill_all(&f);
	(void)wait_for_killed(&f, rights == HELPERS_NO_RIGHTS ? END_MS : 0);
	_exit(0);
}
