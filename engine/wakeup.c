// SPDX-License-Identifier: GPL-2.0-or-later
#include "wakeup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "fold.h"
#include "grow.h"
#include "names.h"
#include "picks.h"

struct wakeups {
	const struct timelines *timelines;
	const struct trace *trace;
	const struct options *options;
	struct names *names;
	struct contexts *contexts;
	struct texts lines;
	uint64_t *ns; /* by the line's id, from 1 */
	size_t cap;
	struct text_buf buf;
};

static void put(struct wakeups *u, const char *item, const char *mark)
{
	if (u->buf.len)
		text_puts(&u->buf, ";");
	text_puts(&u->buf, item);
	text_puts(&u->buf, mark);
}

static const char *mark(const struct wakeups *u)
{
	return u->options->annotate ? "_[w]" : "";
}

/* A text of the names'; 0: there was no memory for it. */
static void put_text(struct wakeups *u, uint32_t text, const char *text_mark)
{
	if (text)
		put(u, names_text(u->names, text), text_mark);
	else
		u->buf.failed = 1;
}

static void put_frames(struct wakeups *u, struct trace_stack s)
{
	for (uint32_t i = s.n; i-- > 0;)
		put_text(u, names_frame(u->names, s.frames[i]), mark(u));
}

/* "waker;user frames;-;kernel frames", root first. */
static void put_waker(struct wakeups *u, const struct wait *w)
{
	struct stack_pair p = timelines_pair(u->timelines, w->waker_stack);
	struct trace_stack k = trace_stack(u->trace, p.kstack);
	struct trace_stack user = trace_stack(u->trace, p.ustack);
	struct context context = context_of(u->contexts, p.kstack, w->waker == THREAD_IDLE);

	if (context.interrupt) {
		put(u, chain_end_name(CHAIN_INTERRUPT), mark(u));
		k.n = context.frames < k.n ? context.frames : k.n;
		user.n = 0;
	} else {
		put_text(u, names_thread(u->names, w->waker, w->wake_ns), mark(u));
	}
	if (!k.n && !user.n)
		put(u, "[unknown stack]", mark(u));
	if (!u->options->kernel)
		k.n = 0;
	if (!u->options->user)
		user.n = 0;
	put_frames(u, user);
	if (user.n && k.n && !u->options->no_delim)
		put(u, "-", "");
	put_frames(u, k);
}

static int add_wait(void *arg, const struct pick *p)
{
	struct wakeups *u = arg;
	const struct wait *w = p->wait;
	uint64_t ns = p->shown.blocked_to_ns - p->shown.blocked_from_ns;
	uint64_t *slot;
	uint32_t before, id;

	if (w->kind != WAIT_SLEEP || !ns)
		return 0;
	u->buf.len = 0;
	if (w->flags & WAIT_NOT_WOKEN)
		put(u, chain_end_name(CHAIN_NOT_WOKEN), "");
	else if (w->waker == THREAD_NONE)
		put(u, chain_end_name(CHAIN_UNKNOWN), "");
	else
		put_waker(u, w);
	put_text(u, names_thread(u->names, p->thread, w->out_ns), "");
	before = u->lines.n;
	id = u->buf.failed ? 0 : texts_id(&u->lines, u->buf.p, u->buf.len);
	slot = id ? grow_array(u->ns, id, &u->cap, sizeof(*slot)) : NULL;
	if (!slot)
		return -ENOMEM;
	u->ns = slot;
	slot[id] = id > before ? ns : slot[id] + ns;
	return 0;
}

static int by_text(const void *pa, const void *pb)
{
	const struct fold_line *a = pa, *b = pb;

	return strcmp(a->text, b->text);
}

static int write_lines(const struct wakeups *u, FILE *out)
{
	size_t n = u->lines.n;
	struct fold_line *lines = malloc((n + 1) * sizeof(*lines));
	int err;

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		lines[i] =
			(struct fold_line) { texts_get(&u->lines, (uint32_t)i + 1), u->ns[i + 1] };
	if (n)
		qsort(lines, n, sizeof(*lines), by_text);
	err = fold_lines_write(lines, n, u->options, out);
	free(lines);
	return err;
}

int wakeup_write(const struct timelines *tl, const struct options *o, FILE *out)
{
	struct wakeups u = { .timelines = tl,
			     .trace = timelines_trace(tl),
			     .options = o,
			     .names = names_new(tl, o),
			     .contexts = contexts_new(timelines_trace(tl)) };
	struct selection *s = u.names ? selection_new(tl, o, u.names) : NULL;
	int err = -ENOMEM;

	if (s && u.contexts)
		err = picks_walk(tl, s, 0, add_wait, &u);
	if (!err)
		err = write_lines(&u, out);
	texts_free(&u.lines);
	free(u.ns);
	text_free(&u.buf);
	contexts_free(u.contexts);
	selection_free(s);
	names_free(u.names);
	return err;
}
