// SPDX-License-Identifier: GPL-2.0-or-later
#include "proc_images.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "kernel/host_proc.h"

#define BUCKETS 16384u
/* Executable mappings of one image, and of all: 40 bytes each. */
#define MAPPINGS_MAX 65536u
#define ALL_MAPPINGS_MAX (4u << 20)
/*
 * Mappings that one process may have copied in COPIES_NS by replacing code again and again, where
 * an image counts as IMAGE_COST of them.
 */
#define COPIES_MAX (1u << 19)
#define COPIES_NS 5000000000u
#define IMAGE_COST 32u

struct images {
	struct code_files *files;
	uint64_t made;
	uint32_t count;
	uint32_t n_mappings;		   /* in all lists */
	uint32_t passes;		   /* of images_each_mapping_of() */
	uint64_t now_ns;		   /* of the last images_expire() */
	struct image *ended, **ended_tail; /* in the order of ended_ns */
	struct image *buckets[BUCKETS], *spaces[BUCKETS];
};

/* ---- mappings ------------------------------------------------------------------------------ */

static void put_list(struct images *im, struct map_list *l)
{
	if (!l || --l->refs)
		return;
	for (uint32_t i = 0; i < l->n; i++)
		code_files_put_mapping(im->files, l->list[i].file);
	im->n_mappings -= l->n;
	map_list_free(l);
}

/* Without what lies in [start, end). */
static struct map_list *copy_list(struct images *im, const struct map_list *from, uint64_t start,
				  uint64_t end)
{
	struct map_list *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->refs = 1;
	if (!from)
		return l;
	l->cap = from->n + 8;
	l->list = malloc(l->cap * sizeof(*l->list));
	if (from->exe)
		l->exe = strdup(from->exe);
	if (from->name)
		l->name = strdup(from->name);
	if (!l->list || (from->exe && !l->exe) || (from->name && !l->name)) {
		map_list_free(l);
		return NULL;
	}
	l->steps = from->steps;
	l->window_ns = from->window_ns;
	for (uint32_t i = 0; i < from->n; i++) {
		const struct mapping *m = &from->list[i];

		if (m->start >= start && m->end <= end)
			continue;
		l->list[l->n++] = *m;
		code_files_hold_mapping(im->files, m->file);
	}
	im->n_mappings += l->n;
	return l;
}

/*
 * The image's own list, copied if it is shared; then without what lies in [start, end). NULL when
 * out of memory or of room.
 */
static struct map_list *own_list(struct images *im, struct image *i, uint64_t start, uint64_t end)
{
	struct map_list *l;
	uint32_t n = i->maps ? i->maps->n : 0, cost = n + IMAGE_COST;

	if (i->maps && i->maps->refs == 1)
		return i->maps;
	if (im->now_ns > i->copied_ns + COPIES_NS) {
		i->copied_ns = im->now_ns;
		i->copied = 0;
	}
	if (cost > COPIES_MAX - i->copied || n > ALL_MAPPINGS_MAX - im->n_mappings)
		return NULL;
	i->copied += cost;
	l = copy_list(im, i->maps, start, end);
	if (!l)
		return NULL;
	put_list(im, i->maps);
	i->maps = l;
	return l;
}

/* See map_list_find(). */
static const struct mapping *find_mapping(const struct image *i, uint64_t addr, uint64_t time_ns,
					  const struct mapping **later)
{
	*later = NULL;
	return i->maps ? map_list_find(i->maps, addr, time_ns, later) : NULL;
}

/*
 * During exec a thread belongs to the new image already, but its stack still begins with the
 * address in the old program that called exec.
 */
const struct mapping *image_mapping(const struct image *i, uint64_t addr, uint64_t time_ns)
{
	const struct mapping *later, *none, *m = find_mapping(i, addr, time_ns, &later);

	if (!m && i->by_exec && i->older)
		m = find_mapping(i->older, addr, time_ns, &none);
	return m ? m : later;
}

