// SPDX-License-Identifier: GPL-2.0-or-later
#include "id_map.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "chainlog.h"
#include "interpreters/java_frames.h"
#include "kallsyms/kernel_names.h"
#include "kernel/bpf.h"
#include "route_ids.h"

/* Flag of a store id: an event has it, but its record has not come yet (from another ring). */
#define UNDEFINED 0x80000000u
/*
 * Number of slots, a power of two. The BPF side uses the last BPF_SESSION_IDS ids, up to half as
 * many more until old ones are deleted, and those that it assigns during that.
 */
#define SLOTS (2 * BPF_SESSION_IDS)
/* How many WIRE_STACK_ONCE stacks are kept. Each stands right before its event in its ring. */
#define ONCE_SLOTS 16u
/*
 * How many stacks that wait for a rule can be told apart, a power of two: more than the queue of
 * pending stacks has room for. Their ids are given in turn.
 */
#define AWAITED 16384u

/* The addresses of a stack. */
struct stack_addrs {
	uint32_t n, len; /* addresses, with those of interpreted code; bytes */
	uint32_t n_code; /* as in struct wire_stack */
	uint64_t eval_start, eval_end;
	enum chainlog_stack_end end;
	uint8_t addrs[]; /* varints: the difference to the address before */
};

/*
 * What a wire id or a layout stands for. The BPF side knows stacks by their addresses only. When a
 * process loads a library where another one was, or the kernel a module or a BPF program, the same
 * addresses become another stack: it is defined again under another id of the store.
 */
struct slot {
	uint32_t wire_id; /* 0: free; layouts have none */
	uint32_t id;	  /* the store's, or 0; UNDEFINED may be set */
	/*
	 * If UNDEFINED: the time of the last event that refers to it. Else, of a kernel stack: when
	 * the addresses had the meaning that id has.
	 */
	uint64_t time_ns;
	uint32_t tgid, space;	   /* of a user stack that can be defined again; else 0 */
	bool is_fluid;		   /* a kernel stack that can be defined again */
	bool in_doubt;		   /* a user stack that was cut because the rest was doubtful */
	bool is_object;		   /* stacks and objects share the wire ids */
	bool again;		   /* an object of which not all was known: it comes again */
	struct wire_object *bare;  /* its record meanwhile, as long as it is not defined by it */
	struct stack_addrs *addrs; /* if it can be defined again; else NULL */
};

struct id_map {
	struct definition_store store;
	struct symbolizer *sym;
	struct code_map *code;
	struct route_ids *routes;
	uint32_t newest;	  /* wire id */
	struct slot slots[SLOTS]; /* by wire id modulo SLOTS */
	struct slot layouts[WIRE_LAYOUTS];
	struct {
		uint32_t wire_id, id;
	} once[ONCE_SLOTS];
	struct {
		uint32_t wire_id, id; /* 0: free. The event has that id, the stack is not known */
	} awaited[AWAITED];	      /* of WIRE_STACK_COPY, by wire id */
	uint64_t n_once;
	uint64_t unknown_code; /* atomic: frames of code that is not there any more */
	uint64_t n_full;       /* how many of them were sent because the BPF side's map was full */
};

int id_map_new(struct id_map **out, const struct definition_store *store, struct symbolizer *sym)
{
	struct id_map *m = calloc(1, sizeof(*m));

	*out = m;
	if (!m || code_map_new(&m->code) || route_ids_new(&m->routes, store)) {
		id_map_free(m);
		*out = NULL;
		return -ENOMEM;
	}
	m->store = *store;
	m->sym = sym;
	return 0;
}

void id_map_free(struct id_map *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < SLOTS; i++) {
		free(m->slots[i].addrs);
		free(m->slots[i].bare);
	}
	for (uint32_t i = 0; i < WIRE_LAYOUTS; i++)
		free(m->layouts[i].addrs);
	code_map_free(m->code);
	route_ids_free(m->routes);
	free(m);
}

const char *id_map_asked(const struct id_map *m, uint32_t route)
{
	return route_ids_asked(m->routes, route);
}

