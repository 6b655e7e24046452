// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes a chaincap that also writes a tape (tape.h) of what its translator gets, to the file in
 * TAPE_OUT: it is linked with --wrap for the functions below, so nothing in chaincap knows of it.
 *
 * TAPE_OF has names of programs. Only what concerns their processes, those that they started, and
 * threads of these names that were there before, is on the tape: nothing of what else the machine
 * did, and stacks and objects only if an event that is kept refers to them.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/grow.h"
#include "events/translate.h"
#include "kernel/bpf.h"
#include "tape.h"

#define PLACES (1u << 24)
#define CPUS 1024u
#define RECORDERS 50u

struct item {
	struct tape_head head;
	bool kept;
	void *bytes;
};

/* One bit a number: which threads, ids of stacks, of layouts and of objects are ours. */
struct marks {
	uint8_t bit[PLACES / 8];
};

static struct tape {
	struct item *items;
	size_t n, cap;
	struct marks tids, stacks, once, layouts, objects;
	uint64_t switch_ns[CPUS]; /* by CPU: of the last switch that is kept */
	uint32_t recorders;	  /* WIRE_RECORDER that are kept */
} tape;

static void mark(struct marks *m, uint32_t i)
{
	if (i)
		m->bit[i % PLACES / 8] |= (uint8_t)(1u << i % 8);
}

static bool is_marked(const struct marks *m, uint32_t i)
{
	return i && m->bit[i % PLACES / 8] >> i % 8 & 1;
}

/* ---- recording ------------------------------------------------------------------------------ */

int __real_translator_record(void *ctx, const struct wire_record *r, size_t len);
int __wrap_translator_record(void *ctx, const struct wire_record *r, size_t len);
int __real_translator_thread(void *ctx, const struct wire_thread *w);
int __wrap_translator_thread(void *ctx, const struct wire_thread *w);
int __real_translator_holder(void *ctx, uint32_t tid, uint32_t holder);
int __wrap_translator_holder(void *ctx, uint32_t tid, uint32_t holder);
uint32_t __real_bpf_session_learn(void *session, const struct wire_layout_sample *s,
				  uint32_t first);
uint32_t __wrap_bpf_session_learn(void *session, const struct wire_layout_sample *s,
				  uint32_t first);
void __real_bpf_session_close(struct bpf_session *s);
void __wrap_bpf_session_close(struct bpf_session *s);

static void keep(enum tape_item kind, const void *bytes, size_t len)
{
	struct item i = { .head = { kind, (uint32_t)len }, .bytes = malloc(len) };

	if (!i.bytes || !GROW(tape.items, tape.n, tape.cap)) {
		fputs("tape: out of memory\n", stderr);
		exit(1);
	}
	memcpy(i.bytes, bytes, len);
	tape.items[tape.n++] = i;
}

int __wrap_translator_record(void *ctx, const struct wire_record *r, size_t len)
{
	keep(TAPE_RECORD, r, len);
	return __real_translator_record(ctx, r, len);
}

int __wrap_translator_thread(void *ctx, const struct wire_thread *w)
{
	keep(TAPE_THREAD, w, sizeof(*w));
	return __real_translator_thread(ctx, w);
}

int __wrap_translator_holder(void *ctx, uint32_t tid, uint32_t holder)
{
	keep(TAPE_HOLDER, (const uint32_t[]) { tid, holder }, 2 * sizeof(uint32_t));
	return __real_translator_holder(ctx, tid, holder);
}

uint32_t __wrap_bpf_session_learn(void *session, const struct wire_layout_sample *s, uint32_t first)
{
	uint32_t layout = __real_bpf_session_learn(session, s, first);

	keep(TAPE_LEARNT, &layout, sizeof(layout));
	return layout;
}

/* ---- what is ours --------------------------------------------------------------------------- */

/* Whether the name is a word of TAPE_OF. */
static bool is_named(const char *name, size_t size)
{
	const char *of = getenv("TAPE_OF");
	size_t len = strnlen(name, size), n;

	for (; of && *of; of += n + (of[n] == ' ')) {
		n = strcspn(of, " ");
		if (n == len && !memcmp(of, name, n))
			return true;
	}
	return false;
}

