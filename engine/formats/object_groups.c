// SPDX-License-Identifier: GPL-2.0-or-later
#include "object_groups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "words/lock_holder.h"
#include "common/xalloc.h"

enum kind { LOCK, PEERS, FILES, ONCE, KINDS };

/* So many objects of a kind become one row. */
static const uint32_t least[KINDS] = { [LOCK] = 2, [PEERS] = 10, [FILES] = 32, [ONCE] = 4 };

/* A lock by its key: the condition variable with whose mutex it is one, if it has. */
struct lock {
	uint32_t up; /* the key of another lock with which it is one; 0: none */
	bool is_mutex;
};

/* What rows with equal keys are of. */
struct count {
	uint32_t rows;	/* that may be put together */
	uint32_t group; /* + 1; 0: none yet */
	uint32_t mutex; /* row + 1 of a lock: one with a mutex, one with something else */
	uint32_t other;
};

struct finder {
	const struct timelines *timelines;
	const struct trace *trace;
	struct names *names;
	struct object_row *rows;
	size_t n;
	uint32_t *keys;	   /* by row: a text */
	uint8_t *kinds;	   /* by row: enum kind */
	uint32_t *lock_of; /* by object: the key of the lock; 0: it is none, or not known yet */
	struct pair_table locks;  /* struct lock, by (key, 0) */
	struct pair_table counts; /* struct count, by (key, 0) */
	struct object_group *groups;
	uint32_t n_groups;
};

static const char *class_of(const struct finder *f, const struct trace_object *o)
{
	return trace_string(f->trace, o->class);
}

/* ---- locks ---------------------------------------------------------------------------------- */

/* The key of the lock that an object is; 0: it is none. */
static uint32_t lock_key(struct finder *f, uint32_t object)
{
	const struct trace_object *o = trace_object(f->trace, object);
	struct text_buf whole = { 0 };
	char *name;

	if (!o || strcmp(class_of(f, o), "futex") || !*trace_string(f->trace, o->name))
		return 0;
	if (!f->lock_of[object]) {
		name = xstrdup(trace_string(f->trace, o->name));
		lock_name_of_both_words(name);
		/* The same place in another file is another lock. */
		text_puts(&whole, name);
		object_names_put_distinction(names_objects(f->names), object, &whole);
		f->lock_of[object] = names_clean(f->names, whole.p);
		text_free(&whole);
		free(name);
	}
	return f->lock_of[object];
}

static struct lock *find_lock(const struct finder *f, uint32_t key)
{
	uint32_t id = pairs_find(&f->locks.keys, key, 0);

	return id ? &((struct lock *)f->locks.at)[id] : NULL;
}

/* The key of all that is one with a lock. Shortens the way there, which may be long. */
static uint32_t whole_lock(const struct finder *f, uint32_t key)
{
	struct lock *l = find_lock(f, key), *next;

	while (l && l->up) {
		key = l->up;
		next = find_lock(f, key);
		if (next && next->up)
			l->up = next->up;
		l = next;
	}
	return key;
}

static bool is_mutex(const struct finder *f, uint32_t key)
{
	const struct lock *l = find_lock(f, key);

	return l && l->is_mutex;
}

/* A thread slept for a condition, and then, in the same call, for its mutex. */
static void join(struct finder *f, uint32_t condition, uint32_t mutex)
{
	uint32_t a = whole_lock(f, condition), b = whole_lock(f, mutex);
	struct lock *l = pair_table_at(&f->locks, mutex, 0, sizeof(*l));

	l->is_mutex = true;
	if (a == b)
		return;
	l = pair_table_at(&f->locks, b, 0, sizeof(*l));
	l->up = a;
}