/* Whether the same is mapped there already: memory for generated code is remapped often. */
static bool is_known(const struct images *im, const struct image *i, const struct mapping *m)
{
	const struct mapping *later, *old = find_mapping(i, m->start, m->time_ns, &later);

	if (!old)
		old = later;
	if (!old || old->file != m->file || old->end < m->end)
		return false;
	return code_files_kind(im->files, m->file) == CODE_GENERATED ||
	       old->pgoff - old->start == m->pgoff - m->start;
}

void images_forget_maps(struct images *im, struct image *i)
{
	put_list(im, i->maps);
	i->maps = NULL;
}

void images_overflow(struct images *im, struct image *i)
{
	const char *exe = image_name(i), *slash = strrchr(exe, '/');

	if (!i->comm[0]) /* who that was is still to be said */
		snprintf(i->comm, sizeof(i->comm), "%s", slash ? slash + 1 : exe);
	i->overflowed = true;
	images_forget_maps(im, i);
}

/* ---- images -------------------------------------------------------------------------------- */

static struct image **bucket_of(struct images *im, uint32_t tgid)
{
	return &im->buckets[(tgid * 0x9e3779b1u) >> 18];
}

static struct image **newest_link(struct images *im, uint32_t tgid)
{
	struct image **link = bucket_of(im, tgid);

	while (*link && (*link)->tgid != tgid)
		link = &(*link)->next;
	return link;
}

int images_new(struct images **out, struct code_files *files)
{
	struct images *im = *out = calloc(1, sizeof(*im));

	if (!im)
		return -ENOMEM;
	im->files = files;
	im->ended_tail = &im->ended;
	return 0;
}

static void free_image(struct images *im, struct image *i)
{
	put_list(im, i->maps);
	if (i->place)
		perfmap_forget(i->place);
	free(i->place);
	free(i);
	im->count--;
}

void images_free(struct images *im)
{
	if (!im)
		return;
	for (uint32_t b = 0; b < BUCKETS; b++) {
		while (im->buckets[b]) {
			struct image *i = im->buckets[b];

			im->buckets[b] = i->next;
			while (i) {
				struct image *older = i->older;

				free_image(im, i);
				i = older;
			}
		}
	}
	free(im);
}

struct image *images_find(struct images *im, uint32_t tgid, uint64_t time_ns)
{
	struct image *i = *newest_link(im, tgid);

	while (i && i->start_ns > time_ns && i->older)
		i = i->older;
	return i;
}

void images_each_mapping(const struct images *im,
			 void (*fn)(void *ctx, uint32_t tgid, const struct mapping *m), void *ctx)
{
	for (uint32_t b = 0; b < BUCKETS; b++)
		for (const struct image *i = im->buckets[b]; i; i = i->next)
			for (uint32_t k = 0; !i->ended && i->maps && k < i->maps->n; k++)
				fn(ctx, i->tgid, &i->maps->list[k]);
}

/* What is wanted of the list, if this pass has not found that out yet. */
static void find_wanted(struct map_list *l, uint32_t pass,
			bool (*is_wanted)(const void *ctx, const struct mapping *m),
			const void *ctx)
{
	if (l->pass == pass)
		return;
	l->pass = pass;
	l->n_wanted = 0;
	for (uint32_t k = 0; l->n_wanted < MAP_LIST_WANTED && k < l->n; k++)
		if (is_wanted(ctx, &l->list[k]))
			l->wanted[l->n_wanted++] = k;
}

void images_each_mapping_of(struct images *im,
			    bool (*is_wanted)(const void *ctx, const struct mapping *m),
			    void (*fn)(void *ctx, const struct image *i, const struct mapping *m),
			    void *ctx)
{
	im->passes++;
	for (uint32_t b = 0; b < BUCKETS; b++)
		for (const struct image *i = im->buckets[b]; i; i = i->next) {
			if (!i->maps)
				continue;
			find_wanted(i->maps, im->passes, is_wanted, ctx);
			for (uint32_t k = 0; k < i->maps->n_wanted; k++)
				fn(ctx, i, &i->maps->list[i->maps->wanted[k]]);
		}
}

