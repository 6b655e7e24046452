// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object_names.h"
#include "base/pairs.h"
#include "common/xalloc.h"
#include "common/intern.h"
#include "base/text.h"
#include "trace/trace.h"

/* ---- names that look alike ------------------------------------------------------------------- */

/*
 * Objects of one name that are different things: files of the same path in two
 * mount namespaces, memory that other processes share (chain-semantics, section 10).
 */

/* All zero knows nothing yet. */
struct look_alikes {
	bool known;
	struct intern texts;	       /* class and name */
	struct look_alike_name *names; /* by the ids of these */
	size_t n_names, cap_names;
};

/* The first object of a name, and whether there are others. */
struct look_alike_name {
	uint64_t inode;
	uint32_t device;
	bool others, other_devices;
};

#define MINOR_BITS 20

static void look_alikes_free(struct look_alikes *l)
{
	intern_free(&l->texts);
	free(l->names);
	*l = (struct look_alikes) { .known = false };
}

static void put_key(const struct trace *t, const struct trace_object *o, struct text_buf *b)
{
	b->len = 0;
	text_puts(b, trace_string(t, o->class));
	text_puts(b, " ");
	text_puts(b, trace_string(t, o->name));
}

/* Notes an object, whose class and name are in b. */
static void note(struct look_alikes *l, const struct trace_object *o, const struct text_buf *b)
{
	uint32_t id = xintern(&l->texts, b->p, b->len, NULL);
	struct look_alike_name *name;

	while (l->n_names <= id)
		XAPPEND(l->names, l->n_names, l->cap_names) =
			(struct look_alike_name) { .inode = 0 };
	name = &l->names[id];
	if (!name->inode) {
		name->inode = o->inode;
		name->device = o->device;
	}
	name->others |= name->inode != o->inode || name->device != o->device;
	name->other_devices |= name->device != o->device;
}

static void find(struct look_alikes *l, const struct trace *t)
{
	struct text_buf b = { 0 };

	for (uint32_t i = 1; i < trace_objects_end(t); i++) {
		const struct trace_object *o = trace_object(t, i);

		if (!o || !o->inode)
			continue;
		put_key(t, o, &b);
		note(l, o, &b);
	}
	text_free(&b);
	l->known = true;
}

/*
 * Appends what tells the object from others of the same class and name: " (inode 4711)", or if they
 * are on several devices " (inode 4711 of 8:1)". Nothing if there are no others.
 */
static void look_alikes_put(struct look_alikes *l, const struct trace *t,
			    const struct trace_object *o, struct text_buf *b)
{
	const struct look_alike_name *name;
	struct text_buf key = { 0 };
	uint32_t id = 0;
	char text[80];

	if (!o->inode)
		return;
	if (!l->known)
		find(l, t);
	put_key(t, o, &key);
	id = intern_find(&l->texts, key.p, key.len);
	text_free(&key);
	if (!id)
		return;
	name = &l->names[id];
	if (!name->others)
		return;
	if (name->other_devices)
		snprintf(text, sizeof(text), " (inode %" PRIu64 " of %" PRIu32 ":%" PRIu32 ")",
			 o->inode, o->device >> MINOR_BITS,
			 o->device & ((UINT32_C(1) << MINOR_BITS) - 1));
	else
		snprintf(text, sizeof(text), " (inode %" PRIu64 ")", o->inode);
	text_puts(b, text);
}

/* Processes; a pipe may have several. One more is kept, as one may be the process that waits. */
#define PEERS_NAMED 2
#define PEERS_KEPT (PEERS_NAMED + 1)
struct peer_list {
	uint32_t pids[PEERS_KEPT];
	uint32_t n; /* all of them, also those that are not in pids */
};

/* Of a pipe or a unix socket. */
struct users {
	struct peer_list woke; /* processes that ended waits for it by using it */
	uint32_t waiter;       /* the process that waited for it; 0: none, SEVERAL */
};
#define SEVERAL UINT32_MAX

struct object_names {
	const struct timelines *timelines;
	const struct trace *trace;
	struct kernel_stacks *kernel;
	bool knows_ends, knows_pipes, knows_threads;
	/* "OWN END|OTHER END", or for one that is not connected "OWN END|*". */
	struct intern ends;
	uint32_t *owners; /* process, by the ids of these; [0] unused */
	size_t n_owners, cap_owners;
	struct users *of_pipe; /* by object */
	/* By stack pair: a process that ended a sleep with it at a pipe by using that; 0: none. */
	uint32_t *woken_by;
	struct look_alikes look_alikes;
	struct pair_table threads; /* uint32_t: thread + 1, by (id, enum id_of) */
};

