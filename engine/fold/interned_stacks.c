// SPDX-License-Identifier: GPL-2.0-or-later
#include "interned_stacks.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "timeline/processes.h"
#include "words/link_identity.h"
#include "words/object_names.h"

struct interned_stacks {
	const struct timelines *timelines;
	enum options_root root;
	enum group_by by;
	struct processes *processes; /* NULL: not needed */
	pthread_mutex_t lock;	     /* protects what follows */
	struct names *names;
	struct frame_lists *lists;
	struct pairs owners;		   /* (process id, leader); by row (process's name, 0) */
	struct pairs asked;		   /* (endpoint, trace), see struct thread_group; by row
					      (endpoint, length) */
	struct pairs askers;		   /* (owner or 0, asked or 0) */
	struct pairs rooted;		   /* (asker, root) */
	struct pairs named;		   /* (rooted, name) */
	struct pairs groups;		   /* (named, span) */
	struct link_identities identities; /* of lists */
};

void interned_stacks_new(struct interned_stacks **out, const struct timelines *tl,
			 const struct options *o, enum group_by by)
{
	struct interned_stacks *p = xcalloc(1, sizeof(*p));
	bool wants_processes =
		by != GROUP_BY_NAME || o->root == ROOT_PROCESS || o->root == ROOT_BESIDE;

	*out = NULL;
	p->timelines = tl;
	p->root = o->root;
	p->by = by;
	pthread_mutex_init(&p->lock, NULL);
	names_new(&p->names, tl, o);
	frame_lists_new(&p->lists, p->names, by == GROUP_BY_PROCESS);
	if (wants_processes)
		processes_new(&p->processes, tl);
	*out = p;
}