static void find_mutexes(struct finder *f, const struct thread *th)
{
	const struct wait *before = NULL;

	for (uint32_t i = 0; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];
		struct stack_pair was, is;
		uint32_t condition, mutex;

		if (w->kind == WAIT_PREEMPTED)
			continue;
		if (before && w->kind == WAIT_SLEEP) {
			was = timelines_pair(f->timelines, before->stack);
			is = timelines_pair(f->timelines, w->stack);
			condition = lock_key(f, was.object);
			mutex = lock_key(f, is.object);
			if (condition && mutex && condition != mutex &&
			    lock_same_condition(f->trace, was.ustack, is.ustack))
				join(f, condition, mutex);
		}
		before = w->kind == WAIT_SLEEP ? w : NULL;
	}
}

/* ---- keys ----------------------------------------------------------------------------------- */

/* The own port of a socket, ":8080"; NULL: not known. */
static const char *own_port(const struct finder *f, const struct trace_object *o)
{
	const char *own = trace_string(f->trace, o->own);

	return strchr(own, ' ') ? strrchr(own, ':') : NULL;
}

/* The folder of a file, with its length; 0: it is none that has one. */
static size_t folder(const struct finder *f, const struct trace_object *o, const char **path)
{
	const char *slash;

	*path = trace_string(f->trace, o->name);
	slash = strrchr(*path, '/');
	return slash && **path == '/' ? (size_t)(slash - *path) + 1 : 0;
}

/* What an object is one of: "[tcp :8080", "[file /var/lib/" and a star, "[child". */
static enum kind put_key(const struct finder *f, const struct object_row *r, struct text_buf *b)
{
	const struct trace_object *o = trace_object(f->trace, r->ready ? r->ready : r->object);
	const char *port = own_port(f, o), *path;
	size_t len = folder(f, o, &path);

	text_puts(b, "[");
	text_puts(b, class_of(f, o));
	if (port) {
		text_puts(b, " ");
		text_puts(b, port);
		return PEERS;
	}
	if (len && !strcmp(class_of(f, o), "file")) {
		text_puts(b, " ");
		text_put(b, path, len);
		text_puts(b, "*");
		return FILES;
	}
	return ONCE;
}

/* The text of what the row's group would be: with what is waited for, if that is several things. */
static uint32_t group_text(struct finder *f, const struct object_row *r, enum kind *kind,
			   const char *more)
{
	struct text_buf raw = { 0 }, b = { 0 };
	uint32_t text = 0;

	*kind = put_key(f, r, &raw);
	text_puts(&raw, "]");
	if (r->ready) {
		text_puts(&b, names_text(f->names, names_object(f->names, r->object, true)));
		text_puts(&b, ";");
	}
	names_put(&b, raw.p);
	text_puts(&b, more);
	text = names_adopt(f->names, b.p);
	text_free(&raw);
	text_free(&b);
	return text;
}

/* The key of a row that is put together with others of the same key. */
static void find_key(struct finder *f, size_t row)
{
	const struct object_row *r = &f->rows[row];
	uint32_t lock = r->ready ? 0 : lock_key(f, r->object);
	struct text_buf waiter = { 0 };
	enum kind kind = LOCK;

	if (lock) {
		f->keys[row] = whole_lock(f, lock);
	} else if (!trace_object(f->trace, r->object)) {
		f->keys[row] = r->name;
	} else {
		f->keys[row] = group_text(f, r, &kind, "");
		if (kind == ONCE) { /* of threads of this name */
			text_puts(&waiter, " ");
			text_puts(&waiter, names_text(f->names, r->waiter));
			f->keys[row] = group_text(f, r, &kind, waiter.p);
			text_free(&waiter);
		}
	}
	f->kinds[row] = (uint8_t)kind;
}

static bool may_join(const struct finder *f, size_t row)
{
	return f->kinds[row] != ONCE || f->rows[row].waits == 1;
}

/* The row with most waits stands for others. */
static void note_row(const struct finder *f, uint32_t *noted, size_t row)
{
	if (!*noted || f->rows[row].waits > f->rows[*noted - 1].waits)
		*noted = (uint32_t)row + 1;
}

