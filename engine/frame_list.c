// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame_list.h"

#include <stdlib.h>

#include "chain.h"
#include "grow.h"
#include "pairs.h"

/* Delimiters as texts: names_clean() makes no name that reads like one. */
#define TEXT_PART UINT32_MAX	   /* "-" */
#define TEXT_LINK (UINT32_MAX - 1) /* "--" */

#define NOT_SHOWN UINT32_MAX /* no stack pair has this number */

/* Lists that have been made already, by what they were made of. */
struct made {
	struct pairs keys;
	uint32_t *list; /* by the key's id; 0: not made yet */
	size_t cap;
};

struct frame_lists {
	const struct timelines *timelines;
	const struct trace *trace;
	const struct options *options;
	struct names *names;
	struct pairs frames;	  /* (text, module) */
	struct pairs lists;	  /* (all but the last frame, or 0; the last frame) */
	struct made heads;	  /* (name, stack pair) */
	struct pairs link_stacks; /* (waker's, blocked or NOT_SHOWN) */
	struct made links;	  /* (link_stacks, who) */
	struct text_buf buf;
	uint32_t list; /* in the making; 0: empty */
	bool failed;   /* to make it */
};

struct frame_lists *frame_lists_new(const struct timelines *tl, const struct options *o,
				    struct names *names)
{
	struct frame_lists *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->timelines = tl;
	f->trace = timelines_trace(tl);
	f->options = o;
	f->names = names;
	return f;
}

static void made_free(struct made *m)
{
	pairs_free(&m->keys);
	free(m->list);
}

void frame_lists_free(struct frame_lists *f)
{
	if (!f)
		return;
	pairs_free(&f->frames);
	pairs_free(&f->lists);
	pairs_free(&f->link_stacks);
	made_free(&f->heads);
	made_free(&f->links);
	text_free(&f->buf);
	free(f);
}