uint64_t id_map_unknown_code(const struct id_map *m)
{
	return __atomic_load_n(&m->unknown_code, __ATOMIC_RELAXED);
}

uint64_t id_map_unknown_routes(const struct id_map *m)
{
	return route_ids_no_room(m->routes);
}

uint64_t id_map_once(const struct id_map *m)
{
	return m->n_full;
}

/* Wire ids are given in turn, modulo WIRE_STACK_IDS. */
static bool is_newer(uint32_t a, uint32_t b)
{
	return ((a - b) & (WIRE_STACK_IDS - 1)) < WIRE_STACK_IDS / 2;
}

static size_t size_of(const struct wire_object *o)
{
	return offsetof(struct wire_object, path) + o->path_len;
}

/* Defines an object under the id that events have already, if they do. */
static int define_object(struct id_map *m, struct slot *k, const struct object_text *text,
			 uint64_t time_ns)
{
	uint32_t id = k->id & UNDEFINED ? k->id & ~UNDEFINED : 0;
	int err = m->store.object(m->store.ctx, &id, text, time_ns);

	k->id = id;
	return err;
}

/* What is not known up to now about an object that events have is not said of it. */
static int define_bare(struct id_map *m, struct slot *k)
{
	struct object_text text;
	int err = 0;

	if (k->bare && (k->id & UNDEFINED) && !object_describe(k->bare, size_of(k->bare), &text))
		err = define_object(m, k, &text, k->bare->r.time_ns);
	free(k->bare);
	k->bare = NULL;
	return err;
}

static void clear_slot(struct id_map *m, struct slot *k)
{
	define_bare(m, k); /* an error of the store comes again at its next call */
	free(k->addrs);
	*k = (struct slot) { 0 };
}

/*
 * The slot of a wire id, cleared if the id is new. NULL: the id is old, a newer one has its slot.
 */
static struct slot *get_slot(struct id_map *m, uint32_t wire_id)
{
	struct slot *k = &m->slots[wire_id % SLOTS];

	if (k->wire_id == wire_id)
		return k;
	if (k->wire_id && !is_newer(wire_id, k->wire_id))
		return NULL;
	if (is_newer(wire_id, m->newest))
		m->newest = wire_id;
	clear_slot(m, k);
	k->wire_id = wire_id;
	return k;
}

/* The id of a store that does not count uses, or after it has noted this one. */
static uint32_t used(struct id_map *m, bool is_object, uint32_t id, uint64_t time_ns)
{
	if (id && m->store.use)
		m->store.use(m->store.ctx, is_object, id, time_ns);
	return id;
}

/* ---- frames -------------------------------------------------------------------------------- */

uint32_t id_map_tracer_frames(const struct id_map *m, const __u64 *addrs, uint32_t n,
			      uint64_t time_ns)
{
	uint32_t first = 0;

	/* After a loss of records it is unknown what lies where BPF programs do: who calls it
	 * tells. */
	for (uint32_t i = 0; i < n; i++)
		if (symbolizer_is_tracer_frame(m->sym, addrs[i], time_ns))
			first = i + 1;
		else if (!symbolizer_is_unknown_code(m->sym, addrs[i], time_ns))
			break;
	return first;
}

/* Fills ids with a kernel stack's frames except the tracer's own; returns how many. */
static size_t kernel_frames(struct id_map *m, uint64_t time_ns, const __u64 *addrs, uint32_t n,
			    uint32_t *ids)
{
	uint32_t first = id_map_tracer_frames(m, addrs, n, time_ns);

	for (uint32_t i = first; i < n; i++) {
		bool is_after_entry = i > first && symbolizer_is_kernel_entry(m->sym, addrs[i - 1]);
		uint64_t addr = addrs[i] ^ (is_after_entry ? WIRE_EXACT : 0);

		ids[i - first] = m->store.frame(m->store.ctx, 0, addr, time_ns);
	}
	return n - first;
}