/* The member f of the record. */
#define MEMBER(record, f) ((const struct wire_##record *)(const void *)r)->f

/* The threads that a record is about: at most two. */
static void tids_of(const struct wire_record *r, uint32_t tid[2])
{
	tid[0] = tid[1] = 0;
	switch (r->kind) {
	case WIRE_SWITCH:
		tid[0] = MEMBER(switch, prev), tid[1] = MEMBER(switch, next);
		break;
	case WIRE_WAKING:
	case WIRE_WAKING_NEW:
		tid[0] = MEMBER(waking, waker), tid[1] = MEMBER(waking, target) & ~WIRE_OFF_QUEUE;
		break;
	case WIRE_FORK:
		tid[0] = MEMBER(fork, parent), tid[1] = MEMBER(fork, child);
		break;
	case WIRE_PROBED:
	case WIRE_PROBED_OPEN:
		tid[0] = MEMBER(request, reader), tid[1] = MEMBER(request, writer);
		break;
#define TID(record, f) tid[0] = MEMBER(record, f);
#define OTHER(record, f) tid[1] = MEMBER(record, f);
#define SMALL(record, f)
#define EVENT(NAME, number, record, slices, shown, key, fields) \
	case WIRE_##NAME:                                       \
		fields break;
#include "events.def"
	default:
		tid[0] = MEMBER(of_thread, tid);
		break;
	}
}

/* Notes the threads that become ours by the record. */
static void join(const struct wire_record *r)
{
	if (r->kind == WIRE_EXEC) {
		const struct wire_exec *e = (const void *)r;
		char path[WIRE_PATH_LEN + 1] = "", *name;

		memcpy(path, e->filename, WIRE_PATH_LEN);
		name = strrchr(path, '/');
		if (is_named(name ? name + 1 : path, WIRE_PATH_LEN))
			mark(&tape.tids, e->tid);
	} else if (r->kind == WIRE_FORK) {
		const struct wire_fork *f = (const void *)r;

		if (is_marked(&tape.tids, f->parent))
			mark(&tape.tids, f->child);
	}
}

static bool is_ours(const struct wire_record *r)
{
	uint32_t tid[2];

	switch (r->kind) {
	case WIRE_INTERRUPTS:
	case WIRE_STEAL:
		return r->cpu < CPUS && tape.switch_ns[r->cpu] == r->time_ns;
	case WIRE_RECORDER: /* very many */
		return tape.recorders++ < RECORDERS;
	case WIRE_LOST:
		return true;
	case WIRE_CODE:
		return is_marked(&tape.tids, ((const struct wire_code *)(const void *)r)->tgid);
	default:
		if (r->kind >= WIRE_COUNTED_KINDS)
			return false; /* decided when all is known that refers to it */
		tids_of(r, tid);
		return is_marked(&tape.tids, tid[0]) || is_marked(&tape.tids, tid[1]);
	}
}

/* ---- what these refer to -------------------------------------------------------------------- */

static void use_stack(uint32_t id)
{
	if (wire_layout(id))
		mark(&tape.layouts, wire_layout(id));
	else
		mark(id & WIRE_STACK_ONCE ? &tape.once : &tape.stacks, id & ~WIRE_STACK_ONCE);
}

static void use_stacks(uint32_t kstack, uint32_t ustack)
{
	use_stack(kstack);
	use_stack(ustack);
}

static void use(struct wire_record *r)
{
	union {
		struct wire_switch sw;
		struct wire_waking waking;
	} *w = (void *)r;

	switch (r->kind) {
	case WIRE_SWITCH:
		if (!is_marked(&tape.tids, w->sw.prev))
			w->sw.kstack = w->sw.ustack = w->sw.object = 0;
		use_stacks(w->sw.kstack, w->sw.ustack);
		mark(&tape.objects, w->sw.object);
		if (r->cpu < CPUS)
			tape.switch_ns[r->cpu] = r->time_ns;
		break;
	case WIRE_WAKING:
	case WIRE_WAKING_NEW:
		if (!is_marked(&tape.tids, w->waking.waker))
			w->waking.ustack = 0;
		use_stacks(w->waking.kstack, w->waking.ustack);
		break;
	case WIRE_PROBED:
	case WIRE_PROBED_OPEN:
		use_stacks(MEMBER(request, kstack), MEMBER(request, ustack));
		break;
#define KSTACK(record) use_stack(MEMBER(record, kstack));
#define USTACK(record) use_stack(MEMBER(record, ustack));
#define OBJECT(record, f) mark(&tape.objects, MEMBER(record, f));
#define MADE_OBJECT(record, f)
#define EVENT(NAME, number, record, slices, shown, key, fields) \
	case WIRE_##NAME:                                       \
		fields break;
#include "events.def"
	default:
		break;
	}
}

