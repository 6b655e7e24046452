// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for other programs: one JSON object a line, described in the manual page. Thread by thread
 * in order of time, or with --top the longest ones.
 */

#include "format.h"
#include "json_chain.h"
#include "words/lock_holder.h"

struct writer {
	struct json_chain chain;
	struct json_object json; /* of the current wait */
	const struct format_input *in;
	FILE *out;
};

/* The control group in which the thread was, if that is known: its path, and what it is called. */
static void put_group(struct json_words *j, uint32_t path)
{
	if (!path)
		return;
	json_put_name(j, "cgroup", path);
	json_exact(j->to, "cgroup_name", names_text(j->names, names_group_path(j->names, path)));
}

static void put_flags(struct json_object *to, const struct wait *w)
{
	json_begin(to, "flags", '[');
	for (const struct wait_flag_name *f = wait_flag_names; f->name; f++)
		if (w->flags & f->flag)
			json_exact(to, NULL, f->name);
	if (wait_throttled(w))
		json_exact(to, NULL, "throttled");
	if (wait_killed(w))
		json_exact(to, NULL, "killed");
	json_end(to, ']');
}

/* What the thread waited for, and of several what was ready; nothing if that is not known. */
static void put_objects(struct json_words *j, uint32_t thread, const struct wait *w)
{
	struct object_names *objects = names_objects(j->names);
	struct shown_objects s = names_shown_objects(j->names, w->stack);
	uint32_t held_by = object_names_holder(objects, s.object);
	uint32_t holder = lock_holder(objects, thread, w);

	if (!held_by && holder != THREAD_NONE)
		held_by = timelines_thread(j->timelines, holder)->tid;
	json_put_object(j, "object", s.object, held_by);
	json_put_object(j, "ready", s.ready, 0);
}

/* All but the pieces. */
static void put_head(const struct format_input *in, struct json_words *j,
		     const struct chosen_wait *p)
{
	struct json_object *to = j->to;
	const struct wait *w = p->wait;
	const struct shown *s = &p->shown;
	uint64_t start_ns = timelines_start_ns(j->timelines);
	uint64_t off_ns = s->off_to_ns - s->off_from_ns;
	bool preempted = w->kind == WAIT_PREEMPTED;
	char state[] = { (char)w->state, 0 };

	json_begin(to, NULL, '{');
	if (in->key)
		json_exact(to, in->key, in->label);
	json_put_ids(j, p->thread);
	put_group(j, timelines_group(j->timelines, p->thread, w->out_ns));
	json_put_name(j, "name", timelines_name(j->timelines, p->thread, w->out_ns));
	json_number(to, "start", w->out_ns - start_ns);
	if (!preempted && wait_has_waking(w))
		json_number(to, "wake", w->wake_ns - start_ns);
	else
		json_exact(to, "wake", NULL);
	json_number(to, "end", w->in_ns - start_ns);
	json_exact(to, "kind", preempted ? "preempted" : "sleep");
	json_exact(to, "state", w->state == '?' ? NULL : state);
	put_flags(to, w);
	json_number(to, "blocked", s->blocked_to_ns - s->blocked_from_ns);
	json_number(to, "runnable", preempted ? 0 : off_ns);
	json_number(to, "preempted", preempted ? off_ns : 0);
	put_objects(j, p->thread, w);
	if (timelines_is_client(j->timelines, p->thread))
		json_put_request(j, timelines_request_of(j->timelines, w));
	json_put_stack(j, "stack", w->stack, UINT32_MAX, true);
}

static bool write_wait(void *arg, const struct chosen_wait *p)
{
	struct writer *w = arg;

	json_chain_make(&w->chain, p);
	put_head(w->in, &w->chain.words, p);
	json_chain_put(&w->chain);
	json_end(&w->json, '}');
	text_puts(&w->json.b, "\n");
	json_flush(&w->json, w->out);
	/* The caller reports a write error; continuing would be pointless. */
	return !ferror(w->out);
}

static int write_json(const struct format_input *in, FILE *out)
{
	const struct options *o = in->options;
	struct writer w = { .in = in, .out = out };

	json_chain_init(&w.chain, &w.json, in->timelines, o);
	if (in->n_hosts)
		json_chain_join(&w.chain, in->hosts, in->n_hosts);
	format_each_wait(in, o, w.chain.words.names, o->top, write_wait, &w);
	json_chain_free(&w.chain);
	text_free(&w.json.b);
	return 0;
}

const struct format format_json = {
	.name = "json",
	.summary = "one JSON object a line for each wait, with its chain",
	.wants_timelines = true,
	.wants_cpus = true,
	.several = SEVERAL_KEYED,
	.joins = true,
	.takes = GIVEN_OF_CHAINS | GIVEN_ATTRIBUTED | GIVEN_ROOT | GIVEN_TOP,
	.write = write_json,
};
