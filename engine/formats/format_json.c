// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for other programs: one JSON object a line, described in the manual page. Thread by thread
 * in order of time, or with --top the longest ones.
 */
#include <errno.h>
#include <inttypes.h>

#include "format.h"
#include "json_chain.h"
#include "words/lock_holder.h"

struct writer {
	struct json_chain chain;
	const struct format_input *in;
};

/* The control group in which the thread was, if that is known: its path, and what it is called. */
static void put_group(struct json_words *j, uint32_t path)
{
	if (!path)
		return;
	json_put_name(j, "cgroup", path);
	putc(',', j->out);
	json_put_string(j, "cgroup_name", names_text(j->names, names_group_path(j->names, path)));
	putc(',', j->out);
}

static void put_flags(struct json_words *j, const struct wait *w)
{
	int n = 0;

	fputs("\"flags\":[", j->out);
	for (const struct wait_flag_name *f = wait_flag_names; f->name; f++)
		if (w->flags & f->flag)
			fprintf(j->out, "%s\"%s\"", n++ ? "," : "", f->name);
	if (wait_throttled(w))
		fprintf(j->out, "%s\"throttled\"", n ? "," : "");
	if (wait_killed(w))
		fprintf(j->out, "%s\"killed\"", n ? "," : "");
	fputs("],", j->out);
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
	const struct wait *w = p->wait;
	const struct shown *s = &p->shown;
	uint64_t start_ns = timelines_start_ns(j->timelines);
	uint64_t off_ns = s->off_to_ns - s->off_from_ns;
	bool preempted = w->kind == WAIT_PREEMPTED;
	bool woken = !preempted && wait_has_waking(w);

	putc('{', j->out);
	if (in->key) {
		json_put_string(j, in->key, in->label);
		putc(',', j->out);
	}
	json_put_ids(j, p->thread);
	put_group(j, timelines_group(j->timelines, p->thread, w->out_ns));
	json_put_name(j, "name", timelines_name(j->timelines, p->thread, w->out_ns));
	fprintf(j->out, ",\"start\":%" PRIu64 ",\"wake\":", w->out_ns - start_ns);
	if (woken)
		fprintf(j->out, "%" PRIu64, w->wake_ns - start_ns);
	else
		fputs("null", j->out);
	fprintf(j->out, ",\"end\":%" PRIu64 ",\"kind\":\"%s\",\"state\":", w->in_ns - start_ns,
		preempted ? "preempted" : "sleep");
	if (w->state == '?')
		fputs("null,", j->out);
	else
		fprintf(j->out, "\"%c\",", w->state);
	put_flags(j, w);
	fprintf(j->out, "\"blocked\":%" PRIu64 ",\"runnable\":%" PRIu64 ",\"preempted\":%" PRIu64,
		s->blocked_to_ns - s->blocked_from_ns, preempted ? 0 : off_ns,
		preempted ? off_ns : 0);
	put_objects(j, p->thread, w);
	if (timelines_is_client(j->timelines, p->thread))
		json_put_request(j, timelines_request_of(j->timelines, w));
	putc(',', j->out);
	json_put_stack(j, "stack", w->stack, UINT32_MAX, true);
	putc(',', j->out);
}

static int write_wait(void *arg, const struct chosen_wait *p)
{
	struct writer *w = arg;
	FILE *out = w->chain.words.out;

	if (json_chain_make(&w->chain, p))
		return -ENOMEM;
	put_head(w->in, &w->chain.words, p);
	if (json_chain_put(&w->chain))
		return -ENOMEM;
	fputs("}\n", out);
	/* The caller reports a write error; continuing would be pointless. */
	return ferror(out) ? 1 : 0;
}

static int write_json(const struct format_input *in, FILE *out)
{
	const struct options *o = in->options;
	struct writer w = { .in = in };
	int err = json_chain_init(&w.chain, out, in->timelines, o);

	if (!err && in->n_hosts)
		err = json_chain_join(&w.chain, in->hosts, in->n_hosts);
	if (!err)
		err = format_each_wait(in, o, w.chain.words.names, o->top, write_wait, &w);
	json_chain_free(&w.chain);
	return err < 0 ? err : 0;
}

const struct format format_json = {
	.name = "json",
	.summary = "one JSON object a line for each wait, with its chain",
	.wants_timelines = true,
	.wants_cpus = true,
	.several = SEVERAL_KEYED,
	.joins = true,
	.refuses = GIVEN_TABLE | GIVEN_NO_ENDS | GIVEN_NO_DELIM | GIVEN_ANNOTATE | GIVEN_UNIT |
		   GIVEN_VIEW | GIVEN_BY_NAME | GIVEN_WHO_RAN | GIVEN_FOLD_REPEATS,
	.write = write_json,
};