static void count_keys(struct finder *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct count *c = pair_table_at(&f->counts, f->keys[i], 0, sizeof(*c));
		uint32_t lock = f->kinds[i] == LOCK ? lock_key(f, f->rows[i].object) : 0;

		c->rows += may_join(f, i);
		if (lock)
			note_row(f, is_mutex(f, lock) ? &c->mutex : &c->other, i);
	}
}

/* ---- groups --------------------------------------------------------------------------------- */

/* A lock's name without its process, if that is the other's, too. */
static const char *place_beside(const char *name, const char *other)
{
	const char *colon = strchr(name, ':');

	return colon && !strncmp(name, other, (size_t)(colon - name) + 1) ? colon + 1 : name;
}

/* "[futex 7:app+0x40 with mutex app+0x90]", or the lock of two words. */
static uint32_t lock_text(struct finder *f, const struct count *c)
{
	uint32_t row = (c->other ? c->other : c->mutex) - 1, lock, mutex;
	struct text_buf b = { 0 };
	uint32_t text;

	lock = lock_key(f, f->rows[row].object);
	mutex = c->other && c->mutex ? lock_key(f, f->rows[c->mutex - 1].object) : 0;
	text_puts(&b, "[futex ");
	text_puts(&b, names_text(f->names, lock));
	if (mutex) {
		text_puts(&b, " with mutex ");
		text_puts(&b,
			  place_beside(names_text(f->names, mutex), names_text(f->names, lock)));
	}
	text_puts(&b, "]");
	text = names_adopt(f->names, b.p);
	text_free(&b);
	return text;
}

static uint32_t text_of(struct finder *f, size_t row, const struct count *c)
{
	static const char *const things[KINDS] = {
		[PEERS] = "peers", [FILES] = "files", [ONCE] = "of"
	};
	enum kind kind = f->kinds[row];
	struct text_buf b = { 0 };
	char number[32];
	uint32_t text;

	if (kind == LOCK)
		return lock_text(f, c);
	snprintf(number, sizeof(number), " %" PRIu32 " %s", c->rows, things[kind]);
	text_puts(&b, number);
	if (kind == ONCE) {
		text_puts(&b, " ");
		text_puts(&b, names_text(f->names, f->rows[row].waiter));
	}
	text = group_text(f, &f->rows[row], &kind, b.p);
	text_free(&b);
	return text;
}

static void put_into_group(struct finder *f, size_t row)
{
	struct count *c = pair_table_at(&f->counts, f->keys[row], 0, sizeof(*c));
	bool together = may_join(f, row) && c->rows >= least[f->kinds[row]];
	struct object_group *g;

	if (together && c->group) {
		f->rows[row].group = c->group - 1;
		f->groups[c->group - 1].objects++;
		return;
	}
	f->rows[row].group = f->n_groups;
	g = &f->groups[f->n_groups++];
	g->objects = 1;
	g->name = together ? text_of(f, row, c) : f->rows[row].name;
	if (together)
		c->group = f->n_groups;
}

void object_groups_find(struct object_group **groups, uint32_t *n_groups, struct object_row *rows,
			size_t n, const struct timelines *tl, struct names *names)
{
	struct finder f = {
		.timelines = tl,
		.trace = timelines_trace(tl),
		.names = names,
		.rows = rows,
		.n = n,
	};

	f.keys = xcalloc(n + 1, sizeof(*f.keys));
	f.kinds = xcalloc(n + 1, 1);
	f.lock_of = xcalloc(trace_objects_end(f.trace), sizeof(*f.lock_of));
	f.groups = *groups = xcalloc(n + 1, sizeof(**groups));
	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		find_mutexes(&f, timelines_thread(tl, i));
	for (size_t i = 0; i < n; i++)
		find_key(&f, i);
	count_keys(&f);
	for (size_t i = 0; i < n; i++)
		put_into_group(&f, i);
	*n_groups = f.n_groups;
	free(f.keys);
	free(f.kinds);
	free(f.lock_of);
	pair_table_free(&f.locks);
	pair_table_free(&f.counts);
}