/* Where the list for a key is kept. NULL: out of memory. */
static uint32_t *made_slot(struct made *m, uint32_t a, uint32_t b)
{
	int is_new;
	uint32_t id = pairs_id_new(&m->keys, a, b, &is_new);
	uint32_t *p = id ? grow_array(m->list, id, &m->cap, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	m->list = p;
	if (is_new)
		p[id] = 0;
	return &p[id];
}

static uint32_t take_list(struct frame_lists *f)
{
	uint32_t list = f->failed ? 0 : f->list;

	f->list = 0;
	f->failed = false;
	return list;
}

/* ---- a list in the making ------------------------------------------------------------------- */

static void put(struct frame_lists *f, uint32_t text, uint32_t module)
{
	uint32_t frame = text ? pairs_id(&f->frames, text, module) : 0;
	uint32_t list = frame ? pairs_id(&f->lists, f->list, frame) : 0;

	f->failed |= !list;
	f->list = list;
}

static uint32_t marked(struct frame_lists *f, uint32_t text, const char *mark)
{
	if (!*mark || !text)
		return text;
	f->buf.len = 0;
	text_puts(&f->buf, names_text(f->names, text));
	text_puts(&f->buf, mark);
	return f->buf.failed ? 0 : names_clean(f->names, f->buf.p);
}

static void put_text(struct frame_lists *f, const char *raw, const char *mark)
{
	put(f, marked(f, names_clean(f->names, raw), mark), 0);
}

static void put_delimiter(struct frame_lists *f, uint32_t text)
{
	if (!f->options->no_delim)
		put(f, text, 0);
}

static void put_functions(struct frame_lists *f, struct trace_stack s, bool root_first,
			  const char *mark)
{
	for (uint32_t i = 0; i < s.n; i++) {
		uint32_t id = s.frames[root_first ? s.n - 1 - i : i];
		const struct trace_frame *frame = trace_frame(f->trace, id);

		put(f, marked(f, names_frame(f->names, id), mark), frame ? frame->module : 0);
	}
}

/* Off-CPU stacks (waker NULL) root first, user part first; wakers' stacks the other way round. */
static void put_stack(struct frame_lists *f, uint32_t pair, const struct context *waker)
{
	const struct options *o = f->options;
	struct stack_pair p = timelines_pair(f->timelines, pair);
	struct trace_stack kernel = trace_stack(f->trace, p.kstack);
	struct trace_stack user = trace_stack(f->trace, p.ustack);
	const char *kernel_mark = !o->annotate ? "" : waker ? "_[w]" : "_[k]";
	const char *user_mark = waker ? kernel_mark : "";

	if (waker && waker->interrupt) {
		kernel.n = waker->frames;
		user.n = 0;
	}
	if (!kernel.n && !user.n) {
		put_text(f, "[unknown stack]", kernel_mark);
		return;
	}
	if (!o->kernel)
		kernel.n = 0;
	if (!o->user)
		user.n = 0;
	if (waker)
		put_functions(f, kernel, false, kernel_mark);
	else
		put_functions(f, user, true, user_mark);
	if (kernel.n && user.n)
		put_delimiter(f, TEXT_PART);
	if (waker)
		put_functions(f, user, false, user_mark);
	else
		put_functions(f, kernel, true, kernel_mark);
}

/* ---- heads and links ------------------------------------------------------------------------ */

uint32_t frame_list_head(struct frame_lists *f, uint32_t name, uint32_t stack)
{
	uint32_t *slot = made_slot(&f->heads, name, stack);

	if (!slot)
		return 0;
	if (!*slot) {
		put_text(f, trace_string(f->trace, name), "");
		put_stack(f, stack, NULL);
		*slot = take_list(f);
	}
	return *slot;
}

static uint32_t make_link(struct frame_lists *f, const struct wait *w, struct context context,
			  uint32_t blocked, uint32_t name)
{
	if (blocked != NOT_SHOWN) {
		put_delimiter(f, TEXT_PART);
		put_stack(f, blocked, NULL);
	}
	put_delimiter(f, TEXT_LINK);
	put_stack(f, w->waker_stack, &context);
	if (!context.interrupt)
		put_text(f, trace_string(f->trace, name), f->options->annotate ? "_[w]" : "");
	return take_list(f);
}

uint32_t frame_list_link(struct frame_lists *f, const struct wait *w, struct context context,
			 bool first)
{
	uint32_t blocked = chain_shows_sleep(f->options, w, first) ? w->stack : NOT_SHOWN;
	uint32_t stacks = pairs_id(&f->link_stacks, w->waker_stack, blocked);
	uint32_t name = 0, who, *slot;

	/* An interrupt has no name; what matters instead is where its frames were cut off. */
	if (context.interrupt) {
		who = w->waker == THREAD_IDLE;
	} else {
		name = timelines_name(f->timelines, w->waker, w->wake_ns);
		who = name + 2;
	}
	slot = stacks ? made_slot(&f->links, stacks, who) : NULL;
	if (!slot)
		return 0;
	if (!*slot)
		*slot = make_link(f, w, context, blocked, name);
	return *slot;
}

uint32_t frame_of_text(struct frame_lists *f, const char *raw)
{
	uint32_t text = names_clean(f->names, raw);

	return text ? pairs_id(&f->frames, text, 0) : 0;
}

/* ---- looking at them ------------------------------------------------------------------------ */

uint32_t frame_list_last(const struct frame_lists *f, uint32_t list, uint32_t *frame)
{
	*frame = f->lists.at[list].b;
	return f->lists.at[list].a;
}

struct chain_frame frame_at(const struct frame_lists *f, uint32_t frame)
{
	struct pair p = f->frames.at[frame];
	const char *text = p.a == TEXT_PART   ? "-"
			   : p.a == TEXT_LINK ? "--"
					      : names_text(f->names, p.a);

	return (struct chain_frame) { text, p.b };
}

uint32_t frames_end(const struct frame_lists *f)
{
	return f->frames.n + 1;
}