void interned_stacks_free(struct interned_stacks *p)
{
	if (!p)
		return;
	frame_lists_free(p->lists);
	names_free(p->names);
	processes_free(p->processes);
	pairs_free(&p->owners);
	pairs_free(&p->asked);
	pairs_free(&p->askers);
	pairs_free(&p->rooted);
	pairs_free(&p->named);
	pairs_free(&p->groups);
	link_identities_free(&p->identities);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

void stack_cache_init(struct stack_cache *c, struct interned_stacks *p)
{
	*c = (struct stack_cache) { .stacks = p };
	c->groups = xcalloc((size_t)timelines_clients_end(p->timelines) + 1, sizeof(*c->groups));
}

void stack_cache_free(struct stack_cache *c)
{
	intern_free(&c->keys);
	free(c->lists);
	free(c->groups);
	*c = (struct stack_cache) { 0 };
}

/* With the lock. */
static uint32_t make_group(struct interned_stacks *p, uint32_t thread, uint32_t name,
			   uint32_t asked, uint32_t root, uint32_t span)
{
	uint32_t owner = 0, asker, rooted, named;

	if (p->by == GROUP_BY_PROCESS)
		owner = pairs_id(&p->owners, timelines_thread(p->timelines, thread)->tgid,
				 process_leader(p->processes, thread));
	else if (p->by == GROUP_BY_ROW)
		owner = pairs_id(&p->owners, process_name(p->processes, thread), 0);
	if (!owner && p->by != GROUP_BY_NAME)
		return 0;
	asker = pairs_id(&p->askers, owner, asked);
	rooted = pairs_id(&p->rooted, asker, root);
	named = pairs_id(&p->named, rooted, name);
	return pairs_id(&p->groups, named, span);
}

uint32_t interned_stacks_root(const struct interned_stacks *p, uint32_t thread, uint64_t at_ns)
{
	if (p->root == ROOT_CGROUP)
		return timelines_group(p->timelines, thread, at_ns);
	if (p->root == ROOT_BESIDE) {
		if (timelines_is_client(p->timelines, thread))
			return 0;
		/*
		 * A process has the name of what made it until it runs its program: it is not that
		 * one's.
		 */
		if (process_leader(p->processes, thread) == thread)
			return timelines_name(p->timelines, thread, at_ns);
	}
	return p->root == ROOT_PROCESS || p->root == ROOT_BESIDE
		       ? process_name(p->processes, thread)
		       : 0;
}

bool interned_stacks_beside(const struct interned_stacks *p)
{
	return p->root == ROOT_BESIDE;
}

uint32_t intern_new_group(struct stack_cache *c, uint32_t thread, uint32_t name, uint32_t root,
			  uint32_t length, uint32_t span)
{
	struct interned_stacks *p = c->stacks;
	uint32_t asked = 0, group = 0;

	pthread_mutex_lock(&p->lock);
	if (length)
		asked = pairs_id(&p->asked, 0, length);
	if (asked || !length)
		group = make_group(p, thread, name, asked, root, span);
	pthread_mutex_unlock(&p->lock);
	c->groups[thread] = (struct known_group) { name, root, length, span, group };
	return group;
}

uint32_t intern_request_group(struct stack_cache *c, uint32_t client, uint32_t name,
			      const struct request *q, uint32_t length, uint32_t span)
{
	struct interned_stacks *p = c->stacks;
	size_t n;
	const uint32_t *of = timelines_requests_of_trace(p->timelines, q, &n);
	uint32_t n_endpoints, asked, group = 0;
	const struct request_endpoint *e = timelines_endpoints(p->timelines, &n_endpoints);

	pthread_mutex_lock(&p->lock);
	asked = pairs_id(&p->asked, e[q->endpoint].alike + 1,
			 p->by == GROUP_BY_ROW ? length
			 : n		       ? of[0] + 1
					       : 0);
	group = make_group(p, client, name, asked, 0, span);
	pthread_mutex_unlock(&p->lock);
	return group;
}

enum list_kind {
	LIST_HEAD,	    /* number: a name; stack */
	LIST_RAN,	    /* stack */
	LIST_NAME,	    /* number: a name */
	LIST_LINK,	    /* link */
	LIST_IDENTITY,	    /* link; not a list: see intern_link_identity() */
	LIST_HOLDER,	    /* number: see cpu_holders.h */
	LIST_DISK,	    /* number: what was asked; end: at which stage */
	LIST_PACKETS,	    /* number, end: the stage */
	LIST_WAKEUP,	    /* number: the wakee; link */
	LIST_WAKEUP_BY_END, /* number: the wakee; end */
};

/* What a list is made of. Has no padding: equal keys are equal bytes. */
struct list_key {
	uint32_t kind, number, stack, end;
	struct link link;
};

/* Neither the thread nor the flags are seen in a line: threads of one name give one link. */
static struct link as_shown(const struct link *l)
{
	struct link shown = *l;

	if (l->waker != THREAD_NONE)
		shown.waker = 0;
	shown.flags &= LINK_SHOWS_BLOCKED | LINK_LABEL;
	if (!(shown.flags & LINK_SHOWS_BLOCKED))
		shown.blocked = 0;
	return shown;
}

/* Where the number of a list is kept, 0: not asked for yet. */
static uint32_t *slot_of(struct stack_cache *c, const void *key, size_t len)
{
	bool is_new;
	uint32_t id = xintern(&c->keys, key, len, &is_new);

	XGROW(c->lists, id, c->cap_lists);
	if (is_new)
		c->lists[id] = 0;
	return &c->lists[id];
}

uint32_t interned_stacks_disk(struct interned_stacks *p, uint32_t request, const char *above)
{
	struct disk_request_kind kind = timelines_disk_request_kind(p->timelines, request);
	struct text_buf text = { 0 };
	uint32_t list;

	text_puts(&text, "[");
	disk_names_put(timelines_trace(p->timelines), kind.disk, kind.op, &text);
	text_puts(&text, "]");
	list = frame_list_texts(p->lists, text.p, above);
	text_free(&text);
	return list;
}

static uint32_t disk_list(struct interned_stacks *p, uint32_t request, enum disk_stage stage)
{
	uint32_t whose;

	if (stage != DISK_HELD)
		return interned_stacks_disk(p, request, disk_stage_name(stage));
	whose = disk_limit_holder(timelines_disk_request_kind(p->timelines, request));
	whose = cpu_holder_name(p->names, whose);
	return whose ? interned_stacks_disk(p, request, names_text(p->names, whose)) : 0;
}

static uint32_t make_list(struct interned_stacks *p, const struct list_key *k)
{
	struct frame_sink to = frame_list_sink(p->lists);
	struct link shown;
	uint32_t holder;
	char stage[32];

	switch ((enum list_kind)k->kind) {
	case LIST_HEAD:
		return frame_list_head(p->lists, k->number, k->stack);
	case LIST_RAN:
		names_put_own_stack(p->names, k->stack, to);
		break;
	case LIST_NAME:
		names_put_name(p->names, k->number, to);
		break;
	case LIST_LINK:
		names_put_link(p->names, &k->link, to);
		break;
	case LIST_IDENTITY:
		shown = as_shown(&k->link);
		names_put_link(p->names, &shown, to);
		return link_identity(&p->identities, p->names, p->timelines, &k->link,
				     frame_list_take(p->lists));
	case LIST_HOLDER:
		holder = cpu_holder_name(p->names, k->number);
		return holder ? frame_list_texts(p->lists, names_text(p->names, holder), NULL) : 0;
	case LIST_DISK:
		return disk_list(p, k->number, (enum disk_stage)k->end);
	case LIST_PACKETS:
		if (network_stage_name(k->end)) {
			snprintf(stage, sizeof(stage), "[%s]", network_stage_name(k->end));
			to.put(to.arg, names_clean(p->names, stage), NULL);
		}
		if (!k->number)
			break;
		to.put(to.arg, names_object(p->names, k->number, names_full_objects(p->names)),
		       NULL);
		break;
	case LIST_WAKEUP:
		names_put_wakeup(p->names, &k->link, NULL, k->number, to);
		break;
	case LIST_WAKEUP_BY_END:
		names_put_wakeup(p->names, NULL, chain_end_name((enum chain_end)k->end), k->number,
				 to);
		break;
	}
	return frame_list_take(p->lists);
}

static uint32_t list_of(struct stack_cache *c, struct list_key key)
{
	uint32_t *slot = slot_of(c, &key, sizeof(key));

	if (!*slot) {
		pthread_mutex_lock(&c->stacks->lock);
		*slot = make_list(c->stacks, &key);
		pthread_mutex_unlock(&c->stacks->lock);
	}
	return *slot;
}

uint32_t intern_head(struct stack_cache *c, uint32_t name, uint32_t stack)
{
	return list_of(c, (struct list_key) { LIST_HEAD, .number = name, .stack = stack });
}

uint32_t intern_ran(struct stack_cache *c, uint32_t stack)
{
	return list_of(c, (struct list_key) { LIST_RAN, .stack = stack });
}

uint32_t intern_name(struct stack_cache *c, uint32_t name)
{
	return list_of(c, (struct list_key) { LIST_NAME, .number = name });
}

uint32_t intern_link(struct stack_cache *c, const struct link *l)
{
	return list_of(c, (struct list_key) { LIST_LINK, .link = as_shown(l) });
}

uint32_t intern_link_identity(struct stack_cache *c, const struct link *l)
{
	struct list_key key = { LIST_IDENTITY, .link = as_shown(l) };

	key.link.blocked = l->blocked;
	key.link.flags = l->flags & (LINK_SHOWS_BLOCKED | LINK_STARTED | LINK_LABEL);
	return list_of(c, key);
}

uint32_t intern_identity_list(struct stack_cache *c, uint32_t identity, uint32_t times)
{
	uint32_t list = c->stacks->identities.at.at[identity].a;

	return times > 1 ? frame_list_times(c->stacks->lists, list, times) : list;
}

uint32_t intern_holder(struct stack_cache *c, uint32_t who)
{
	return list_of(c, (struct list_key) { LIST_HOLDER, .number = who });
}

uint32_t intern_disk(struct stack_cache *c, uint32_t kind, enum disk_stage stage)
{
	return list_of(c, (struct list_key) { LIST_DISK, .number = kind, .end = stage });
}

uint32_t intern_packets(struct stack_cache *c, uint32_t object, uint32_t stage)
{
	return list_of(c, (struct list_key) { LIST_PACKETS, .number = object, .end = stage });
}

uint32_t intern_wakeup(struct stack_cache *c, const struct link *l, enum chain_end end,
		       uint32_t wakee)
{
	if (l)
		return list_of(c, (struct list_key) { LIST_WAKEUP, .number = wakee,
						      .link = as_shown(l) });
	return list_of(c, (struct list_key) { LIST_WAKEUP_BY_END, .number = wakee, .end = end });
}

struct thread_group interned_stacks_thread_group(const struct interned_stacks *p, uint32_t group)
{
	struct pair spanned = p->groups.at[group], g = p->named.at[spanned.a];
	struct pair rooted = p->rooted.at[g.a];
	struct pair asker = p->askers.at[rooted.a];
	struct pair owner = asker.a ? p->owners.at[asker.a] : (struct pair) { 0, THREAD_NONE };
	struct pair asked = asker.b ? p->asked.at[asker.b] : (struct pair) { 0, 0 };
	struct thread_group t = {
		.name = g.b,
		.leader = THREAD_NONE,
		.root = rooted.b,
		.endpoint = asked.a,
		.span = spanned.b,
	};

	if (p->by == GROUP_BY_ROW) {
		t.process = owner.a;
		t.length = asked.b;
		return t;
	}
	t.pid = owner.a;
	t.leader = owner.b;
	t.process = owner.b == THREAD_NONE ? 0 : process_name(p->processes, owner.b);
	t.trace = asked.b;
	return t;
}

uint32_t interned_stacks_first_span(struct interned_stacks *p, uint32_t group)
{
	return group > p->groups.n ? group : pairs_id(&p->groups, p->groups.at[group].a, 0);
}

struct frame_lists *interned_stacks_lists(const struct interned_stacks *p)
{
	return p->lists;
}

struct names *interned_stacks_names(const struct interned_stacks *p)
{
	return p->names;
}