/* Adds an image in front of the older ones of its tgid. */
static struct image *add_image(struct images *im, uint32_t tgid, uint64_t time_ns)
{
	struct image **link = newest_link(im, tgid), *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->tgid = tgid;
	i->start_ns = time_ns;
	i->older = *link;
	if (i->older) {
		i->next = i->older->next;
		i->older->next = NULL;
		i->older->newer = i;
	}
	*link = i;
	im->made++;
	im->count++;
	return i;
}

static void end_image(struct images *im, struct image *i)
{
	if (i->ended)
		return;
	i->ended = true;
	i->ended_ns = im->now_ns;
	i->next_ended = NULL;
	*im->ended_tail = i;
	im->ended_tail = &i->next_ended;
}

const char *image_exe(const struct image *i)
{
	return i->maps && i->maps->exe ? i->maps->exe : i->comm;
}

const char *image_name(const struct image *i)
{
	return i->maps && i->maps->name ? i->maps->name : image_exe(i);
}

bool image_is_program(const struct image *i, const char *path)
{
	return i->maps && i->maps->exe && !strcmp(i->maps->exe, path);
}

struct image *images_found(struct images *im, uint32_t tgid, uint64_t time_ns)
{
	struct image *old = *newest_link(im, tgid), *i = add_image(im, tgid, time_ns);

	if (!i || !old)
		return i;
	/* Else who makes us lose records could do so without end. */
	i->copied_ns = old->copied_ns;
	i->copied = old->copied;
	i->memory = old->memory;
	end_image(im, old);
	return i;
}

struct replacing {
	const struct images *im;
	const struct mapping *new;
};

static bool replaces(const void *replacing, const struct mapping *old)
{
	const struct replacing *r = replacing;
	const struct mapping *m = r->new;

	return old->file != m->file || (old->pgoff - old->start != m->pgoff - m->start &&
					code_files_kind(r->im->files, m->file) != CODE_GENERATED);
}

/* Whether mapping m changes the meaning of addresses of the image. */
static bool is_replaced(const struct images *im, const struct image *i, const struct mapping *m)
{
	struct replacing r = { im, m };

	return i->maps && map_list_any(i->maps, m->start, m->end, m->time_ns, replaces, &r);
}

/* The same process with other code at some address from time_ns on; NULL when out of memory. */
static struct image *new_version(struct images *im, struct image *old, uint64_t time_ns)
{
	struct image *i = add_image(im, old->tgid, time_ns);

	if (!i)
		return NULL;
	i->parent = old->parent;
	i->read_ns = old->read_ns;
	i->memory = old->memory;
	memcpy(i->comm, old->comm, sizeof(i->comm));
	i->maps = old->maps;
	if (i->maps)
		i->maps->refs++;
	i->replaces = true;
	i->copied_ns = old->copied_ns;
	i->copied = old->copied;
	old->replaced_ns = time_ns;
	end_image(im, old);
	return i;
}

struct image *images_replace(struct images *im, struct image *old, const struct mapping *m)
{
	struct image *i;

	/* Ignore mappings older than the /proc snapshot: what they replaced is not known. */
	if (m->time_ns <= old->start_ns || *newest_link(im, old->tgid) != old ||
	    !is_replaced(im, old, m))
		return old;
	i = new_version(im, old, m->time_ns);
	return i ? i : old;
}

/* From time_ns on nothing is known of what it has mapped; what it had there before keeps its names.
 */
static void give_up(struct images *im, struct image *i, uint64_t time_ns)
{
	struct image *later = NULL;

	if (i->start_ns < time_ns && *newest_link(im, i->tgid) == i)
		later = new_version(im, i, time_ns);
	images_overflow(im, later ? later : i);
}