static uint32_t code_frame(struct id_map *m, uint32_t space, uint64_t time_ns, uint64_t frame)
{
	struct code_location at = code_map_find(m->code, frame);
	uint64_t line = at.line < 1u << WIRE_CODE_PLACE_BITS ? at.line : 0;

	if (!at.is_hidden && !*at.function && !*at.file)
		__atomic_fetch_add(&m->unknown_code, 1, __ATOMIC_RELAXED);
	if (at.is_hidden)
		return 0;
	return m->store.code_frame(
		m->store.ctx, space,
		CHAINLOG_CODE_TAG | (uint64_t)wire_code_id(frame) << WIRE_CODE_PLACE_BITS | line,
		&at, time_ns);
}

/* The collector's own ids of other code have fewer bits set. */
#define JAVA_IDS 0xc0000000u

enum java_kind { JAVA_NOT, JAVA_NO_METHOD, JAVA_LATE, JAVA_FRAME };

static uint32_t java_frame(struct id_map *m, uint32_t space, uint64_t time_ns,
			   const struct jvms_name *name)
{
	struct code_location at = { name->function, name->file, name->line, false };
	uint64_t key = (uint64_t)(JAVA_IDS | name->id) << WIRE_CODE_PLACE_BITS | name->line;

	if (!name->id)
		__atomic_fetch_add(&m->unknown_code, 1, __ATOMIC_RELAXED);
	return m->store.code_frame(m->store.ctx, space, CHAINLOG_CODE_TAG | key, &at, time_ns);
}

/*
 * Appends what the frame is by its names of Java's to ids, up to WIRE_STACK_MAX; what the JVM has
 * between methods is left out.
 */
static enum java_kind java_frames(struct id_map *m, uint32_t space, uint64_t time_ns,
				  uint64_t frame, bool is_leaf, uint32_t *ids, size_t *kept)
{
	struct jvms_names names = { .n = 0 };
	int err = java_frames_names(m->sym, space, frame, time_ns, &names);
	bool is_late = err == -EAGAIN;

	if (err && !is_late)
		return wire_is_java_method(frame) ? JAVA_NO_METHOD : JAVA_NOT;
	if (is_late)
		names = (struct jvms_names) { .n = 1, .list = { { "", "", 0, 0, false } } };
	for (uint32_t i = 0; i < names.n && *kept < WIRE_STACK_MAX; i++) {
		const struct jvms_name *name = &names.list[i];

		if (!name->id || name->is_method || is_leaf)
			ids[(*kept)++] = java_frame(m, space, time_ns, name);
		is_late |= !name->id;
	}
	symbolizer_has_code(m->sym, space);
	return is_late ? JAVA_LATE : JAVA_FRAME;
}

/*
 * Fills ids with a user stack's frames; returns how many. In code without frame pointers a walk can
 * go astray: the stack is cut at the first return address that lies in no code. It is also cut
 * where it may have been unwound by the rules of code that was there before; then *in_doubt is set.
 * *end: why it ends, which is changed if it was cut here.
 */
static size_t user_frames(struct id_map *m, uint32_t space, uint64_t time_ns, struct code_stack s,
			  uint32_t *ids, enum chainlog_stack_end *end, bool *in_doubt)
{
	uint32_t n = symbolizer_trusted_prefix(m->sym, space, s.frames, s.n, time_ns, in_doubt);
	__u64 frames[WIRE_STACK_MAX + WIRE_CODE_FRAMES];
	uint16_t order[WIRE_STACK_MAX];
	size_t kept = 0;
	bool cut;

	if (n < s.n || *in_doubt)
		*end = CHAINLOG_STACK_NO_RULE;
	memcpy(frames, s.frames, n * sizeof(*frames));
	memcpy(frames + n, s.frames + s.n, s.n_code * sizeof(*frames));
	s.frames = frames;
	s.n = n;
	s.whole = *end == CHAINLOG_STACK_WHOLE || *end == CHAINLOG_STACK_GUESSED;
	n = code_stack_order(&s, order, &cut);
	if (cut)
		*end = CHAINLOG_STACK_DEPTH;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t frame = frames[order[i]];
		enum java_kind java = JAVA_NOT;

		if (kept == WIRE_STACK_MAX) {
			*end = CHAINLOG_STACK_DEPTH;
			break;
		}
		if (order[i] < s.n)
			java = java_frames(m, space, time_ns, frame, !i, ids, &kept);
		if (java == JAVA_NO_METHOD) {
			*end = CHAINLOG_STACK_NO_RULE;
			break;
		}
		/* It is named when it comes again. */
		*in_doubt |= java == JAVA_LATE;
		if (java == JAVA_NOT && order[i] < s.n)
			ids[kept++] = m->store.frame(m->store.ctx, space, frame, time_ns);
		else if (java == JAVA_NOT &&
			 (ids[kept] = code_frame(m, space, time_ns, frame)) != 0)
			kept++;
	}
	if (s.n_code)
		symbolizer_has_code(m->sym, space);
	return kept;
}

