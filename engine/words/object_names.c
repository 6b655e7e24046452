// SPDX-License-Identifier: GPL-2.0-or-later
#include "object_names.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/pairs.h"
#include "peers.h"

struct object_names {
	const struct timelines *timelines;
	struct peers *peers;
	bool has_leaders;
	struct pair_table leaders; /* uint32_t: thread + 1, by (process, 0) */
};

struct object_names *object_names_new(const struct timelines *tl, struct kernel_stacks *k)
{
	struct object_names *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->timelines = tl;
	o->peers = peers_new(tl, k);
	if (!o->peers) {
		object_names_free(o);
		return NULL;
	}
	return o;
}

void object_names_free(struct object_names *o)
{
	if (!o)
		return;
	peers_free(o->peers);
	pair_table_free(&o->leaders);
	free(o);
}

/* Where the process id was reused, the last process that had it. */
static void find_leaders(struct object_names *o)
{
	uint32_t n = timelines_threads(o->timelines), *leader;

	o->has_leaders = true;
	for (uint32_t i = 0; i < n; i++) {
		const struct thread *th = timelines_thread(o->timelines, i);

		if (!th->tgid || th->tgid != th->tid)
			continue;
		leader = pair_table_at(&o->leaders, th->tgid, 0, sizeof(*leader));
		if (leader)
			*leader = i + 1;
	}
}

/* " NAME/PID", or without a name " PID". */
static void put_peer(struct object_names *o, uint32_t pid, struct text_buf *b)
{
	uint32_t key, thread = 0;
	char number[16];

	if (!o->has_leaders)
		find_leaders(o);
	key = pairs_find(&o->leaders.keys, pid, 0);
	if (key)
		thread = ((const uint32_t *)o->leaders.at)[key];
	text_puts(b, " ");
	if (thread) {
		const struct thread *th = timelines_thread(o->timelines, thread - 1);
		uint32_t name = timelines_name(o->timelines, thread - 1, th->end_ns);

		text_puts(b, trace_string(timelines_trace(o->timelines), name));
		text_puts(b, "/");
	}
	snprintf(number, sizeof(number), "%" PRIu32, pid);
	text_puts(b, number);
}

static void put_peers(struct object_names *o, uint32_t object, struct text_buf *b)
{
	struct peer_list peers = peers_of(o->peers, object);
	char more[16];

	for (uint32_t i = 0; i < peers.n && i < PEERS_NAMED; i++)
		put_peer(o, peers.pids[i], b);
	if (peers.n <= PEERS_NAMED)
		return;
	snprintf(more, sizeof(more), " +%" PRIu32, peers.n - PEERS_NAMED);
	text_puts(b, more);
}

void object_names_put(struct object_names *o, uint32_t object, bool in_full, struct text_buf *b)
{
	const struct trace *t = timelines_trace(o->timelines);
	const struct trace_object *what = trace_object(t, object);

	if (!what)
		return;
	text_puts(b, trace_string(t, what->class));
	if (!in_full)
		return;
	if (what->name) {
		text_puts(b, " ");
		text_puts(b, trace_string(t, what->name));
	}
	put_peers(o, object, b);
}

uint32_t object_names_peer(struct object_names *o, uint32_t object)
{
	struct peer_list peers = peers_of(o->peers, object);

	return peers.n ? peers.pids[0] : 0;
}
