// SPDX-License-Identifier: GPL-2.0-or-later
#include "json_words.h"

#include <inttypes.h>
#include <string.h>

#include "words/object_names.h"
#include "words/request_words.h"

int json_words_init(struct json_words *j, FILE *out, const struct timelines *tl,
		    const struct options *o)
{
	*j = (struct json_words) {
		.out = out, .timelines = tl, .trace = timelines_trace(tl), .options = o
	};
	return names_new(&j->names, tl, o);
}

void json_words_free(struct json_words *j)
{
	intern_free(&j->texts);
	pair_table_free(&j->of_stack);
	text_free(&j->buf);
	names_free(j->names);
}
/* ---- writing -------------------------------------------------------------------------------- */

void json_put_string(struct json_words *j, const char *key, const char *s)
{
	j->buf.len = 0;
	if (s)
		json_string(&j->buf, s);
	j->out_of_memory |= j->buf.failed;
	fprintf(j->out, "\"%s\":%s", key, !s || j->buf.failed ? "null" : j->buf.p);
}

void json_put_name(struct json_words *j, const char *key, uint32_t string)
{
	const char *name = trace_string(j->trace, string);

	json_put_string(j, key, *name ? name : "[unknown]");
}

void json_put_ids(struct json_words *j, uint32_t thread)
{
	const struct thread *th = timelines_thread(j->timelines, thread);

	fprintf(j->out, "\"tid\":%" PRIu32 ",\"pid\":", th->tid);
	if (th->tgid)
		fprintf(j->out, "%" PRIu32 ",", th->tgid);
	else
		fputs("null,", j->out);
}

/* Adds a frame: as names_frame(), but not cleaned; then " (FILE:LINE)" if known. */
void json_add_frame(struct json_words *j, struct text_buf *b, uint32_t frame)
{
	struct raw_frame raw = names_raw_frame(j->trace, frame);

	j->buf.len = 0;
	text_puts(&j->buf, raw.brackets ? "[" : "");
	text_puts(&j->buf, *raw.text ? raw.text : "[unknown]");
	text_puts(&j->buf, raw.brackets ? "]" : "");
	names_put_source(j->trace, frame, true, &j->buf);
	b->failed |= j->buf.failed;
	if (!b->failed)
		json_string(b, j->buf.p);
}

static void add_frames(struct json_words *j, struct text_buf *b, const char *key,
		       struct trace_stack s)
{
	text_puts(b, b->len > 1 ? ",\"" : "\"");
	text_puts(b, key);
	text_puts(b, "\":[");
	for (uint32_t i = s.n; i-- > 0;) {
		json_add_frame(j, b, s.frames[i]);
		text_puts(b, i ? "," : "");
	}
	text_puts(b, "]");
}

/* As JSON, both parts root first, so that they read on as one. 0: out of memory. */
static uint32_t make_stack(struct json_words *j, uint32_t pair, uint32_t kernel_frames,
			   bool with_user)
{
	struct shown_stack s = names_shown_stack(j->names, pair, kernel_frames, with_user);
	struct text_buf b = { 0 };
	uint32_t text;

	text_puts(&b, "{");
	if (j->options->user)
		add_frames(j, &b, "user", s.user);
	if (j->options->kernel)
		add_frames(j, &b, "kernel", s.kernel);
	text_puts(&b, "}");
	text = b.failed ? 0 : intern_id(&j->texts, b.p, b.len, NULL);
	text_free(&b);
	return text;
}

void json_put_stack(struct json_words *j, const char *key, uint32_t pair, uint32_t kernel_frames,
		    bool with_user)
{
	uint32_t *slot =
		pair_table_at(&j->of_stack, pair, kernel_frames << 1 | with_user, sizeof(*slot));

	if (slot && !*slot)
		*slot = make_stack(j, pair, kernel_frames, with_user);
	j->out_of_memory |= !slot || !*slot;
	fprintf(j->out, "\"%s\":", key);
	fputs(slot && *slot ? intern_text(&j->texts, *slot) : "null", j->out);
}

void json_put_object(struct json_words *j, const char *name, uint32_t object, uint32_t holder)
{
	const struct trace_object *o = trace_object(j->trace, object);
	uint32_t peer = object_names_peer(names_objects(j->names), object);

	if (!o)
		return;
	fprintf(j->out, ",\"%s\":{", name);
	json_put_string(j, "class", trace_string(j->trace, o->class));
	putc(',', j->out);
	json_put_string(j, "name", trace_string(j->trace, o->name));
	if (o->inode)
		fprintf(j->out, ",\"device\":\"%" PRIu32 ":%" PRIu32 "\",\"inode\":%" PRIu64,
			o->device >> 20, o->device & 0xfffff, o->inode);
	if (peer)
		fprintf(j->out, ",\"peer\":%" PRIu32, peer);
	if (holder)
		fprintf(j->out, ",\"held_by\":%" PRIu32, holder);
	putc('}', j->out);
}

/* A member with a text, after a comma; nothing if it is empty. */
static void put_known(struct json_words *j, const char *key, const char *s)
{
	if (!*s)
		return;
	putc(',', j->out);
	json_put_string(j, key, s);
}

static void put_tid(struct json_words *j, const char *key, uint32_t thread)
{
	if (thread == THREAD_NONE)
		fprintf(j->out, ",\"%s\":null", key);
	else
		fprintf(j->out, ",\"%s\":%" PRIu32, key,
			timelines_thread(j->timelines, thread)->tid);
}

void json_put_request(struct json_words *j, const struct request *q)
{
	const struct timelines *tl = j->timelines;
	const struct context *c = timelines_context(tl, q);
	char trace[TRACE_ID_SIZE], span[SPAN_ID_SIZE];
	int n = 0;

	fputs(",\"request\":{", j->out);
	json_put_string(j, "endpoint", request_endpoint_name(tl, q));
	fprintf(j->out, ",\"taken\":%" PRIu64 ",\"first_answer\":%" PRIu64,
		q->taken_ns - timelines_start_ns(tl), q->first_answer_ns - timelines_start_ns(tl));
	if (q->connection)
		fprintf(j->out, ",\"connection\":%" PRIu64, q->connection);
	put_tid(j, "reader", q->reader);
	put_tid(j, "writer", q->writer);
	put_known(j, "trace_id", trace_id_text(trace, c));
	put_known(j, "span_id", span_id_text(span, c));
	put_known(j, "route", request_route(tl, q));
	put_known(j, "label", request_label(tl, q));
	fputs(",\"marks\":[", j->out);
	for (const struct request_mark *m = request_marks; m->name; m++)
		if (q->flags & m->flag)
			fprintf(j->out, "%s\"%s\"", n++ ? "," : "", m->name);
	fputs("]}", j->out);
}
