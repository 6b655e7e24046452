// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.h"

#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "grow.h"
#include "pairs.h"
#include "utf8.h"

/* Texts that have been made already, by what they were made of. */
struct made {
	struct pairs keys;
	uint32_t *text; /* by the key's id */
	size_t cap;
};

struct names {
	const struct timelines *timelines;
	const struct trace *trace;
	const struct options *options;
	struct texts texts;
	struct text_buf buf;
	uint32_t *of_frame, *of_string; /* text by the trace's id, 0: not made yet */
	struct made heads;		/* (name, stack pair) */
	struct pairs link_stacks;	/* (waker's stack pair, blocked stack pair) */
	struct made links;		/* (link_stacks, who) */
};

/* Where the text for a key is kept; *slot is 0 if it is still to be made. NULL: out of memory. */
static uint32_t *made_slot(struct made *m, uint32_t a, uint32_t b)
{
	int is_new;
	uint32_t id = pairs_id_new(&m->keys, a, b, &is_new);
	uint32_t *p;

	if (!id)
		return NULL;
	if (is_new) {
		p = grow_array(m->text, id, &m->cap, sizeof(*p));
		if (!p)
			return NULL;
		m->text = p;
		p[id] = 0;
	}
	return id < m->cap ? &m->text[id] : NULL;
}

static void made_free(struct made *m)
{
	pairs_free(&m->keys);
	free(m->text);
}

struct names *names_new(const struct timelines *tl, const struct options *o)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->timelines = tl;
	n->trace = timelines_trace(tl);
	n->options = o;
	n->of_frame = calloc((size_t)trace_frames_end(n->trace) + 1, sizeof(*n->of_frame));
	n->of_string = calloc((size_t)trace_strings_end(n->trace) + 1, sizeof(*n->of_string));
	if (!n->of_frame || !n->of_string) {
		names_free(n);
		return NULL;
	}
	return n;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	texts_free(&n->texts);
	text_free(&n->buf);
	free(n->of_frame);
	free(n->of_string);
	made_free(&n->heads);
	pairs_free(&n->link_stacks);
	made_free(&n->links);
	free(n);
}

const char *names_text(const struct names *n, uint32_t text)
{
	return texts_get(&n->texts, text);
}

uint32_t names_end(const struct names *n)
{
	return n->texts.n + 1;
}

uint32_t names_adopt(struct names *n, const char *text)
{
	return texts_id(&n->texts, text, strlen(text));
}

static void put_clean(struct text_buf *b, const char *raw)
{
	const unsigned char *s = (const unsigned char *)raw;
	uint32_t c;
	size_t len;

	for (; *s; s += len ? len : 1) {
		len = utf8_read(s, &c);
		if (!len || utf8_is_control(c))
			text_puts(b, "?");
		else if (c == ';')
			text_puts(b, ":");
		else
			text_put(b, (const char *)s, len);
	}
}

/* The id of what has been put into the buffer, which is empty afterwards. */
static uint32_t take_text(struct names *n)
{
	uint32_t id = n->buf.failed ? 0 : texts_id(&n->texts, n->buf.p ? n->buf.p : "", n->buf.len);

	n->buf.len = 0;
	return id;
}

void names_put(struct text_buf *b, const char *raw)
{
	if (!*raw)
		text_puts(b, "[unknown]");
	else if (!strcmp(raw, "-") || !strcmp(raw, "--"))
		(text_puts(b, "["), text_puts(b, raw), text_puts(b, "]"));
	else
		put_clean(b, raw);
}

uint32_t names_clean(struct names *n, const char *raw)
{
	names_put(&n->buf, raw);
	return take_text(n);
}

uint32_t names_thread(struct names *n, uint32_t thread, uint64_t at_ns)
{
	uint32_t string = timelines_name(n->timelines, thread, at_ns);

	if (string >= trace_strings_end(n->trace))
		string = 0;
	if (!n->of_string[string])
		n->of_string[string] = names_clean(n, trace_string(n->trace, string));
	return n->of_string[string];
}

uint32_t names_frame(struct names *n, uint32_t frame)
{
	const struct trace_frame *f = trace_frame(n->trace, frame);
	const char *path, *base;

	if (!f || frame >= trace_frames_end(n->trace))
		return names_clean(n, "");
	if (n->of_frame[frame])
		return n->of_frame[frame];
	path = f->module ? trace_module_path(n->trace, f->module) : "";
	base = strrchr(path, '/');
	base = base ? base + 1 : path;
	if (*trace_string(n->trace, f->symbol) || !*base) {
		n->of_frame[frame] = names_clean(n, trace_string(n->trace, f->symbol));
	} else {
		text_puts(&n->buf, "[");
		put_clean(&n->buf, base);
		text_puts(&n->buf, "]");
		n->of_frame[frame] = take_text(n);
	}
	return n->of_frame[frame];
}