enum id_of { ID_OF_PROCESS, ID_OF_THREAD };

void object_names_new(struct object_names **out, const struct timelines *tl,
		      struct kernel_stacks *k)
{
	struct object_names *o = xcalloc(1, sizeof(*o));

	*out = o;
	o->timelines = tl;
	o->trace = timelines_trace(tl);
	o->kernel = k;
}

void object_names_free(struct object_names *o)
{
	if (!o)
		return;
	intern_free(&o->ends);
	look_alikes_free(&o->look_alikes);
	free(o->owners);
	free(o->of_pipe);
	free(o->woken_by);
	pair_table_free(&o->threads);
	free(o);
}

/* ---- connections ---------------------------------------------------------------------------- */

/*
 * The other end of a connection, as that end itself writes it: "tcp 10.0.0.5:5432". A poll() of one
 * descriptor has it as its name.
 */
static void put_other_end(const struct object_names *o, const struct trace_object *what,
			  struct text_buf *b)
{
	const char *class = trace_string(o->trace, what->class),
		   *own = trace_string(o->trace, what->own);
	size_t len = strlen(class);

	if (!strncmp(own, class, len) && own[len] == ' ') {
		text_puts(b, class);
		text_puts(b, " ");
	}
	text_puts(b, trace_string(o->trace, what->name));
}

/* "udp :53": it takes what comes from anybody. */
static bool is_unconnected(const char *other_end)
{
	const char *space = strchr(other_end, ' ');

	return space && space[1] == ':';
}

static void note_end(struct object_names *o, const struct trace_object *what,
		     struct text_buf *other, struct text_buf *b)
{
	uint32_t id = 0;
	bool is_new = false;

	other->len = b->len = 0;
	put_other_end(o, what, other);
	text_puts(b, trace_string(o->trace, what->own));
	text_puts(b, "|");
	if (!other->len)
		return;
	/* Which process takes a listening socket's connections is known once it has taken one. */
	if (!is_unconnected(other->p))
		text_puts(b, other->p);
	else if (!strncmp(other->p, "udp ", 4))
		text_puts(b, "*");
	id = xintern(&o->ends, b->p, b->len, &is_new);
	if (!is_new)
		return;
	while (o->n_owners <= id)
		XAPPEND(o->owners, o->n_owners, o->cap_owners) = 0;
	o->owners[id] = what->owner;
}

static void find_ends(struct object_names *o)
{
	struct text_buf other = { 0 }, b = { 0 };

	o->knows_ends = true;
	for (uint32_t i = 1; i < trace_objects_end(o->trace); i++) {
		const struct trace_object *what = trace_object(o->trace, i);

		if (what && what->own && what->owner)
			note_end(o, what, &other, &b);
	}
	text_free(&other);
	text_free(&b);
}

/* The process whose own end is "OWN END|OTHER END"; 0: not known. */
static uint32_t owner_of(const struct object_names *o, const char *own, const char *other)
{
	struct text_buf b = { 0 };
	uint32_t id = 0;

	text_puts(&b, own);
	text_puts(&b, "|");
	text_puts(&b, other);
	id = intern_find(&o->ends, b.p, b.len);
	text_free(&b);
	return id < o->n_owners ? o->owners[id] : 0;
}

/*
 * end, own: "udp ADDRESS:PORT". The process that receives at that port, at any address; of tcp one
 * that takes connections there.
 */
static uint32_t owner_of_port(const struct object_names *o, const char *end, const char *own)
{
	static const char *const any[] = { "0.0.0.0", "[::]", "" };
	const char *port = strrchr(end, ':'), *own_port = strrchr(own, ':');
	bool is_udp = !strncmp(end, "udp ", 4);
	uint32_t owner = 0;
	char text[64];

	/* Only if both ends have one address both are on this machine. */
	if (!port || !own_port || port - end != own_port - own ||
	    memcmp(end, own, (size_t)(port - end)) || (!is_udp && strncmp(end, "tcp ", 4)))
		return 0;
	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]) && !owner; i++) {
		snprintf(text, sizeof(text), "%.4s%s%.8s", end, any[i], port);
		owner = owner_of(o, text, is_udp ? "*" : "");
	}
	return owner || is_udp ? owner : owner_of(o, end, "");
}

