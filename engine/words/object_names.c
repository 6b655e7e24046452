// SPDX-License-Identifier: GPL-2.0-or-later
#include "object_names.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/pairs.h"
#include "peers.h"

struct object_names {
	const struct timelines *timelines;
	struct peers *peers;
	bool has_threads;
	struct pair_table threads; /* uint32_t: thread + 1, by (id, enum id_of) */
};

enum id_of { ID_OF_PROCESS, ID_OF_THREAD };

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
	pair_table_free(&o->threads);
	free(o);
}

/* Where an id was reused, the last one that had it. */
static void find_threads(struct object_names *o)
{
	uint32_t n = timelines_threads(o->timelines), *last;

	o->has_threads = true;
	for (uint32_t i = 0; i < n; i++) {
		const struct thread *th = timelines_thread(o->timelines, i);

		last = pair_table_at(&o->threads, th->tid, ID_OF_THREAD, sizeof(*last));
		if (last)
			*last = i + 1;
		if (!th->tgid || th->tgid != th->tid)
			continue;
		last = pair_table_at(&o->threads, th->tgid, ID_OF_PROCESS, sizeof(*last));
		if (last)
			*last = i + 1;
	}
}

/* " NAME/ID" of a process or a thread, or without a name " ID". */
static void put_named(struct object_names *o, uint32_t id, enum id_of of, struct text_buf *b)
{
	uint32_t key, thread = 0;
	char number[16];

	if (!o->has_threads)
		find_threads(o);
	key = pairs_find(&o->threads.keys, id, of);
	if (key)
		thread = ((const uint32_t *)o->threads.at)[key];
	text_puts(b, " ");
	if (thread) {
		const struct thread *th = timelines_thread(o->timelines, thread - 1);
		uint32_t name = timelines_name(o->timelines, thread - 1, th->end_ns);

		text_puts(b, trace_string(timelines_trace(o->timelines), name));
		text_puts(b, "/");
	}
	snprintf(number, sizeof(number), "%" PRIu32, id);
	text_puts(b, number);
}

static void put_peers(struct object_names *o, uint32_t object, struct text_buf *b)
{
	struct peer_list peers = peers_of(o->peers, object);
	char more[16];

	for (uint32_t i = 0; i < peers.n && i < PEERS_NAMED; i++)
		put_named(o, peers.pids[i], ID_OF_PROCESS, b);
	if (peers.n <= PEERS_NAMED)
		return;
	snprintf(more, sizeof(more), " +%" PRIu32, peers.n - PEERS_NAMED);
	text_puts(b, more);
}

void object_names_put(struct object_names *o, uint32_t object, bool in_full, struct text_buf *b)
{
	const struct trace *t = timelines_trace(o->timelines);
	const struct trace_object *what = trace_object(t, object);
	uint32_t holder = peers_holder(o->peers, object);

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
	if (holder) {
		text_puts(b, " held by");
		put_named(o, holder, ID_OF_THREAD, b);
	}
}

uint32_t object_names_peer(struct object_names *o, uint32_t object)
{
	struct peer_list peers = peers_of(o->peers, object);

	return peers.n ? peers.pids[0] : 0;
}

uint32_t object_names_holder(struct object_names *o, uint32_t object)
{
	return peers_holder(o->peers, object);
}
