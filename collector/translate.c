// SPDX-License-Identifier: GPL-2.0-or-later
#include "translate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf.h"

/* An id that an event has named before its stack came (from another CPU's ring). */
#define UNDEFINED 0x80000000u
/*
 * The kernel side names the ids of the last BPF_SESSION_IDS, and half of that until the next sweep,
 * and those of a very busy moment. A power of two.
 */
#define KNOWN (2 * BPF_SESSION_IDS)
/* Stacks for one event stand right before it in the ring; programs nest at most a few deep. */
#define ONCE_SLOTS 16u

/*
 * A user stack as the kernel side knows it, which goes by addresses: in a process that loads a
 * library where another one was, the same addresses are another stack then.
 */
struct user_stack {
	uint32_t tgid, space, n;
	bool cut;
	uint8_t addrs[]; /* each as a varint: the difference to the one before */
};

struct known_stack {
	uint32_t wire_id;	 /* the kernel side's; 0: free */
	uint32_t id;		 /* the trace's, or 0; UNDEFINED may be set */
	uint64_t named_ns;	 /* UNDEFINED: by the last event that did */
	struct user_stack *user; /* NULL: a kernel stack */
};

struct translator {
	struct encoder *enc;
	struct symbolizer *sym;
	translator_sample_fn on_sample;
	void *sample_ctx;
	struct known_stack *known; /* by the kernel side's id modulo KNOWN */
	uint32_t last_frame;
	uint32_t layouts[WIRE_LAYOUTS]; /* the trace's ids of the stacks with a layout */
	struct {
		uint32_t wire_id, id;
	} once[ONCE_SLOTS];
	unsigned int next_once;
	uint64_t n_once;
};

struct translator *translator_new(struct encoder *enc, struct symbolizer *sym,
				  translator_sample_fn fn, void *ctx)
{
	struct translator *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->enc = enc;
	t->sym = sym;
	t->on_sample = fn;
	t->sample_ctx = ctx;
	t->known = calloc(KNOWN, sizeof(*t->known));
	if (!t->known) {
		free(t);
		return NULL;
	}
	return t;
}

void translator_free(struct translator *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < KNOWN; i++)
		free(t->known[i].user);
	free(t->known);
	free(t);
}

uint64_t translator_stacks_once(const struct translator *t)
{
	return t->n_once;
}