static enum chainlog_stack_end stack_end(uint32_t n, uint32_t end)
{
	if (end == CHAINLOG_STACK_UNKNOWN && n == WIRE_STACK_MAX)
		return CHAINLOG_STACK_DEPTH;
	return end < CHAINLOG_STACK_ENDS ? (enum chainlog_stack_end)end : CHAINLOG_STACK_UNKNOWN;
}

uint32_t id_map_listed_stack(struct id_map *m, const struct wire_thread *t)
{
	uint32_t end = t->flags & WIRE_THREAD_CUT ? CHAINLOG_STACK_DEPTH : CHAINLOG_STACK_UNKNOWN;
	uint32_t ids[WIRE_STACK_MAX], id = 0;
	size_t kept;

	if (!t->n_kernel || t->n_kernel > WIRE_STACK_MAX)
		return 0;
	kept = kernel_frames(m, t->seen_ns, t->frames, t->n_kernel, ids);
	m->store.stack(m->store.ctx, &id, ids, kept, stack_end(t->n_kernel, end), t->seen_ns);
	return id;
}

/* A compact copy of the stack's addresses, to be freed; NULL when out of memory. */
static struct stack_addrs *keep_addrs(const struct wire_stack *s)
{
	uint8_t addrs[(WIRE_STACK_MAX + WIRE_CODE_FRAMES) * CHAINLOG_VARINT_MAX], *p = addrs;
	uint32_t n = s->n + s->n_code;
	uint64_t before = 0;
	struct stack_addrs *u;

	for (uint32_t i = 0; i < n; i++) {
		p = chainlog_put_varint(p, chainlog_zigzag((int64_t)(s->frames[i] - before)));
		before = s->frames[i];
	}
	u = malloc(sizeof(*u) + (size_t)(p - addrs));
	if (!u)
		return NULL;
	*u = (struct stack_addrs) {
		.n = n,
		.len = (uint32_t)(p - addrs),
		.n_code = s->n_code,
		.eval_start = s->eval_start,
		.eval_end = s->eval_end,
		.end = stack_end(s->n, s->end),
	};
	memcpy(u->addrs, addrs, (size_t)(p - addrs));
	return u;
}

/* Likewise. */
static struct stack_addrs *copy_addrs(const struct stack_addrs *a)
{
	struct stack_addrs *copy = malloc(sizeof(*a) + a->len);

	return copy ? memcpy(copy, a, sizeof(*a) + a->len) : NULL;
}

/* Decodes the addresses; returns how many. addrs has room for those of a struct wire_stack. */
static uint32_t get_addrs(const struct stack_addrs *u, __u64 *addrs, enum chainlog_stack_end *end)
{
	const uint8_t *p = u->addrs;
	uint64_t before = 0, v = 0;

	for (uint32_t i = 0; i < u->n; i++) {
		p = chainlog_get_varint(p, p + CHAINLOG_VARINT_MAX, &v);
		addrs[i] = before += (uint64_t)chainlog_unzigzag(v);
	}
	*end = u->end;
	return u->n;
}

/*
 * Keeps what it takes to define the stack again. If there is no memory for its addresses, it keeps
 * its first meaning.
 */
static void remember_user_stack(struct slot *k, const struct wire_stack *s, uint32_t space,
				bool in_doubt)
{
	k->addrs = keep_addrs(s);
	if (!k->addrs)
		return;
	k->tgid = s->tgid;
	k->space = space;
	k->in_doubt = in_doubt;
}