/* A line in the making: names joined by ';'. */
static void put_item(struct text_buf *b, const char *item, const char *annotation)
{
	if (b->len)
		text_puts(b, ";");
	text_puts(b, item);
	text_puts(b, annotation);
}

/* Frame texts must exist before their line is begun: both use the same buffer. */
static bool make_frames(struct names *n, struct trace_stack s)
{
	for (uint32_t i = 0; i < s.n; i++)
		if (!names_frame(n, s.frames[i]))
			return false;
	return true;
}

enum order { ROOT_FIRST, LEAF_FIRST };

static void put_frames(struct names *n, struct trace_stack s, enum order order,
		       const char *annotation)
{
	for (uint32_t i = 0; i < s.n; i++) {
		uint32_t frame = s.frames[order == LEAF_FIRST ? i : s.n - 1 - i];

		put_item(&n->buf, names_text(n, names_frame(n, frame)), annotation);
	}
}

static void put_delimiter(struct names *n, const char *delimiter)
{
	if (!n->options->no_delim)
		put_item(&n->buf, delimiter, "");
}

/* The two parts of a stack: user and kernel in ROOT_FIRST, kernel and user in LEAF_FIRST. */
static void put_stack(struct names *n, struct trace_stack kernel, struct trace_stack user,
		      enum order order, const char *kernel_mark, const char *user_mark)
{
	const struct options *o = n->options;

	if (!kernel.n && !user.n) {
		put_item(&n->buf, "[unknown stack]", kernel_mark);
		return;
	}
	if (!o->kernel)
		kernel.n = 0;
	if (!o->user)
		user.n = 0;
	if (order == ROOT_FIRST)
		put_frames(n, user, order, user_mark);
	else
		put_frames(n, kernel, order, kernel_mark);
	if (kernel.n && user.n)
		put_delimiter(n, "-");
	if (order == ROOT_FIRST)
		put_frames(n, kernel, order, kernel_mark);
	else
		put_frames(n, user, order, user_mark);
}

static void put_off_cpu(struct names *n, uint32_t pair)
{
	struct stack_pair p = timelines_pair(n->timelines, pair);

	put_stack(n, trace_stack(n->trace, p.kstack), trace_stack(n->trace, p.ustack), ROOT_FIRST,
		  n->options->annotate ? "_[k]" : "", "");
}

static bool make_pair_frames(struct names *n, uint32_t pair)
{
	struct stack_pair p = timelines_pair(n->timelines, pair);

	return make_frames(n, trace_stack(n->trace, p.kstack)) &&
	       make_frames(n, trace_stack(n->trace, p.ustack));
}

uint32_t names_head(struct names *n, uint32_t thread, const struct wait *w)
{
	uint32_t name = names_thread(n, thread, w->out_ns);
	uint32_t *slot = name ? made_slot(&n->heads, name, w->stack) : NULL;

	if (!slot)
		return 0;
	if (!*slot && make_pair_frames(n, w->stack)) {
		put_item(&n->buf, names_text(n, name), "");
		put_off_cpu(n, w->stack);
		*slot = take_text(n);
	}
	return *slot;
}

static void put_waker(struct names *n, const struct wait *w, struct context context, uint32_t name)
{
	struct stack_pair p = timelines_pair(n->timelines, w->waker_stack);
	struct trace_stack kernel = trace_stack(n->trace, p.kstack);
	struct trace_stack user = trace_stack(n->trace, p.ustack);
	const char *mark = n->options->annotate ? "_[w]" : "";

	put_delimiter(n, "--");
	if (context.interrupt) {
		kernel.n = context.frames;
		user.n = 0;
	}
	put_stack(n, kernel, user, LEAF_FIRST, mark, mark);
	if (!context.interrupt)
		put_item(&n->buf, names_text(n, name), mark);
}

uint32_t names_link(struct names *n, const struct wait *w, struct context context, bool first)
{
	bool with_blocked = chain_shows_sleep(n->options, w, first);
	uint32_t name = 0, stacks, who = 0, *slot;

	/* An interrupt has no name; what matters instead is where its frames were cut off. */
	if (context.interrupt) {
		who = w->waker == THREAD_IDLE;
	} else {
		name = names_thread(n, w->waker, w->wake_ns);
		who = name + 1;
	}
	/* No stack pair has the number UINT32_MAX: it stands for "not shown". */
	stacks = pairs_id(&n->link_stacks, w->waker_stack, with_blocked ? w->stack : UINT32_MAX);
	if ((!name && !context.interrupt) || !stacks)
		return 0;
	slot = made_slot(&n->links, stacks, who);
	if (!slot)
		return 0;
	if (!*slot && make_pair_frames(n, w->waker_stack) &&
	    (!with_blocked || make_pair_frames(n, w->stack))) {
		if (with_blocked) {
			put_delimiter(n, "-");
			put_off_cpu(n, w->stack);
		}
		put_waker(n, w, context, name);
		*slot = take_text(n);
	}
	return *slot;
}