/* The others in the same memory: they have the mapping, too, without a record of it. */
static bool give_up_sharers(struct images *im, const struct image *i, uint64_t time_ns)
{
	bool any = false;

	for (uint32_t b = 0; b < BUCKETS; b++) {
		for (struct image *other = im->buckets[b], *next; other; other = next) {
			next = other->next;
			if (other->tgid == i->tgid || other->memory != i->memory || other->ended)
				continue;
			give_up(im, other, time_ns);
			any = true;
		}
	}
	return any;
}

static void set_program(struct map_list *l, const char *exe, const char *name)
{
	free(l->exe);
	free(l->name);
	l->exe = strdup(exe);
	l->name = strcmp(exe, name) ? strdup(name) : NULL;
}

void images_map(struct images *im, struct image *i, const struct mapping *m)
{
	/* What this mapping replaced, maybe a piece in its middle, is older images' only. */
	bool replaces = i->replaces && i->start_ns == m->time_ns;
	uint64_t covered = replaces ? m->end : m->start;
	struct map_list *l;

	if (m->start >= m->end || i->overflowed || (!replaces && is_known(im, i, m)))
		goto drop;
	if (i->memory && give_up_sharers(im, i, m->time_ns)) {
		give_up(im, i, m->time_ns);
		goto drop;
	}
	i->memory = 0;
	l = own_list(im, i, m->start, covered);
	if (!l || l->n >= MAPPINGS_MAX || im->n_mappings >= ALL_MAPPINGS_MAX ||
	    map_list_is_exhausted(l, m->time_ns) || !map_list_add(l, m)) {
		give_up(im, i, m->time_ns);
		goto drop;
	}
	im->n_mappings++;
	/* The kernel maps the program before its interpreter and its libraries. */
	if (!l->exe && code_files_kind(im->files, m->file) == CODE_FILE)
		set_program(l, code_files_path(im->files, m->file),
			    code_files_name(im->files, m->file));
	return;
drop:
	code_files_put_mapping(im->files, m->file);
}

bool image_is_valid_at(const struct image *i, uint64_t time_ns)
{
	return (!i->replaces || time_ns >= i->start_ns) &&
	       (!i->replaced_ns || time_ns < i->replaced_ns);
}

void images_exe(struct images *im, struct image *i, const char *exe, const char *name)
{
	struct map_list *l = i->overflowed ? NULL : own_list(im, i, 0, 0);

	if (l)
		set_program(l, exe, name ? name : exe);
}

void images_fork(struct images *im, uint32_t tgid, uint32_t parent, uint64_t time_ns)
{
	struct image *p = images_find(im, parent, time_ns), *old = *newest_link(im, tgid), *i;

	if (tgid == parent || (old && old->start_ns >= time_ns))
		return;
	i = add_image(im, tgid, time_ns);
	if (!i)
		return;
	if (old)
		end_image(im, old);
	i->parent = parent;
	if (!p)
		return;
	memcpy(i->comm, p->comm, sizeof(i->comm));
	i->overflowed = p->overflowed;
	i->maps = p->maps;
	if (i->maps)
		i->maps->refs++;
}

/* Whether it begins with an exec, or was read from /proc, after that time. */
static bool is_later(const struct image *i, uint64_t time_ns)
{
	return !i->replaces && i->start_ns > time_ns;
}

static bool has_mapped_since(const struct image *i, uint64_t time_ns)
{
	bool has = i->replaces && i->start_ns > time_ns;

	for (uint32_t k = 0; !has && i->maps && k < i->maps->n; k++)
		has = i->maps->list[k].time_ns > time_ns;
	return has;
}

