// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_parts.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/grow.h"
#include "timeline/processes.h"
#include "words/link_identity.h"
#include "words/object_names.h"

struct chain_parts {
	const struct timelines *timelines;
	struct processes *processes; /* NULL: groups are not kept apart by process */
	pthread_mutex_t lock;	     /* protects what follows */
	struct names *names;
	struct frame_lists *lists;
	struct pairs owners;		   /* (process id, leader) */
	struct pairs groups;		   /* (owner or 0, name) */
	struct link_identities identities; /* of lists */
};

struct chain_parts *chain_parts_new(const struct timelines *tl, const struct options *o,
				    bool by_line)
{
	struct chain_parts *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->timelines = tl;
	pthread_mutex_init(&p->lock, NULL);
	p->names = names_new(tl, o);
	if (p->names && !frame_lists_new(&p->lists, p->names, by_line) && by_line)
		(void)processes_new(&p->processes, tl);
	if (!p->lists || (by_line && !p->processes)) {
		chain_parts_free(p);
		return NULL;
	}
	return p;
}

void chain_parts_free(struct chain_parts *p)
{
	if (!p)
		return;
	frame_lists_free(p->lists);
	names_free(p->names);
	processes_free(p->processes);
	pairs_free(&p->owners);
	pairs_free(&p->groups);
	link_identities_free(&p->identities);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

int part_cache_init(struct part_cache *c, struct chain_parts *p)
{
	*c = (struct part_cache) { .parts = p };
	c->groups = calloc((size_t)timelines_threads(p->timelines) + 1, sizeof(*c->groups));
	return c->groups ? 0 : -ENOMEM;
}

void part_cache_free(struct part_cache *c)
{
	intern_free(&c->keys);
	free(c->lists);
	free(c->groups);
	*c = (struct part_cache) { 0 };
}

uint32_t part_new_group(struct part_cache *c, uint32_t thread, uint32_t name)
{
	struct known_group *g = &c->groups[thread];
	struct chain_parts *p = c->parts;
	uint32_t owner = 0;

	pthread_mutex_lock(&p->lock);
	if (p->processes)
		owner = pairs_id(&p->owners, timelines_thread(p->timelines, thread)->tgid,
				 process_leader(p->processes, thread));
	*g = (struct known_group) { name, 0 };
	if (owner || !p->processes)
		g->group = pairs_id(&p->groups, owner, name);
	pthread_mutex_unlock(&p->lock);
	return g->group;
}

/* What a list is made of. Each kind of key has another length. */
struct head_key {
	uint32_t name, stack;
};

struct ran_key {
	uint32_t stack;
};

struct name_key {
	uint32_t name, none[2];
};

struct who_key {
	uint32_t who, none[3];
};

struct disk_key {
	uint32_t kind, stage, none[3];
};

struct object_key {
	uint32_t object, none[5];
};

struct wakeup_key {
	struct link link; /* all 0 if there is none */
	uint32_t end, wakee;
};

/* Neither the thread nor the flags are seen in a line: threads of one name give one link. */
static struct link as_shown(const struct link *l)
{
	struct link shown = *l;

	if (l->waker != THREAD_NONE)
		shown.waker = 0;
	shown.flags &= LINK_SHOWS_BLOCKED;
	if (!shown.flags)
		shown.blocked = 0;
	return shown;
}

/* Where the number of a list is kept, 0: not asked for yet. NULL: out of memory. */
static uint32_t *slot_of(struct part_cache *c, const void *key, size_t len)
{
	bool is_new;
	uint32_t id = intern_id(&c->keys, key, len, &is_new);
	uint32_t *p = id ? grow_array(c->lists, id, &c->cap_lists, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	c->lists = p;
	if (is_new)
		p[id] = 0;
	return &p[id];
}

uint32_t part_head(struct part_cache *c, uint32_t name, uint32_t stack)
{
	struct head_key key = { name, stack };
	uint32_t *slot = slot_of(c, &key, sizeof(key));

	if (slot && !*slot) {
		pthread_mutex_lock(&c->parts->lock);
		*slot = frame_list_head(c->parts->lists, name, stack);
		pthread_mutex_unlock(&c->parts->lock);
	}
	return slot ? *slot : 0;
}

uint32_t part_ran(struct part_cache *c, uint32_t stack)
{
	struct ran_key key = { stack };
	uint32_t *slot = slot_of(c, &key, sizeof(key));

	if (slot && !*slot) {
		pthread_mutex_lock(&c->parts->lock);
		*slot = frame_list_ran(c->parts->lists, stack);
		pthread_mutex_unlock(&c->parts->lock);
	}
	return slot ? *slot : 0;
}

uint32_t part_name(struct part_cache *c, uint32_t name)
{
	struct name_key key = { name, { 0, 0 } };
	uint32_t *slot = slot_of(c, &key, sizeof(key));

	if (slot && !*slot) {
		pthread_mutex_lock(&c->parts->lock);
		*slot = frame_list_name(c->parts->lists, name);
		pthread_mutex_unlock(&c->parts->lock);
	}
	return slot ? *slot : 0;
}

uint32_t part_link(struct part_cache *c, const struct link *l)
{
	struct link key = as_shown(l);
	uint32_t *slot = slot_of(c, &key, sizeof(key));

	if (slot && !*slot) {
		pthread_mutex_lock(&c->parts->lock);
		*slot = frame_list_link(c->parts->lists, &key);
		pthread_mutex_unlock(&c->parts->lock);
	}
	return slot ? *slot : 0;
}

struct identity_key {
	struct link link;
	uint32_t none[3];
};

uint32_t part_link_identity(struct part_cache *c, const struct link *l)
{
	struct identity_key key = { .link = as_shown(l) };
	uint32_t *slot;

	key.link.blocked = l->blocked;
	key.link.flags = l->flags & (LINK_SHOWS_BLOCKED | LINK_STARTED);
	slot = slot_of(c, &key, sizeof(key));
	if (slot && !*slot) {
		pthread_mutex_lock(&c->parts->lock);
		key.link = as_shown(l);
		*slot = link_identity(&c->parts->identities, c->parts->names, c->parts->timelines,
				      l, frame_list_link(c->parts->lists, &key.link));
		pthread_mutex_unlock(&c->parts->lock);
	}
	return slot ? *slot : 0;
}

uint32_t part_identity_list(struct part_cache *c, uint32_t identity, uint32_t times)
{
	uint32_t list = c->parts->identities.at.at[identity].a;

	return times > 1 ? frame_list_times(c->parts->lists, list, times) : list;
}

uint32_t part_who(struct part_cache *c, uint32_t who)
{
	struct who_key key = { who, { 0 } };
	uint32_t *slot = slot_of(c, &key, sizeof(key));

	if (slot && !*slot) {
		const char *text = cpu_holder_text(who);

		if (!text)
			text = trace_string(timelines_trace(c->parts->timelines), who);
		pthread_mutex_lock(&c->parts->lock);
		*slot = frame_list_text(c->parts->lists, text);
		pthread_mutex_unlock(&c->parts->lock);
	}
	return slot ? *slot : 0;
}

uint32_t part_disk(struct part_cache *c, uint32_t request, enum disk_stage stage)
{
	const struct timelines *tl = c->parts->timelines;
	struct disk_request_kind kind = timelines_disk_request_kind(tl, request);
	struct disk_key key = { request, stage, { 0 } };
	uint32_t *slot = slot_of(c, &key, sizeof(key));
	struct text_buf text = { 0 };

	if (slot && !*slot) {
		text_puts(&text, "[");
		disk_names_put(timelines_trace(tl), kind.disk, kind.op, &text);
		text_puts(&text, "]");
		pthread_mutex_lock(&c->parts->lock);
		if (!text.failed)
			*slot = frame_list_texts(c->parts->lists, text.p, disk_stage_name(stage));
		pthread_mutex_unlock(&c->parts->lock);
		text_free(&text);
	}
	return slot ? *slot : 0;
}

uint32_t part_object(struct part_cache *c, uint32_t object)
{
	struct object_key key = { object, { 0 } };
	uint32_t *slot = slot_of(c, &key, sizeof(key));

	if (slot && !*slot) {
		pthread_mutex_lock(&c->parts->lock);
		*slot = frame_list_of_object(c->parts->lists, object);
		pthread_mutex_unlock(&c->parts->lock);
	}
	return slot ? *slot : 0;
}

uint32_t part_wakeup(struct part_cache *c, const struct link *l, enum chain_end end, uint32_t wakee)
{
	struct wakeup_key key = { .link = l ? as_shown(l) : (struct link) { 0 },
				  .end = end,
				  .wakee = wakee };
	uint32_t *slot = slot_of(c, &key, sizeof(key));

	if (slot && !*slot) {
		pthread_mutex_lock(&c->parts->lock);
		if (l)
			*slot = frame_list_wakeup(c->parts->lists, &key.link, NULL, wakee);
		else
			*slot = frame_list_wakeup(c->parts->lists, NULL, chain_end_name(end),
						  wakee);
		pthread_mutex_unlock(&c->parts->lock);
	}
	return slot ? *slot : 0;
}

struct thread_group chain_parts_thread_group(const struct chain_parts *p, uint32_t group)
{
	struct pair g = p->groups.at[group];
	struct pair owner = g.a ? p->owners.at[g.a] : (struct pair) { 0, THREAD_NONE };

	return (struct thread_group) {
		.name = g.b,
		.pid = owner.a,
		.leader = owner.b,
		.process = owner.b == THREAD_NONE ? 0 : process_name(p->processes, owner.b),
	};
}

struct frame_lists *chain_parts_lists(const struct chain_parts *p)
{
	return p->lists;
}

struct names *chain_parts_names(const struct chain_parts *p)
{
	return p->names;
}