/* listens: if it is not known who has the connection, who takes connections there. */
static uint32_t connected_to(struct object_names *o, const struct trace_object *what, bool listens)
{
	const char *own = trace_string(o->trace, what->own);
	struct text_buf other = { 0 };
	uint32_t owner = 0;

	if (!o->knows_ends)
		find_ends(o);
	put_other_end(o, what, &other);
	if (other.len && !is_unconnected(other.p)) {
		owner = owner_of(o, other.p, own);
		if (!owner)
			owner = owner_of(o, other.p, "*");
		if (!owner && (listens || !strncmp(other.p, "udp ", 4)))
			owner = owner_of_port(o, other.p, own);
	}
	text_free(&other);
	return owner;
}

/* ---- pipes and unix sockets ----------------------------------------------------------------- */

static void add_peer(struct peer_list *list, uint32_t pid)
{
	for (uint32_t i = 0; i < list->n && i < PEERS_KEPT; i++)
		if (list->pids[i] == pid)
			return;
	if (list->n < PEERS_KEPT)
		list->pids[list->n] = pid;
	list->n++;
}

static bool is_pipe(const struct object_names *o, uint32_t object)
{
	const struct trace_object *what = trace_object(o->trace, object);
	const char *class = what ? trace_string(o->trace, what->class) : "",
		   *name = what ? trace_string(o->trace, what->name) : "";

	/* A poll() of one descriptor has what that is as its name. */
	return !strcmp(class, "pipe") || !strcmp(class, "unix") || !strncmp(name, "pipe ", 5) ||
	       !strncmp(name, "unix ", 5);
}

/* The process that ended a wait for it by using it; 0: not known. */
static uint32_t used_by(const struct object_names *o, const struct wait *w)
{
	return waker_uses_pipe(o->kernel, o->timelines, w)
		       ? timelines_thread(o->timelines, w->waker)->tgid
		       : 0;
}

/* Of a stack pair the last sleep of which it is noted who used the pipe. */
struct noted {
	uint32_t slept; /* 1 + the process of who slept; 0: there is none */
	uint32_t waker, waker_stack;
};

struct pipe_walk {
	uint32_t *pipes;    /* by stack pair, see pipes_by_pair() */
	struct noted *last; /* likewise */
	struct pairs users; /* (pipe, process) */
};

/* Notes who used the pipe for which w, a sleep of the thread, was; not of one that is like last. */
static void add_pipe_wait(struct object_names *o, struct pipe_walk *p, const struct thread *th,
			  const struct wait *w)
{
	struct users *of = &o->of_pipe[p->pipes[w->stack]];
	struct noted *last = &p->last[w->stack];
	uint32_t pid;
	int is_new = 0;

	if (last->slept == 1 + th->tgid && last->waker == w->waker &&
	    last->waker_stack == w->waker_stack)
		return;
	*last = (struct noted) { 1 + th->tgid, w->waker, w->waker_stack };
	pid = used_by(o, w);
	if (pid)
		pairs_id_new(&p->users, p->pipes[w->stack], pid, &is_new);
	if (is_new)
		add_peer(&of->woke, pid);
	if (pid && pid != th->tgid)
		o->woken_by[w->stack] = pid;
	if (!of->waiter)
		of->waiter = th->tgid;
	if (of->waiter != th->tgid)
		of->waiter = SEVERAL;
}

/* By stack pair: the pipe that it is for; 0: none. To be freed. */
static uint32_t *pipes_by_pair(const struct object_names *o)
{
	uint32_t n = timelines_pairs_end(o->timelines);
	uint32_t *pipes = xcalloc(n, sizeof(*pipes));

	for (uint32_t i = 1; i < n; i++) {
		struct stack_pair pair = timelines_pair(o->timelines, i);
		uint32_t object = pair.ready ? pair.ready : pair.object;

		pipes[i] = is_pipe(o, object) ? object : 0;
	}
	return pipes;
}