/* A sample is kept for the layout that it gives; the words of the stack are nobody's business. */
static void choose_sample(struct item *i, struct item *learnt)
{
	struct wire_layout_sample *s = i->bytes;
	uint32_t layout = *(const uint32_t *)learnt->bytes;

	i->kept = learnt->kept = layout && is_marked(&tape.layouts, layout);
	if (i->kept)
		mark(&tape.stacks, s->id);
	memset(s->words, 0, sizeof(s->words));
}

/* Of a group's path, what this machine calls its groups. */
static void hide_groups(struct wire_object *o)
{
	char *name = o->path, *end = o->path + o->path_len;

	for (; name < end; name += strlen(name) + 1)
		if (strncmp(name, "chain", 5))
			memset(name, 'g', strlen(name));
}

static void choose_definition(struct item *i)
{
	union {
		struct wire_record r;
		struct wire_stack stack;
		struct wire_object object;
	} *w = i->bytes;

	if (w->r.kind == WIRE_STACK)
		i->kept = is_marked(w->stack.id & WIRE_STACK_ONCE ? &tape.once : &tape.stacks,
				    w->stack.id & ~WIRE_STACK_ONCE);
	else if (w->r.kind == WIRE_OBJECT)
		i->kept = is_marked(&tape.objects, w->object.id);
	if (w->r.kind == WIRE_OBJECT && w->object.key.kind == WIRE_OBJECT_GROUP)
		hide_groups(&w->object);
}

static void choose(void)
{
	for (struct item *i = tape.items; i < tape.items + tape.n; i++) {
		const struct wire_thread *th = i->bytes;
		const uint32_t *holder = i->bytes;

		if (i->head.item == TAPE_RECORD) {
			join(i->bytes);
			i->kept = is_ours(i->bytes);
			if (i->kept)
				use(i->bytes);
		} else if (i->head.item == TAPE_THREAD) {
			if (is_named(th->name, sizeof(th->name)))
				mark(&tape.tids, th->tgid);
			i->kept = is_marked(&tape.tids, th->tgid);
			if (i->kept) {
				mark(&tape.tids, th->tid);
				use_stack(th->ustack);
				mark(&tape.objects, th->object);
				mark(&tape.objects, th->group);
			}
		} else if (i->head.item == TAPE_HOLDER) {
			i->kept = is_marked(&tape.tids, holder[0]);
		}
	}
	for (struct item *i = tape.items; i + 1 < tape.items + tape.n; i++)
		if (i[1].head.item == TAPE_LEARNT)
			choose_sample(i, i + 1);
	for (struct item *i = tape.items; i < tape.items + tape.n; i++)
		if (i->head.item == TAPE_RECORD && !i->kept)
			choose_definition(i);
}

/* The end of the recording: all that is to come has come. */
void __wrap_bpf_session_close(struct bpf_session *s)
{
	const char *path = getenv("TAPE_OUT");
	gzFile out = path ? gzopen(path, "wb9") : NULL;

	__real_bpf_session_close(s);
	choose();
	for (size_t i = 0; i < tape.n; i++) {
		if (out && tape.items[i].kept) {
			gzwrite(out, &tape.items[i].head, sizeof(tape.items[i].head));
			gzwrite(out, tape.items[i].bytes, tape.items[i].head.len);
		}
		free(tape.items[i].bytes);
	}
	free(tape.items);
	if (!out || gzclose(out) != Z_OK) {
		fprintf(stderr, "tape: %s: not written\n", path ? path : "TAPE_OUT");
		exit(1);
	}
}