/* Likewise. A kernel stack that lies in the core kernel as a whole never changes its meaning. */
static void remember_kernel_stack(struct id_map *m, struct slot *k, const struct wire_stack *s)
{
	k->time_ns = s->r.time_ns;
	for (uint32_t i = 0; i < s->n && !k->is_fluid; i++)
		k->is_fluid = symbolizer_may_change(m->sym, s->frames[i]);
	if (!k->is_fluid)
		return;
	free(k->addrs);
	k->addrs = keep_addrs(s);
	k->is_fluid = k->addrs;
}

/* ---- stacks -------------------------------------------------------------------------------- */

static struct code_stack as_code_stack(const struct stack_addrs *a, const __u64 *addrs)
{
	return (struct code_stack) {
		.frames = addrs,
		.n = a->n - a->n_code,
		.n_code = a->n_code,
		.eval_start = a->eval_start,
		.eval_end = a->eval_end,
	};
}

/* Defines the stack by the code that is at its addresses at time_ns. Returns the new id. */
static uint32_t redefine(struct id_map *m, struct slot *k, uint64_t time_ns)
{
	__u64 addrs[WIRE_STACK_MAX + WIRE_CODE_FRAMES];
	uint32_t ids[WIRE_STACK_MAX], n_addrs;
	enum chainlog_stack_end end;
	size_t n;

	n_addrs = get_addrs(k->addrs, addrs, &end);
	if (k->is_fluid) {
		k->time_ns = time_ns;
		n = kernel_frames(m, time_ns, addrs, n_addrs, ids);
	} else {
		k->space = symbolizer_space(m->sym, k->tgid, time_ns);
		n = user_frames(m, k->space, time_ns, as_code_stack(k->addrs, addrs), ids, &end,
				&k->in_doubt);
	}
	k->id = 0;
	m->store.stack(m->store.ctx, &k->id, ids, n, end, time_ns);
	return k->id;
}

/* Whether the addresses of a defined stack still have that meaning at time_ns. */
static bool holds(struct id_map *m, const struct slot *k, uint64_t time_ns)
{
	if (k->is_fluid)
		return symbolizer_kernel_held(m->sym, k->time_ns, time_ns);
	return !k->tgid || symbolizer_is_valid_at(m->sym, k->space, time_ns);
}

/* The id of an event's stack that is neither a layout's nor for one event only. */
static uint32_t slot_id(struct id_map *m, uint32_t wire_id, uint64_t time_ns)
{
	struct slot *k = get_slot(m, wire_id);
	uint32_t id;

	if (!k)
		return m->store.reserve(m->store.ctx, false, time_ns);
	if (k->id && !(k->id & UNDEFINED) && (k->in_doubt || !holds(m, k, time_ns)))
		return redefine(m, k, time_ns);
	if (!k->id) {
		id = m->store.reserve(m->store.ctx, false, time_ns);
		if (!id)
			return 0;
		k->id = id | UNDEFINED;
	}
	if (k->id & UNDEFINED && time_ns > k->time_ns)
		k->time_ns = time_ns;
	return k->id & ~UNDEFINED;
}

static bool is_copy(uint32_t wire_id)
{
	return (wire_id & WIRE_STACK_COPY) == WIRE_STACK_COPY;
}

/* The id that the event has for which the stack was copied; 0: it has not come yet. */
static uint32_t take_awaited(struct id_map *m, uint32_t wire_id)
{
	uint32_t id = 0, at = wire_id % AWAITED;

	if (is_copy(wire_id) && m->awaited[at].wire_id == wire_id) {
		id = m->awaited[at].id;
		m->awaited[at].wire_id = m->awaited[at].id = 0;
	}
	return id;
}

