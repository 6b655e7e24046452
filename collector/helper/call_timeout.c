// SPDX-License-Identifier: GPL-2.0-or-later
#include "call_timeout.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "helper.h"
#include "wait_budget.h"

/* A new process gets a CPU in this time, however busy the machine is. */
#define BEGIN_NS 1000000000u
/* Helpers that hang at the same time. */
#define LATE_MAX 16u
/* An answer that comes late is kept for so long, unless its place is needed. */
#define KEPT_NS 2000000000u

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
		uint64_t key, asked_ns;
		call_fn fn; /* its answer is wanted later, too; NULL: it is not */
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

/* Ends one that was late, and has answered. */
static void drop_answer(uint32_t i)
{
	static struct message m;
	struct helper *h = &all.late[i].helper;
	int fd = -1;

	if (h->all && helper_receive(h, &m, sizeof(m), &fd, 0) != -EAGAIN)
		helper_end(h);
	if (fd >= 0)
		close(fd);
}

/* Whether its answer, if there is one, may still be asked for. */
static bool is_kept(uint32_t i)
{
	return all.late[i].fn && clock_now_ns() - all.late[i].asked_ns < KEPT_NS;
}

/* The free place in all.late that was looked at last; -EBUSY: none. */
static int free_place(bool keeps)
{
	int place = -EBUSY;

	for (uint32_t i = 0; i < LATE_MAX; i++) {
		if (!keeps || !is_kept(i))
			drop_answer(i);
		if (!all.late[i].helper.all)
			place = (int)i;
	}
	return place;
}

/* A place in all.late for a call that may come to need it; or a negative errno. */
static int find_place(uint64_t key)
{
	int place = free_place(true);

	if (place < 0)
		place = free_place(false);
	for (uint32_t i = 0; i < LATE_MAX; i++)
		if (all.late[i].helper.all && all.late[i].key == key)
			return -ETIMEDOUT;
	return place;
}

/* An answer that the call has had since it was late. */
static bool take_late(call_fn fn, uint64_t key, struct message *m, ssize_t len, int *out)
{
	for (uint32_t i = 0; i < LATE_MAX; i++) {
		struct helper *h = &all.late[i].helper;
		ssize_t n;

		if (!h->all || all.late[i].key != key || all.late[i].fn != fn || !is_kept(i))
			continue;
		n = helper_receive(h, m, sizeof(*m), out, 0);
		if (n != -EAGAIN)
			helper_end(h);
		return n == len;
	}
	return false;
}

/* keeps: see call_or_earlier(). */
static int call(call_fn fn, uint64_t key, void *data, size_t bytes, int fd, int *out, bool keeps)
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
	if (keeps && take_late(fn, key, &m, len, out)) {
		memcpy(data, m.data, bytes);
		return 0;
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
		all.late[place].fn = keeps ? fn : NULL;
		all.late[place].asked_ns = all.budget.at_ns;
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

int call_with_timeout(call_fn fn, uint64_t key, void *data, size_t bytes, int fd, int *out)
{
	return call(fn, key, data, bytes, fd, out, false);
}

int call_or_earlier(call_fn fn, uint64_t key, void *data, size_t bytes, int *out)
{
	return call(fn, key, data, bytes, -1, out, true);
}