static void find_pipes(struct object_names *o)
{
	struct pipe_walk p = { .pipes = pipes_by_pair(o) };

	o->knows_pipes = true;
	o->of_pipe = xcalloc(trace_objects_end(o->trace), sizeof(*o->of_pipe));
	o->woken_by = xcalloc(timelines_pairs_end(o->timelines), sizeof(*o->woken_by));
	p.last = xcalloc(timelines_pairs_end(o->timelines), sizeof(*p.last));
	for (uint32_t i = 0; i < timelines_threads(o->timelines); i++) {
		const struct thread *th = timelines_thread(o->timelines, i);

		for (uint32_t k = 0; k < th->n_waits; k++) {
			const struct wait *w = &th->waits[k];

			if (w->kind == WAIT_SLEEP && p.pipes[w->stack])
				add_pipe_wait(o, &p, th, w);
		}
	}
	free(p.pipes);
	free(p.last);
	pairs_free(&p.users);
}

/*
 * The processes at the other end of a pipe or a unix socket. kernel: the one that connected or
 * listened, by which the kernel knows a unix socket's other end; of a socketpair that is the
 * process that made both ends, and may wait at this one. Who waits alone is not at the other end.
 */
static struct peer_list users_of(struct object_names *o, uint32_t object, uint32_t kernel)
{
	struct peer_list list = { .n = 0 };
	const struct users *u;

	if (!o->knows_pipes)
		find_pipes(o);
	u = o->of_pipe ? &o->of_pipe[object] : NULL;
	for (uint32_t i = 0; u && i < u->woke.n && i < PEERS_KEPT; i++)
		if (u->woke.pids[i] != u->waiter)
			add_peer(&list, u->woke.pids[i]);
	if (u && u->woke.n > PEERS_KEPT)
		list.n += u->woke.n - PEERS_KEPT;
	if (!list.n && kernel && (!u || kernel != u->waiter))
		add_peer(&list, kernel);
	return list;
}

/* ---- both ------------------------------------------------------------------------------------ */

uint32_t object_names_holder(const struct object_names *o, uint32_t object)
{
	const struct trace_object *what = trace_object(o->trace, object);

	return what && !strcmp(trace_string(o->trace, what->class), "futex") ? what->peer : 0;
}

static struct peer_list peers_of(struct object_names *o, uint32_t object)
{
	const struct trace_object *what = trace_object(o->trace, object);
	struct peer_list list = { .n = 0 };

	if (!what || object_names_holder(o, object))
		return list;
	list.pids[0] = what->peer;
	if (!list.pids[0] && what->own)
		list.pids[0] = connected_to(o, what, false);
	list.n = list.pids[0] != 0;
	return is_pipe(o, object) ? users_of(o, object, list.pids[0]) : list;
}

/* ---- as text ------------------------------------------------------------------------------- */

/* Where an id was reused, the last one that had it. */
static void find_threads(struct object_names *o)
{
	uint32_t n = timelines_threads(o->timelines), *last;

	o->knows_threads = true;
	for (uint32_t i = 0; i < n; i++) {
		const struct thread *th = timelines_thread(o->timelines, i);

		last = pair_table_at(&o->threads, th->tid, ID_OF_THREAD, sizeof(*last));
		*last = i + 1;
		if (!th->tgid || th->tgid != th->tid)
			continue;
		last = pair_table_at(&o->threads, th->tgid, ID_OF_PROCESS, sizeof(*last));
		*last = i + 1;
	}
}

static uint32_t find_thread(struct object_names *o, uint32_t id, enum id_of of)
{
	uint32_t key;

	if (!o->knows_threads)
		find_threads(o);
	key = pairs_find(&o->threads.keys, id, of);
	return key ? ((const uint32_t *)o->threads.at)[key] - 1 : THREAD_NONE;
}

uint32_t object_names_thread(struct object_names *o, uint32_t tid)
{
	return find_thread(o, tid, ID_OF_THREAD);
}

const struct timelines *object_names_timelines(const struct object_names *o)
{
	return o->timelines;
}

/* " NAME/ID" of a process or a thread, or without a name, if thread is THREAD_NONE, " ID". */
static void put_named(struct object_names *o, uint32_t thread, uint32_t id, struct text_buf *b)
{
	char number[16];

	text_puts(b, " ");
	if (thread != THREAD_NONE) {
		const struct thread *th = timelines_thread(o->timelines, thread);
		uint32_t name = timelines_name(o->timelines, thread, th->end_ns);

		text_puts(b, trace_string(timelines_trace(o->timelines), name));
		text_puts(b, "/");
	}
	snprintf(number, sizeof(number), "%" PRIu32, id);
	text_puts(b, number);
}

void object_names_put_thread(struct object_names *o, uint32_t thread, struct text_buf *b)
{
	put_named(o, thread, timelines_thread(o->timelines, thread)->tid, b);
}

