// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "logmaker_private.h"

void logmaker_end_cpu(struct logmaker *l, uint32_t cpu)
{
	struct cpu_block *c = &l->cpus[cpu];
	uint64_t numbers[] = { cpu, c->first_ns, c->last_ns - c->first_ns, c->count };

	if (!c->count)
		return;
	logmaker_put_block(l, CHAINLOG_BLOCK_EVENTS, numbers, 4, &c->body);
	pairs_free(&c->threads);
	pairs_free(&c->stacks);
	c->count = 0;
	c->has_current = false;
}

static struct cpu_block *cpu_block(struct logmaker *l, uint32_t cpu)
{
	size_t n = l->n_cpus;
	struct cpu_block *p;

	if (cpu < n)
		return &l->cpus[cpu];
	while (n <= cpu)
		n = n ? n * 2 : 16;
	p = l->failed ? NULL : realloc(l->cpus, n * sizeof(*p));
	if (!p) {
		l->failed = true;
		return NULL;
	}
	memset(p + l->n_cpus, 0, (n - l->n_cpus) * sizeof(*p));
	l->cpus = p;
	l->n_cpus = n;
	return &p[cpu];
}

/* A thread as the block at hand names it. */
static void put_thread(struct logmaker *l, struct cpu_block *c, uint32_t tid)
{
	int is_new;
	uint32_t id = pairs_id_new(&c->threads, tid, 0, &is_new);

	if (!id)
		l->failed = true;
	logmaker_put_number(l, &c->body, is_new ? 0 : id);
	if (is_new)
		logmaker_put_number(l, &c->body, tid);
}

static void put_stacks(struct logmaker *l, struct cpu_block *c, uint32_t kstack, uint32_t ustack)
{
	int is_new;
	uint32_t id;

	if (!kstack && !ustack)
		return; /* CHAINLOG_F_NO_STACK says it */
	id = pairs_id_new(&c->stacks, kstack, ustack, &is_new);
	if (!id)
		l->failed = true;
	logmaker_put_number(l, &c->body, is_new ? 0 : id);
	if (is_new) {
		logmaker_put_number(l, &c->body, kstack);
		logmaker_put_number(l, &c->body, ustack);
	}
}

/* Begins an event: its tag and its time. */
static struct cpu_block *begin_event(struct logmaker *l, uint32_t cpu, uint64_t ns,
				     unsigned int tag)
{
	struct cpu_block *c = cpu_block(l, cpu);

	if (!c)
		return NULL;
	if (c->body.len >= LOGMAKER_BLOCK_BYTES)
		logmaker_end_cpu(l, cpu);
	if (!c->count)
		c->first_ns = c->last_ns = ns;
	logmaker_put_byte(l, &c->body, tag);
	logmaker_put_number(l, &c->body, ns - c->last_ns);
	c->last_ns = ns;
	c->count++;
	if (!l->events++ || ns < l->first_ns)
		l->first_ns = ns;
	if (ns > l->last_ns)
		l->last_ns = ns;
	return c;
}

/* As begin_event(), and the thread that acts. */
static struct cpu_block *begin_act(struct logmaker *l, uint32_t cpu, uint64_t ns, unsigned int tag,
				   uint32_t tid)
{
	struct cpu_block *c = cpu_block(l, cpu);
	bool current =
		c && c->body.len < LOGMAKER_BLOCK_BYTES && c->has_current && c->current == tid;

	c = begin_event(l, cpu, ns, current ? tag | CHAINLOG_F_CURRENT : tag);
	if (c && !current)
		put_thread(l, c, tid);
	return c;
}

static unsigned int stack_flag(uint32_t kstack, uint32_t ustack)
{
	return kstack || ustack ? 0 : CHAINLOG_F_NO_STACK;
}

void logmaker_switch(struct logmaker *l, uint32_t cpu, uint64_t ns, uint32_t prev, char state,
		     uint32_t next, uint32_t kstack, uint32_t ustack)
{
	unsigned int flag = state == 'S'   ? CHAINLOG_F_SLEEP
			    : state == 'R' ? CHAINLOG_F_RUNNABLE
					   : 0;
	struct cpu_block *c =
		begin_act(l, cpu, ns, CHAINLOG_SWITCH | flag | stack_flag(kstack, ustack), prev);

	if (!c)
		return;
	if (!flag)
		logmaker_put_byte(l, &c->body, (unsigned char)state);
	put_thread(l, c, next);
	c->current = next;
	c->has_current = true;
	put_stacks(l, c, kstack, ustack);
}

void logmaker_waking(struct logmaker *l, enum chainlog_event kind, uint32_t cpu, uint64_t ns,
		     uint32_t waker, uint32_t target, uint32_t kstack, uint32_t ustack)
{
	struct cpu_block *c = begin_act(l, cpu, ns, kind | stack_flag(kstack, ustack), waker);

	if (!c)
		return;
	put_thread(l, c, target);
	put_stacks(l, c, kstack, ustack);
}

void logmaker_fork(struct logmaker *l, uint32_t cpu, uint64_t ns, uint32_t parent, uint32_t child,
		   uint32_t tgid, uint32_t name)
{
	struct cpu_block *c = begin_act(l, cpu, ns, CHAINLOG_FORK, parent);

	if (!c)
		return;
	put_thread(l, c, child);
	logmaker_put_number(l, &c->body, tgid);
	logmaker_put_number(l, &c->body, name);
}

/* EXEC, RENAME and EXIT always name their thread. */
static struct cpu_block *begin_named(struct logmaker *l, uint32_t cpu, uint64_t ns,
				     unsigned int kind, uint32_t tid)
{
	struct cpu_block *c = begin_event(l, cpu, ns, kind);

	if (c)
		put_thread(l, c, tid);
	return c;
}

void logmaker_exec(struct logmaker *l, uint32_t cpu, uint64_t ns, uint32_t tid, uint32_t old_tid,
		   uint32_t file)
{
	struct cpu_block *c = begin_named(l, cpu, ns, CHAINLOG_EXEC, tid);

	if (!c)
		return;
	logmaker_put_number(l, &c->body, old_tid);
	logmaker_put_number(l, &c->body, file);
}

void logmaker_rename(struct logmaker *l, uint32_t cpu, uint64_t ns, uint32_t tid, uint32_t name)
{
	struct cpu_block *c = begin_named(l, cpu, ns, CHAINLOG_RENAME, tid);

	if (c)
		logmaker_put_number(l, &c->body, name);
}

void logmaker_exit(struct logmaker *l, uint32_t cpu, uint64_t ns, uint32_t tid)
{
	(void)begin_named(l, cpu, ns, CHAINLOG_EXIT, tid);
}

uint64_t logmaker_events(const struct logmaker *l)
{
	return l->events;
}