void images_share(struct images *im, uint32_t tgid, uint32_t parent, uint64_t time_ns)
{
	struct image *child = *newest_link(im, tgid), *p = *newest_link(im, parent);
	uint64_t since = child ? child->start_ns : 0;

	if (!child || !p || child == p || is_later(child, time_ns) || is_later(p, time_ns))
		return;
	if (!p->memory)
		p->memory = parent;
	child->memory = p->memory;
	if (!p->replaces && p->start_ns > since)
		since = p->start_ns;
	if (!child->replaces && !has_mapped_since(child, since) && !has_mapped_since(p, since))
		return;
	give_up_sharers(im, child, since + 1);
	give_up(im, child, since + 1);
}

void images_exec(struct images *im, uint32_t tgid, uint64_t time_ns, const char *comm)
{
	struct image *old = *newest_link(im, tgid), *i;

	if (old && old->start_ns > time_ns)
		return;
	i = add_image(im, tgid, time_ns);
	if (!i)
		return;
	if (old) {
		i->by_exec = true;
		i->parent = old->parent;
		end_image(im, old);
	}
	snprintf(i->comm, sizeof(i->comm), "%s", comm);
}

void images_exit(struct images *im, uint32_t tgid, uint64_t time_ns)
{
	struct image *i = *newest_link(im, tgid);

	if (i && i->start_ns <= time_ns)
		end_image(im, i);
}

/* ---- forgetting ---------------------------------------------------------------------------- */

static void unlink_image(struct images *im, struct image *i)
{
	if (i->older)
		i->older->newer = i->newer;
	if (i->newer) {
		i->newer->older = i->older;
		return;
	}
	if (i->older)
		i->older->next = i->next;
	*newest_link(im, i->tgid) = i->older ? i->older : i->next;
}

void images_expire(struct images *im, uint64_t now_ns, uint64_t grace_ns)
{
	im->now_ns = now_ns;
	while (im->ended && im->ended->ended_ns + grace_ns < now_ns) {
		struct image *i = im->ended;

		im->ended = i->next_ended;
		if (!im->ended)
			im->ended_tail = &im->ended;
		/* If only the first thread has ended, the others run on in the same image. */
		if (*newest_link(im, i->tgid) == i && host_proc_lives(i->tgid)) {
			i->ended = false;
			end_image(im, i);
		} else if (!i->space) {
			unlink_image(im, i);
			free_image(im, i);
		} else {
			images_forget_maps(im, i);
			i->expired = true;
		}
	}
}

void images_set_space(struct images *im, struct image *i, uint32_t space)
{
	struct image **bucket = &im->spaces[space % BUCKETS];

	i->space = space;
	i->next_space = *bucket;
	*bucket = i;
}

struct image *images_of_space(const struct images *im, uint32_t space)
{
	struct image *i = im->spaces[space % BUCKETS];

	while (i && i->space != space)
		i = i->next_space;
	return i;
}

bool images_is_gone(struct images *im, const struct image *i)
{
	const struct image *newest = *newest_link(im, i->tgid);

	return newest && newest->expired && !i->memory;
}

void images_release(struct images *im, struct image *i)
{
	struct image **link = &im->spaces[i->space % BUCKETS];

	while (*link != i)
		link = &(*link)->next_space;
	*link = i->next_space;
	i->space = 0;
	if (!i->expired)
		return;
	unlink_image(im, i);
	free_image(im, i);
}

void images_release_expired(struct images *im, void (*fn)(void *ctx, struct image *i), void *ctx)
{
	for (uint32_t b = 0; b < BUCKETS; b++) {
		for (struct image *i = im->spaces[b], *next; i; i = next) {
			next = i->next_space;
			if (!i->expired)
				continue;
			fn(ctx, i);
			images_release(im, i);
		}
	}
}

uint64_t images_made(const struct images *im)
{
	return im->made;
}

uint32_t images_count(const struct images *im)
{
	return im->count;
}

void images_each(const struct images *im, void (*fn)(void *ctx, const struct image *i), void *ctx)
{
	for (uint32_t b = 0; b < BUCKETS; b++)
		for (const struct image *i = im->buckets[b]; i; i = i->next)
			fn(ctx, i);
}
