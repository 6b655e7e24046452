// SPDX-License-Identifier: GPL-2.0-or-later
#include "call_timeout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "helper.h"
#include "wait_budget.h"

/* A new process gets a CPU in this time, however busy the machine is. */
#define BEGIN_NS 1000000000u
/* Helpers that hang at the same time. */
#define LATE_MAX 16u

/* Forks have the same addresses, so a function's is as good there. */
struct message {
	call_fn fn;
	uint8_t data[CALL_MAX_BYTES];
};
#define HEAD_BYTES offsetof(struct message, data)
_Static_assert(sizeof(struct message) <= HELPER_MESSAGE_MAX, "a message fits");

/* The helpers: one that is free, and those that were late. */
static struct {
	struct helpers *helpers; /* NULL: not started */
	pid_t owner;		 /* whose free is: a fork of it starts its own */
	struct helper free;
	struct {
		struct helper helper; /* not running: it does not hang any more */
		uint64_t key;
	} late[LATE_MAX];
	struct wait_budget budget;
} all;

/* ---- the helper ---------------------------------------------------------------------------- */

static void take(int socket, void *message, size_t len, int fd)
{
	struct message *m = message;
	int out = m->fn(m->data, fd);

	if (fd >= 0)
		close(fd);
	if (sandbox_send(socket, m, len, out) != (ssize_t)len)
		_exit(1);
	if (out >= 0)
		close(out);
}

static void serve(int socket)
{
	helper_serve(socket, take);
}

static const struct helper_kind opener = { .name = "chaincap-opener", .serve = serve };

/* ---- the recorder -------------------------------------------------------------------------- */

int call_timeout_start(void)
{
	all.owner = getpid();
	return helpers_start(&all.helpers, HELPERS_MAY_OPEN);
}

int call_timeout_pid(void)
{
	return all.helpers && all.owner == getpid() ? helpers_pid(all.helpers) : 0;
}

static void end_helpers(void)
{
	helper_end(&all.free);
	for (uint32_t i = 0; i < LATE_MAX; i++)
		helper_end(&all.late[i].helper);
}

void call_timeout_begin_end(void)
{
	end_helpers();
	helpers_begin_stop(all.helpers);
}

void call_timeout_end(void)
{
	end_helpers();
	helpers_free(all.helpers);
	all.helpers = NULL;
}

static int start_helper(void)
{
	int err = helper_start(&all.free, all.helpers, &opener, HELPER_USUAL);

	if (!err)
		err = helper_wait_begun(&all.free, BEGIN_NS);
	if (err)
		helper_end(&all.free);
	return err ? -EPIPE : 0;
}

/* A place in all.late for a call that may come to need it; or a negative errno. */
static int find_place(uint64_t key)
{
	static struct message m;
	int place = -EBUSY;

	for (int i = 0; i < (int)LATE_MAX; i++) {
		struct helper *h = &all.late[i].helper;
		int fd = -1;

		/* One that was late: nobody wants its answer. */
		if (h->all && helper_receive(h, &m, sizeof(m), &fd, 0) != -EAGAIN)
			helper_end(h);
		if (fd >= 0)
			close(fd);
		if (h->all && all.late[i].key == key)
			return -ETIMEDOUT;
		if (!h->all)
			place = i;
	}
	return place;
}

int call_with_timeout(call_fn fn, uint64_t key, void *data, size_t bytes, int fd, int *out)
{
	static struct message m;
	ssize_t n, len = (ssize_t)(HEAD_BYTES + bytes);
	uint64_t wait_ns;
	int place, err;

	*out = -1;
	if (!all.helpers) {
		*out = fn(data, fd);
		return 0;
	}
	if (all.owner != getpid()) {
		end_helpers();
		all.owner = getpid();
	}
	place = find_place(key);
	if (place < 0)
		return place;
	err = all.free.all ? 0 : start_helper();
	if (err)
		return err;
	m.fn = fn;
	memcpy(m.data, data, bytes);
	wait_ns = wait_budget_now(&all.budget);
	n = helper_send(&all.free, &m, (size_t)len, fd);
	if (!n)
		n = helper_receive(&all.free, &m, sizeof(m), out, wait_ns);
	wait_budget_spend(&all.budget);
	if (n == -EAGAIN) {
		all.late[place].helper = all.free;
		all.late[place].key = key;
		all.free = (struct helper) { 0 };
		return -ETIMEDOUT;
	}
	if (n != len) {
		helper_end(&all.free);
		return -EPIPE;
	}
	memcpy(data, m.data, bytes);
	return 0;
}