static uint32_t once_id(struct id_map *m, uint32_t wire_id, uint64_t time_ns)
{
	uint32_t id;

	for (uint32_t i = 0; i < ONCE_SLOTS; i++)
		if (m->once[i].wire_id == wire_id)
			return m->once[i].id;
	/*
	 * A copy waits for a rule (user_stacks.c). Any other record found no room in the ring: the
	 * event gets an id that stays undefined.
	 */
	id = m->store.reserve(m->store.ctx, false, time_ns);
	if (is_copy(wire_id)) {
		m->awaited[wire_id % AWAITED].wire_id = wire_id;
		m->awaited[wire_id % AWAITED].id = id;
	}
	return id;
}

static uint32_t layout_id(struct id_map *m, uint32_t layout, uint64_t time_ns)
{
	struct slot *k = &m->layouts[layout % WIRE_LAYOUTS];

	return !k->id || holds(m, k, time_ns) ? k->id : redefine(m, k, time_ns);
}

uint32_t id_map_stack(struct id_map *m, uint32_t wire_id, uint64_t time_ns)
{
	uint32_t id;

	if (!wire_id)
		return 0;
	if (wire_layout(wire_id))
		id = layout_id(m, wire_layout(wire_id), time_ns);
	else if (wire_id & WIRE_STACK_ONCE)
		id = once_id(m, wire_id, time_ns);
	else
		id = slot_id(m, wire_id, time_ns);
	return used(m, false, id, time_ns);
}

bool id_map_is_settled(const struct id_map *m, uint32_t wire_id)
{
	const struct slot *k = &m->slots[wire_id % SLOTS];

	if (wire_layout(wire_id))
		k = &m->layouts[wire_layout(wire_id) % WIRE_LAYOUTS];
	else if (wire_id & WIRE_STACK_ONCE || k->wire_id != wire_id)
		return false;
	return k->id && !(k->id & UNDEFINED) && !k->is_fluid && !k->in_doubt;
}

void id_map_set_layout(struct id_map *m, uint32_t wire_id, uint32_t layout, uint64_t time_ns)
{
	struct slot *k = &m->layouts[layout % WIRE_LAYOUTS];
	const struct slot *from = get_slot(m, wire_id);

	free(k->addrs);
	*k = (struct slot) { .id = id_map_stack(m, wire_id, time_ns), .time_ns = time_ns };
	if (!from || !from->is_fluid || from->id & UNDEFINED)
		return;
	k->addrs = copy_addrs(from->addrs);
	k->is_fluid = k->addrs;
}

int id_map_take_stack(struct id_map *m, const struct wire_stack *s, size_t len)
{
	uint32_t ids[WIRE_STACK_MAX], id = 0, space = 0, awaited = 0;
	enum chainlog_stack_end end;
	struct slot *k = NULL;
	bool in_doubt = false;
	uint64_t event_ns;
	size_t n;
	int err;

	if (s->n > WIRE_STACK_MAX || s->n_code > (s->tgid ? WIRE_CODE_FRAMES : 0) ||
	    len < offsetof(struct wire_stack, frames) + (s->n + s->n_code) * sizeof(__u64) ||
	    wire_layout(s->id))
		return -EBADMSG;
	if (!(s->id & WIRE_STACK_ONCE)) {
		k = get_slot(m, s->id);
		/* Two CPUs may send the same stack at the same time. */
		if (!k || (k->id && !(k->id & UNDEFINED)))
			return 0;
	}
	end = stack_end(s->n, s->end);
	if (s->tgid) {
		space = symbolizer_space(m->sym, s->tgid, s->r.time_ns);
		n = user_frames(m, space, s->r.time_ns,
				(struct code_stack) { s->frames, s->n, s->n_code, s->eval_start,
						      s->eval_end, false },
				ids, &end, &in_doubt);
		if (s->is_32bit)
			symbolizer_is_32bit(m->sym, space);
	} else {
		n = kernel_frames(m, s->r.time_ns, s->frames, s->n, ids);
	}
	event_ns = k ? k->time_ns : 0;
	if (k && space && !k->tgid)
		remember_user_stack(k, s, space, in_doubt);
	else if (k && !s->tgid)
		remember_kernel_stack(m, k, s);
	/*
	 * Define the id that events have already, unless code has changed since the last of them.
	 */
	if (k && k->id && holds(m, k, event_ns))
		id = k->id & ~UNDEFINED;
	else if (!k)
		id = awaited = take_awaited(m, s->id);
	err = m->store.stack(m->store.ctx, &id, ids, n, end, s->r.time_ns);
	if (k) {
		k->id = id;
	} else if (!awaited) {
		m->once[m->n_once % ONCE_SLOTS].wire_id = s->id;
		m->once[m->n_once % ONCE_SLOTS].id = id;
		m->n_once++;
		m->n_full += !is_copy(s->id);
	}
	return err;
}