char translator_state_letter(uint32_t bits)
{
	static const struct {
		uint32_t bits;
		char letter;
	} states[] = {
		{ 0x80, 'X' }, { 0x20, 'Z' }, { 0x10, 'X' }, { 0x402, 'I' }, { 0x01, 'S' },
		{ 0x02, 'D' }, { 0x04, 'T' }, { 0x08, 't' }, { 0x40, 'P' },
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if ((bits & states[i].bits) == states[i].bits)
			return states[i].letter;
	/* What is left, like waiting for an rt_mutex or the freezer, sleeps uninterruptibly. */
	return bits ? 'D' : 'R';
}

static bool is_layout(uint32_t wire_id)
{
	return (wire_id & (WIRE_STACK_ONCE | WIRE_STACK_LAYOUT)) == WIRE_STACK_LAYOUT;
}

/* What is known of the stack; NULL: nothing any more, newer ones have been given its place. */
static struct known_stack *known_stack(struct translator *t, uint32_t wire_id)
{
	struct known_stack *k = &t->known[wire_id % KNOWN];

	if (k->wire_id == wire_id)
		return k;
	if (k->wire_id && ((wire_id - k->wire_id) & (WIRE_STACK_IDS - 1)) > WIRE_STACK_IDS / 2)
		return NULL;
	free(k->user);
	*k = (struct known_stack) { .wire_id = wire_id };
	return k;
}

static uint32_t kernel_frame(struct translator *t, uint64_t addr)
{
	uint32_t id = encoder_frame(t->enc, 0, addr);

	if (id > t->last_frame) {
		t->last_frame = id;
		symbolizer_kernel_frame(t->sym, id, addr);
	}
	return id;
}

static uint32_t user_frame(struct translator *t, uint32_t space, uint64_t addr, uint64_t time_ns)
{
	uint32_t in_space = space, id;
	uint64_t at = addr;

	symbolizer_locate(t->sym, &in_space, &at, time_ns);
	id = encoder_frame(t->enc, in_space, at);
	if (id > t->last_frame) {
		t->last_frame = id;
		symbolizer_frame(t->sym, id, space, addr, time_ns);
	}
	return id;
}

/* How many of a kernel stack's frames, from the leaf, are the tracer's own. */
static uint32_t tracer_frames(struct translator *t, const __u64 *addrs, size_t n)
{
	uint32_t first = 0;

	while (first < n && symbolizer_is_tracer_frame(t->sym, addrs[first]))
		first++;
	return first;
}

/* Fills ids with a kernel stack's frames, the tracer's own left out; returns how many. */
static size_t kernel_frames(struct translator *t, const __u64 *addrs, size_t n, uint32_t *ids)
{
	size_t first = tracer_frames(t, addrs, n);

	for (size_t i = first; i < n; i++)
		ids[i - first] = kernel_frame(t, addrs[i]);
	return n - first;
}

/*
 * Fills ids with a user stack's frames. Code without frame pointers leads the walk astray: from
 * the first return address that lies in no code on, what it found are not frames.
 */
static size_t user_frames(struct translator *t, uint32_t space, uint64_t time_ns,
			  const __u64 *addrs, size_t n, uint32_t *ids)
{
	size_t i = 0;

	for (; space && i < n; i++) {
		if (i && !symbolizer_is_code(t->sym, space, addrs[i], time_ns))
			break;
		ids[i] = user_frame(t, space, addrs[i], time_ns);
	}
	return i;
}

/* A stack record's frames into ids; *cut tells whether the real stack went on. */
static size_t frame_ids(struct translator *t, const struct wire_stack *s, uint32_t space,
			uint32_t *ids, bool *cut)
{
	size_t n;

	*cut = s->n >= WIRE_STACK_MAX;
	if (!s->tgid)
		return kernel_frames(t, s->frames, s->n, ids);
	n = user_frames(t, space, s->r.time_ns, s->frames, s->n, ids);
	*cut |= n < s->n;
	return n;
}

/* Without memory for it NULL: then the stack has its first meaning for good. */
static struct user_stack *keep_user_stack(const struct wire_stack *s, uint32_t space)
{
	uint8_t addrs[WIRE_STACK_MAX * CHAINLOG_VARINT_MAX], *p = addrs;
	uint64_t before = 0;
	struct user_stack *u;

	for (uint32_t i = 0; i < s->n; i++) {
		p = chainlog_put_varint(p, chainlog_zigzag((int64_t)(s->frames[i] - before)));
		before = s->frames[i];
	}
	u = malloc(sizeof(*u) + (size_t)(p - addrs));
	if (!u)
		return NULL;
	*u = (struct user_stack) { s->tgid, space, s->n, s->n >= WIRE_STACK_MAX };
	memcpy(u->addrs, addrs, (size_t)(p - addrs));
	return u;
}

static void get_addrs(const struct user_stack *u, __u64 *addrs)
{
	const uint8_t *p = u->addrs;
	uint64_t before = 0, v = 0;

	for (uint32_t i = 0; i < u->n; i++) {
		p = chainlog_get_varint(p, p + CHAINLOG_VARINT_MAX, &v);
		addrs[i] = before += (uint64_t)chainlog_unzigzag(v);
	}
}

static int take_stack(struct translator *t, const struct wire_stack *s, size_t len)
{
	uint32_t ids[WIRE_STACK_MAX], id, space = 0;
	struct known_stack *known = NULL;
	bool cut;
	size_t n;

	if (s->n > WIRE_STACK_MAX ||
	    len < offsetof(struct wire_stack, frames) + s->n * sizeof(__u64) || is_layout(s->id))
		return -EBADMSG;
	if (!(s->id & WIRE_STACK_ONCE)) {
		/* Two CPUs may have sent it at the same time. */
		known = known_stack(t, s->id);
		if (!known || (known->id && !(known->id & UNDEFINED)))
			return 0;
	}
	if (s->tgid)
		space = symbolizer_space(t->sym, s->tgid, s->r.time_ns);
	n = frame_ids(t, s, space, ids, &cut);
	if (known && space && !known->user)
		known->user = keep_user_stack(s, space);
	/* What an event named that came after a change of code stays undefined. */
	if (known && known->id && (!space || symbolizer_holds(t->sym, space, known->named_ns))) {
		known->id &= ~UNDEFINED;
		return encoder_stack_define(t->enc, known->id, ids, n, cut);
	}
	id = encoder_stack(t->enc, ids, n, cut);
	if (known) {
		known->id = id;
		return id ? 0 : -ENOMEM;
	}
	t->once[t->next_once].wire_id = s->id;
	t->once[t->next_once].id = id;
	t->next_once = (t->next_once + 1) % ONCE_SLOTS;
	t->n_once++;
	return id ? 0 : -ENOMEM;
}

/* The stack's id where other code is now at its addresses than when it was told. */
static uint32_t tell_again(struct translator *t, struct known_stack *k, uint64_t time_ns)
{
	struct user_stack *u = k->user;
	uint32_t ids[WIRE_STACK_MAX];
	__u64 addrs[WIRE_STACK_MAX];
	size_t n;

	get_addrs(u, addrs);
	u->space = symbolizer_space(t->sym, u->tgid, time_ns);
	n = user_frames(t, u->space, time_ns, addrs, u->n, ids);
	k->id = encoder_stack(t->enc, ids, n, u->cut || n < u->n);
	return k->id;
}

/* The trace's id for the stack of an event. */
static uint32_t event_stack(struct translator *t, uint32_t wire_id, uint64_t time_ns)
{
	struct known_stack *k;

	if (!wire_id)
		return 0;
	if (wire_id & WIRE_STACK_ONCE) {
		for (unsigned int i = 0; i < ONCE_SLOTS; i++)
			if (t->once[i].wire_id == wire_id)
				return t->once[i].id;
		/* Its stack found no room: an id that stays undefined says so. */
		return encoder_stack_reserve(t->enc);
	}
	if (is_layout(wire_id))
		return t->layouts[(wire_id & ~WIRE_STACK_LAYOUT) % WIRE_LAYOUTS];
	k = known_stack(t, wire_id);
	if (!k)
		return encoder_stack_reserve(t->enc);
	if (k->user && !symbolizer_holds(t->sym, k->user->space, time_ns))
		return tell_again(t, k, time_ns);
	if (!k->id)
		k->id = encoder_stack_reserve(t->enc) | UNDEFINED;
	if (k->id & UNDEFINED && time_ns > k->named_ns)
		k->named_ns = time_ns;
	return k->id & ~UNDEFINED;
}

int translator_thread(void *ctx, const struct wire_thread *w)
{
	struct translator *t = ctx;
	bool on_cpu = w->flags & WIRE_THREAD_ON_CPU;
	char name[WIRE_COMM_LEN + 1] = { 0 };
	struct encoder_thread thread = {
		.tid = w->tid,
		.tgid = w->tgid,
		.start_ns = w->start_ns,
		.seen_ns = w->seen_ns,
		.flags = (w->flags & WIRE_THREAD_KTHREAD ? CHAINLOG_THREAD_KTHREAD : 0u) |
			 (on_cpu ? CHAINLOG_THREAD_RUNNING : 0u),
		.state = on_cpu ? 'R' : translator_state_letter(w->state),
		.name = name,
	};
	uint32_t ids[WIRE_STACK_MAX];
	size_t n = w->n_kernel;

	memcpy(name, w->name, WIRE_COMM_LEN);
	if (n > WIRE_STACK_MAX)
		return -EBADMSG;
	if (n) {
		n = kernel_frames(t, w->frames, n, ids);
		thread.kstack = encoder_stack(t->enc, ids, n, w->n_kernel == WIRE_STACK_MAX);
	}
	return encoder_thread(t->enc, &thread);
}

/* Strings come from a foreign thread's memory: they end where their field ends at the latest. */
#define FIELD_STRING(name, field)             \
	char name[sizeof(field) + 1] = { 0 }; \
	memcpy(name, field, sizeof(field))

int translator_identity(struct encoder *enc, const struct wire_record *r)
{
	switch (r->kind) {
	case WIRE_FORK: {
		const struct wire_fork *ev = (const void *)r;
		FIELD_STRING(name, ev->name);

		return encoder_fork(enc, r->cpu, r->time_ns, ev->parent, ev->child, ev->child_tgid,
				    name);
	}
	case WIRE_EXEC: {
		const struct wire_exec *ev = (const void *)r;
		FIELD_STRING(filename, ev->filename);

		return encoder_exec(enc, r->cpu, r->time_ns, ev->tid, ev->old_tid, filename);
	}
	case WIRE_RENAME: {
		const struct wire_rename *ev = (const void *)r;
		FIELD_STRING(name, ev->name);

		return encoder_rename(enc, r->cpu, r->time_ns, ev->tid, name);
	}
	default:
		return encoder_exit(enc, r->cpu, r->time_ns,
				    ((const struct wire_exit *)(const void *)r)->tid);
	}
}

/* From now on the kernel side may name the stack by its layout. */
static void take_sample(struct translator *t, const struct wire_sample *s)
{
	uint32_t layout =
		t->on_sample ? t->on_sample(t->sample_ctx, s, tracer_frames(t, s->frames, s->n))
			     : 0;

	if (layout)
		t->layouts[layout % WIRE_LAYOUTS] = event_stack(t, s->id, s->r.time_ns);
}

int translator_check(const struct wire_record *r, size_t len)
{
	static const size_t size_of[WIRE_KINDS] = {
		[WIRE_SWITCH] = sizeof(struct wire_switch),
		[WIRE_WAKING] = sizeof(struct wire_waking),
		[WIRE_WAKING_NEW] = sizeof(struct wire_waking),
		[WIRE_FORK] = sizeof(struct wire_fork),
		[WIRE_EXEC] = sizeof(struct wire_exec),
		[WIRE_RENAME] = sizeof(struct wire_rename),
		[WIRE_EXIT] = sizeof(struct wire_exit),
		[WIRE_STACK] = offsetof(struct wire_stack, frames),
		[WIRE_LOST] = sizeof(struct wire_lost),
		[WIRE_SAMPLE] = sizeof(struct wire_sample),
	};

	return r->kind >= WIRE_KINDS || len < size_of[r->kind] ? -EBADMSG : 0;
}

int translator_record(void *ctx, const struct wire_record *r, size_t len)
{
	struct translator *t = ctx;

	if (translator_check(r, len))
		return -EBADMSG;
	switch (r->kind) {
	case WIRE_SWITCH: {
		const struct wire_switch *ev = (const void *)r;

		return encoder_switch(t->enc, r->cpu, r->time_ns, ev->prev,
				      translator_state_letter(ev->state), ev->next,
				      event_stack(t, ev->kstack, r->time_ns),
				      event_stack(t, ev->ustack, r->time_ns));
	}
	case WIRE_WAKING:
	case WIRE_WAKING_NEW: {
		const struct wire_waking *ev = (const void *)r;

		return encoder_waking(t->enc, r->cpu, r->time_ns,
				      r->kind == WIRE_WAKING ? CHAINLOG_WAKING
							     : CHAINLOG_WAKING_NEW,
				      ev->waker, ev->target, event_stack(t, ev->kstack, r->time_ns),
				      event_stack(t, ev->ustack, r->time_ns));
	}
	case WIRE_STACK:
		return take_stack(t, (const void *)r, len);
	case WIRE_LOST: {
		const struct wire_lost *l = (const void *)r;

		return encoder_lost(t->enc, (int)r->cpu, l->n, r->time_ns, l->last_ns);
	}
	case WIRE_SAMPLE: {
		const struct wire_sample *s = (const void *)r;

		if (s->n > WIRE_LAYOUT_FRAMES || s->n_words > WIRE_SAMPLE_WORDS)
			return -EBADMSG;
		take_sample(t, s);
		return 0;
	}
	default:
		return translator_identity(t->enc, r);
	}
}