/*
 * A child that is waited for, by its id: named if the process with that id was started by the one
 * that waits. (In a PID namespace the id means another process than on the machine.)
 */
static bool put_child(struct object_names *o, const struct trace_object *what, struct text_buf *b)
{
	const char *name = trace_string(o->trace, what->name);
	const struct thread *parent;
	uint32_t id, child;
	char *end;

	if (!what->owner || strcmp(trace_string(o->trace, what->class), "child"))
		return false;
	id = (uint32_t)strtoul(name, &end, 10);
	child = *end ? THREAD_NONE : find_thread(o, id, ID_OF_PROCESS);
	if (child == THREAD_NONE || timelines_thread(o->timelines, child)->parent == THREAD_NONE)
		return false;
	parent = timelines_thread(o->timelines, timelines_thread(o->timelines, child)->parent);
	if (parent->tgid != what->owner)
		return false;
	put_named(o, child, id, b);
	return true;
}

static void put_peers(struct object_names *o, uint32_t object, struct text_buf *b)
{
	struct peer_list peers = peers_of(o, object);
	char more[32];

	for (uint32_t i = 0; i < peers.n && i < PEERS_NAMED; i++)
		put_named(o, find_thread(o, peers.pids[i], ID_OF_PROCESS), peers.pids[i], b);
	if (peers.n <= PEERS_NAMED)
		return;
	snprintf(more, sizeof(more), " and %" PRIu32 " more", peers.n - PEERS_NAMED);
	text_puts(b, more);
}

void object_names_put_distinction(struct object_names *o, uint32_t object, struct text_buf *b)
{
	const struct trace_object *what = trace_object(o->trace, object);

	if (what)
		look_alikes_put(&o->look_alikes, o->trace, what, b);
}

void object_names_put(struct object_names *o, uint32_t object, bool in_full, struct text_buf *b)
{
	const struct trace *t = timelines_trace(o->timelines);
	const struct trace_object *what = trace_object(t, object);
	uint32_t holder = object_names_holder(o, object);

	if (!what)
		return;
	text_puts(b, trace_string(t, what->class));
	if (!in_full)
		return;
	if (what->name && !put_child(o, what, b)) {
		text_puts(b, " ");
		text_puts(b, trace_string(t, what->name));
	}
	object_names_put_distinction(o, object, b);
	put_peers(o, object, b);
	if (holder) {
		text_puts(b, " held by");
		put_named(o, object_names_thread(o, holder), holder, b);
	}
}

uint32_t object_names_other_end(struct object_names *o, uint32_t pair)
{
	struct stack_pair p = timelines_pair(o->timelines, pair);
	uint32_t object = p.ready ? p.ready : p.object, peer;
	const struct trace_object *what = trace_object(o->trace, object);

	if (is_pipe(o, object) && !o->knows_pipes)
		find_pipes(o);
	if (is_pipe(o, object) && o->woken_by && o->woken_by[pair])
		return o->woken_by[pair];
	peer = object_names_peer(o, object);
	return peer || !what || !what->own ? peer : connected_to(o, what, true);
}

uint32_t object_names_peer(struct object_names *o, uint32_t object)
{
	struct peer_list peers = peers_of(o, object);

	return peers.n ? peers.pids[0] : 0;
}

/* ---- block devices --------------------------------------------------------------------------- */

const char *disk_op_name(unsigned int op)
{
	static const char *const names[CHAINLOG_DISK_OPS] = {
		[CHAINLOG_DISK_READ] = "read",	 [CHAINLOG_DISK_WRITE] = "write",
		[CHAINLOG_DISK_FLUSH] = "flush", [CHAINLOG_DISK_DISCARD] = "discard",
		[CHAINLOG_DISK_ZERO] = "zero",	 [CHAINLOG_DISK_OTHER] = "other",
	};

	return names[op < CHAINLOG_DISK_OPS ? op : CHAINLOG_DISK_OTHER];
}

const char *disk_device_name(const struct trace *t, uint32_t disk)
{
	const struct trace_object *o = trace_object(t, disk);

	return o ? trace_string(t, o->name) : "";
}

void disk_names_put(const struct trace *t, uint32_t disk, unsigned int op, struct text_buf *out)
{
	const char *name = disk_device_name(t, disk);

	text_puts(out, "disk ");
	text_puts(out, name);
	text_puts(out, *name ? " " : "");
	text_puts(out, disk_op_name(op));
}
