// SPDX-License-Identifier: GPL-2.0-or-later
#include "json_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "select/route_times.h"
#include "words/object_names.h"
#include "words/request_words.h"
#include "common/xalloc.h"

void json_words_init(struct json_words *j, struct json_object *to, const struct timelines *tl,
		     const struct options *o)
{
	*j = (struct json_words) {
		.to = to, .timelines = tl, .trace = timelines_trace(tl), .options = o
	};
	names_new(&j->names, tl, o);
}

void json_words_free(struct json_words *j)
{
	intern_free(&j->texts);
	pair_table_free(&j->of_stack);
	text_free(&j->buf);
	free(j->median_ns);
	names_free(j->names);
}

void json_put_name(struct json_words *j, const char *key, uint32_t string)
{
	const char *name = trace_string(j->trace, string);

	json_exact(j->to, key, *name ? name : "[unknown]");
}

/* null: it is not known. */
static void put_id(struct json_object *to, const char *key, uint32_t id)
{
	if (id)
		json_number(to, key, id);
	else
		json_exact(to, key, NULL);
}

void json_put_ids(struct json_words *j, uint32_t thread)
{
	const struct thread *th = timelines_thread(j->timelines, thread);

	json_number(j->to, "tid", th->tid);
	put_id(j->to, "pid", th->tgid);
}

void json_put_frame(struct json_words *j, struct json_object *to, const char *key, uint32_t frame)
{
	struct raw_frame raw = names_raw_frame(j->trace, frame);

	j->buf.len = 0;
	text_puts(&j->buf, raw.brackets ? "[" : "");
	text_puts(&j->buf, *raw.text ? raw.text : "[unknown]");
	text_puts(&j->buf, raw.brackets ? "]" : "");
	names_put_source(j->trace, frame, true, &j->buf);
	json_exact(to, key, j->buf.p);
}

static void put_frames(struct json_words *j, struct json_object *to, const char *key,
		       struct trace_stack s)
{
	json_begin(to, key, '[');
	for (uint32_t i = s.n; i-- > 0;)
		json_put_frame(j, to, NULL, s.frames[i]);
	json_end(to, ']');
}

/* As JSON, both parts root first, so that they read on as one. */
static uint32_t make_stack(struct json_words *j, uint32_t pair, uint32_t kernel_frames,
			   bool with_user)
{
	struct shown_stack s = names_shown_stack(j->names, pair, kernel_frames, with_user);
	struct json_object to = { .most = 0 };
	uint32_t text;

	json_begin(&to, NULL, '{');
	if (j->options->user)
		put_frames(j, &to, "user", s.user);
	if (j->options->kernel)
		put_frames(j, &to, "kernel", s.kernel);
	json_end(&to, '}');
	text = xintern(&j->texts, to.b.p, to.b.len, NULL);
	text_free(&to.b);
	return text;
}

void json_put_stack(struct json_words *j, const char *key, uint32_t pair, uint32_t kernel_frames,
		    bool with_user)
{
	uint32_t *slot =
		pair_table_at(&j->of_stack, pair, kernel_frames << 1 | with_user, sizeof(*slot));

	if (!*slot)
		*slot = make_stack(j, pair, kernel_frames, with_user);
	json_ready(j->to, key, *slot ? intern_text(&j->texts, *slot) : "null");
}

void json_put_object(struct json_words *j, const char *name, uint32_t object, uint32_t holder)
{
	const struct trace_object *o = trace_object(j->trace, object);
	uint32_t peer = object_names_peer(names_objects(j->names), object);
	char device[24];

	if (!o)
		return;
	json_begin(j->to, name, '{');
	json_exact(j->to, "class", trace_string(j->trace, o->class));
	json_exact(j->to, "name", trace_string(j->trace, o->name));
	if (o->inode) {
		snprintf(device, sizeof(device), "%" PRIu32 ":%" PRIu32, o->device >> 20,
			 o->device & 0xfffff);
		json_exact(j->to, "device", device);
		json_number(j->to, "inode", o->inode);
	}
	if (peer)
		json_number(j->to, "peer", peer);
	if (holder)
		json_number(j->to, "held_by", holder);
	json_end(j->to, '}');
}

/* A member with a text; nothing if it is empty. */
static void put_known(struct json_words *j, const char *key, const char *s)
{
	if (*s)
		json_exact(j->to, key, s);
}

static void put_tid(struct json_words *j, const char *key, uint32_t thread)
{
	put_id(j->to, key, thread == THREAD_NONE ? 0 : timelines_thread(j->timelines, thread)->tid);
}

void json_put_request(struct json_words *j, const struct request *q)
{
	const struct timelines *tl = j->timelines;
	const struct context *c = timelines_context(tl, q);
	char trace[TRACE_ID_SIZE], span[SPAN_ID_SIZE];
	struct json_object *to = j->to;

	if (!j->median_ns)
		j->median_ns = request_medians(tl, j->options);
	json_begin(to, "request", '{');
	json_exact(to, "endpoint", request_endpoint_name(tl, q));
	json_number(to, "taken", q->taken_ns - timelines_start_ns(tl));
	json_number(to, "first_answer", q->first_answer_ns - timelines_start_ns(tl));
	if (q->connection)
		json_number(to, "connection", q->connection);
	put_tid(j, "reader", q->reader);
	put_tid(j, "writer", q->writer);
	put_known(j, "trace_id", trace_id_text(trace, c));
	put_known(j, "span_id", span_id_text(span, c));
	put_known(j, "route", request_route(tl, q));
	json_number(to, "over", request_over_ns(tl, j->median_ns, q));
	put_known(j, "label", request_label(tl, q));
	json_begin(to, "marks", '[');
	for (const struct request_mark *m = request_marks; m->name; m++)
		if (q->flags & m->flag)
			json_exact(to, NULL, m->name);
	json_end(to, ']');
	json_end(to, '}');
}