int id_map_take_code(struct id_map *m, const struct wire_code *r, size_t len)
{
	return code_map_take(m->code, r, len);
}

/* ---- objects ------------------------------------------------------------------------------- */

int id_map_take_object(struct id_map *m, const struct wire_object *o, size_t len)
{
	struct object_text text;
	struct slot *k;

	if (object_describe(o, len, &text))
		return -EBADMSG;
	k = get_slot(m, o->id);
	/* Two CPUs may send the same object at the same time. */
	if (!k || (k->id && !(k->id & UNDEFINED) && (!k->again || o->again)))
		return 0;
	k->is_object = true;
	k->again = o->again;
	if (k->again && !k->bare) {
		k->bare = malloc(size_of(o));
		if (!k->bare)
			return -ENOMEM;
		memcpy(k->bare, o, size_of(o));
	}
	if (k->again)
		return 0;
	free(k->bare);
	k->bare = NULL;
	return define_object(m, k, &text, o->r.time_ns);
}

int id_map_settle_objects(struct id_map *m)
{
	int err = 0;

	for (uint32_t i = 0; i < SLOTS && !err; i++)
		err = define_bare(m, &m->slots[i]);
	return err ? err : route_ids_settle(m->routes);
}

void id_map_headers(struct id_map *m, const struct wire_headers *w)
{
	route_ids_headers(m->routes, w);
}

uint32_t id_map_route(struct id_map *m, const struct wire_request *w, uint32_t endpoint)
{
	return used(m, true, route_ids_of(m->routes, w, endpoint), w->r.time_ns);
}

uint32_t id_map_text(struct id_map *m, const struct object_text *o, uint64_t time_ns)
{
	uint32_t id = 0;

	m->store.object(m->store.ctx, &id, o, time_ns);
	return used(m, true, id, time_ns);
}

uint32_t id_map_object(struct id_map *m, uint32_t wire_id, uint64_t time_ns)
{
	struct slot *k = wire_id ? get_slot(m, wire_id) : NULL;
	uint32_t id;

	if (!k)
		return 0;
	if (!k->id) {
		id = m->store.reserve(m->store.ctx, true, time_ns);
		k->id = id ? id | UNDEFINED : 0;
		k->is_object = true;
	}
	return used(m, true, k->id & ~UNDEFINED, time_ns);
}

/* ---- all ----------------------------------------------------------------------------------- */

/* A user stack of an address space that is gone: no event will refer to it. */
static bool is_over(const struct id_map *m, const struct slot *k)
{
	return k->tgid && symbolizer_is_gone(m->sym, k->space);
}

void id_map_each(struct id_map *m, id_map_fn fn, void *ctx)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct slot *k = &m->slots[i];

		if (!k->id)
			continue;
		if (((m->newest - k->wire_id) & (WIRE_STACK_IDS - 1)) <= SLOTS && !is_over(m, k)) {
			fn(ctx, k->is_object, k->id & ~UNDEFINED);
		} else {
			clear_slot(m, k);
		}
	}
	for (uint32_t i = 0; i < WIRE_LAYOUTS; i++)
		if (m->layouts[i].id)
			fn(ctx, false, m->layouts[i].id);
	for (uint32_t i = 0; i < ONCE_SLOTS; i++)
		if (m->once[i].id)
			fn(ctx, false, m->once[i].id);
	for (uint32_t i = 0; i < AWAITED; i++)
		if (m->awaited[i].id)
			fn(ctx, false, m->awaited[i].id);
	route_ids_each(m->routes, fn, ctx);
}
