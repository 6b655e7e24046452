// SPDX-License-Identifier: GPL-2.0-or-later
#include "import_threads.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

struct import_thread *import_thread(struct import_threads *t, uint32_t tid)
{
	uint32_t id;
	int is_new;
	struct import_thread *p;

	if (!tid)
		return NULL;
	id = pairs_id_new(&t->tids, tid, 0, &is_new);
	p = id ? grow_array(t->threads, id, &t->cap, sizeof(*p)) : NULL;
	if (!p) {
		t->out_of_memory = true;
		return NULL;
	}
	t->threads = p;
	p += id;
	if (is_new)
		memset(p, 0, sizeof(*p));
	return p;
}

static uint32_t string_id(struct import_threads *t, struct import_name s)
{
	return s.len ? encoder_string(t->enc, s.p, s.len) : 0;
}

void import_thread_named(struct import_threads *t, uint32_t cpu, uint64_t ns, uint32_t tid,
			 struct import_name name)
{
	struct import_thread *th = import_thread(t, tid);
	uint32_t id;

	if (!th)
		return;
	th->unborn = false;
	/* Nearly always the name is unchanged. */
	if (th->name && !th->guessed && name.p && th->text_len == name.len &&
	    !memcmp(th->text, name.p, name.len))
		return;
	id = string_id(t, name);
	if (!id)
		return;
	th->text_len = 0;
	if (name.len <= sizeof(th->text)) {
		memcpy(th->text, name.p, name.len);
		th->text_len = (uint8_t)name.len;
	}
	if (th->name != id) {
		if (!th->first_name || th->guessed)
			th->first_name = id;
		else
			encoder_event(t->enc, &(struct chainlog_fields) {
						      .time_ns = ns,
						      .cpu = cpu,
						      .kind = CHAINLOG_RENAME,
						      .tid = tid,
						      .string = id,
					      });
		th->name = id;
	}
	th->guessed = false;
}

void import_thread_guess(struct import_threads *t, uint32_t tid, struct import_name name)
{
	struct import_thread *th = import_thread(t, tid);

	/* perf prints ":TID" for a thread that it does not know. */
	if (!th || th->first_name || !name.len || name.p[0] == ':')
		return;
	th->first_name = th->name = string_id(t, name);
	th->guessed = true;
}

void import_thread_forked(struct import_threads *t, uint32_t cpu, uint64_t ns, uint32_t parent,
			  uint32_t child, uint32_t tgid, struct import_name name)
{
	uint32_t id = string_id(t, name);
	const struct import_thread *from = import_thread(t, parent);
	struct import_thread *th;

	if (!id && from)
		id = from->name; /* inherited */
	th = import_thread(t, child);
	if (!th || th->unborn)
		return;
	if (!th->first_name) {
		th->first_name = id;
		th->start_ns = ns;
	}
	th->name = id;
	th->text_len = 0;
	th->guessed = false;
	th->unborn = true;
	if (!th->tgid)
		th->tgid = tgid;
	encoder_event(t->enc, &(struct chainlog_fields) {
				      .time_ns = ns,
				      .cpu = cpu,
				      .kind = CHAINLOG_FORK,
				      .tid = parent,
				      .other = child,
				      .tgid = tgid,
				      .string = id,
			      });
}

void import_thread_died(struct import_threads *t, uint32_t tid)
{
	struct import_thread *th = import_thread(t, tid);

	if (th)
		th->name = 0;
}

void import_threads_list(struct import_threads *t, uint64_t end_ns)
{
	for (uint32_t id = 1; id <= t->tids.n && !t->out_of_memory; id++) {
		const struct import_thread *th = &t->threads[id];

		/* 'R' and not on a CPU: the reader assumes nothing of its state at the start. */
		encoder_thread(t->enc, &(struct encoder_thread) {
					       .tid = t->tids.at[id].a,
					       .tgid = th->tgid,
					       .start_ns = th->start_ns,
					       .seen_ns = end_ns,
					       .flags = th->kthread ? CHAINLOG_THREAD_KTHREAD : 0,
					       .state = 'R',
					       .name = th->first_name,
				       });
	}
}

void import_threads_free(struct import_threads *t)
{
	pairs_free(&t->tids);
	free(t->threads);
}
