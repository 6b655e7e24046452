// SPDX-License-Identifier: GPL-2.0-or-later
#include "joint.h"

#include <stdlib.h>
#include <string.h>

#include "base/kernel_functions.h"
#include "select/wait_nature.h"
#include "words/lock_holder.h"
#include "words/object_names.h"
#include "words/waited_for.h"

#define GIL "the interpreter's lock (GIL)"

/*
 * Functions of well-known programs and libraries in which threads wait, and what for. Where several
 * are in a stack the one nearest to the leaf counts.
 */
static const struct known_wait {
	const char *begin; /* of the function's name */
	const char *text;
	enum joint_kind kind;
} known_waits[] = {
	/* MySQL and MariaDB */
	{ "MDL_wait", "a metadata lock", JOINT_LOCK },
	{ "MDL_context::acquire_lock", "a metadata lock", JOINT_LOCK },
	{ "lock_wait", "a row lock", JOINT_LOCK },
	{ "lock_table_wait", "a table lock", JOINT_LOCK },
	{ "thr_lock", "a table lock", JOINT_LOCK },
	/* PostgreSQL */
	{ "XactLockTableWait", "a row lock", JOINT_LOCK },
	{ "LockTuple", "a row lock", JOINT_LOCK },
	{ "LockRelation", "a table lock", JOINT_LOCK },
	{ "ProcSleep", "a lock of the database", JOINT_LOCK },
	{ "LWLockAcquire", "a lock in shared memory", JOINT_LOCK },
	/* SQLite */
	{ "sqliteDefaultBusyCallback", "the lock of the database file", JOINT_LOCK },
	/* Python's threading, queue and multiprocessing, by their functions */
	{ "Thread.join", "the end of a thread", JOINT_CHILD },
	{ "Thread._wait_for_tstate_lock", "the end of a thread", JOINT_CHILD },
	{ "Queue.get", "an item of a queue", JOINT_OTHER },
	{ "SimpleQueue.get", "an item of a queue", JOINT_OTHER },
	{ "Queue.put", "room in a queue", JOINT_OTHER },
	{ "Event.wait", "an event", JOINT_OTHER },
	{ "Semaphore.acquire", "a semaphore", JOINT_OTHER },
	{ "Barrier.wait", "the others at a barrier", JOINT_OTHER },
	{ "Condition.wait", "a condition", JOINT_OTHER },
	{ "PyThread_acquire_lock", "a lock", JOINT_LOCK },
	/* Pools of connections */
	{ "database/sql.(*DB).conn", "a free connection", JOINT_LOCK },
	{ "com.zaxxer.hikari.pool.HikariPool.getConnection", "a free connection", JOINT_LOCK },
	/* JVM */
	{ "SafepointSynchronize::", "a safepoint of the JVM", JOINT_OTHER },
	{ "ObjectMonitor::enter", "a monitor", JOINT_LOCK },
	{ "ObjectMonitor::EnterI", "a monitor", JOINT_LOCK },
	{ "ObjectMonitor::wait", "a condition", JOINT_OTHER },
	/* Python: which of them it is says the lock, below */
	{ "PyEval_RestoreThread", GIL, JOINT_LOCK },
	{ "take_gil", GIL, JOINT_LOCK },
	/* Ruby */
	{ "thread_sched_to_running", "the interpreter's lock (GVL)", JOINT_LOCK },
	{ "gvl_acquire", "the interpreter's lock (GVL)", JOINT_LOCK },
	/* glibc */
	{ "pthread_cond_", "a condition", JOINT_OTHER },
	{ "__pthread_cond_", "a condition", JOINT_OTHER },
	{ "___pthread_cond_", "a condition", JOINT_OTHER },
	{ "pthread_join", "the end of a thread", JOINT_CHILD },
	{ "__pthread_clockjoin", "the end of a thread", JOINT_CHILD },
	{ "pthread_barrier_wait", "the others at a barrier", JOINT_OTHER },
	{ "sem_wait", "a semaphore", JOINT_OTHER },
	{ "__new_sem_wait", "a semaphore", JOINT_OTHER },
};

static const struct known_wait *known_wait_of(const struct timelines *tl, uint32_t pair)
{
	const struct trace *t = timelines_trace(tl);
	struct trace_stack s = trace_stack(t, timelines_pair(tl, pair).ustack);
	const struct known_wait *found = NULL;

	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);
		const char *symbol = f ? trace_string(t, f->symbol) : "";

		for (size_t k = 0; k < sizeof(known_waits) / sizeof(known_waits[0]); k++) {
			const struct known_wait *w = &known_waits[k];

			if (strncmp(symbol, w->begin, strlen(w->begin)))
				continue;
			/* A program's own word for it says more than the C library's. */
			if (!found || w < found)
				found = w;
		}
	}
	return found;
}

static const char *class_of(const struct timelines *tl, uint32_t object)
{
	const struct trace *t = timelines_trace(tl);
	const struct trace_object *o = object ? trace_object(t, object) : NULL;

	return o ? trace_string(t, o->class) : "";
}

/* Whether a kernel function with this in its name is in the kernel's part. */
static bool is_in_kernel_function(const struct timelines *tl, uint32_t pair, const char *part)
{
	const struct trace *t = timelines_trace(tl);
	struct trace_stack s = trace_stack(t, timelines_pair(tl, pair).kstack);

	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);

		if (f && strstr(trace_string(t, f->symbol), part))
			return true;
	}
	return false;
}

static struct joint joint_text(struct names *names, enum joint_kind kind, const char *before,
			       const char *text, const char *after)
{
	struct text_buf b = { 0 };
	struct joint j = { .kind = kind };

	text_puts(&b, before);
	text_puts(&b, text);
	text_puts(&b, after);
	j.text = b.failed ? 0 : names_adopt(names, b.len ? b.p : "");
	text_free(&b);
	return j;
}

/* The last part of a path; ids of directories' entries are no paths. */
static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/*
 * Of a socket: "postgres (tcp :5432)", "redis-server (unix socket)". The address is left out where
 * who is there is known, as then it is this machine's. words: of the object, for where that is not
 * known.
 */
static struct joint of_socket(const struct timelines *tl, struct names *names, uint32_t object,
			      const char *before, const char *words)
{
	const char *class = class_of(tl, object), *port;
	struct object_names *objects = names_objects(names);
	uint32_t peer = object_names_peer(objects, object);
	uint32_t thread = peer ? object_names_thread(objects, peer) : THREAD_NONE, name;
	struct text_buf b = { 0 };
	struct joint j;

	name = thread == THREAD_NONE ? 0 : names_thread(names, thread, timelines_end_ns(tl));
	if (!name)
		return joint_text(names, JOINT_OTHER, before, words, "");
	text_puts(&b, names_text(names, name));
	port = strrchr(trace_string(timelines_trace(tl),
				    trace_object(timelines_trace(tl), object)->name),
		       ':');
	text_puts(&b, " (");
	text_puts(&b, class);
	text_puts(&b, strcmp(class, "unix") ? " " : " socket");
	if (strcmp(class, "unix") != 0)
		names_put(&b, port ? port : "socket");
	text_puts(&b, ")");
	j = b.failed ? (struct joint) { 0 } : joint_text(names, JOINT_OTHER, before, b.p, "");
	text_free(&b);
	return j;
}

static struct joint of_object(const struct timelines *tl, struct names *names, uint32_t pair,
			      struct shown_objects of)
{
	uint32_t object = of.ready ? of.ready : of.object;
	const char *class = class_of(tl, object);
	char *words = strdup(names_text(names, words_of_object(names, object)));
	const char *name = words ? strchr(words, ' ') : NULL;
	struct joint j = { 0 };

	if (!words)
		return j;
	name = name ? name + 1 : "";
	if (!strcmp(class, "GIL"))
		j = joint_text(names, JOINT_LOCK, GIL, "", "");
	else if (!strcmp(class, "futex"))
		j = joint_text(names, JOINT_OTHER, "a futex", "", "");
	else if (!strcmp(class, "eventfd"))
		j = joint_text(names, JOINT_OTHER, "another thread (eventfd)", "", "");
	else if (!strcmp(class, "child"))
		j = joint_text(names, JOINT_CHILD, "its child", "", "");
	else if (!strcmp(class, "sleep"))
		j = joint_text(names, JOINT_SLEEP, "a timer", "", "");
	else if (!strcmp(class, "tcp") || !strcmp(class, "udp") || !strcmp(class, "unix"))
		j = of_socket(tl, names, object,
			      is_in_kernel_function(tl, pair, "sendmsg") ? "room to send to " : "",
			      words);
	else if (!strcmp(class, "pipe") && is_in_kernel_function(tl, pair, "pipe_write"))
		j = joint_text(names, JOINT_OTHER, "room in ", words, "");
	else if (!strcmp(class, "pipe"))
		j = joint_text(names, JOINT_OTHER, "data from ", words, "");
	else if (!strcmp(class, "file"))
		j = joint_text(names, JOINT_OTHER, "file ", file_name(name), "");
	else if (!strcmp(class, "signal"))
		j = joint_text(names, JOINT_CHILD, "a signal", "", "");
	else if (!strcmp(class, "poll") && strncmp(name, "of ", 3) && *name)
		j = joint_text(names, JOINT_OTHER, name, "", "");
	else if (!of.ready &&
		 (!strcmp(class, "epoll") || !strcmp(class, "poll") || !strcmp(class, "select")))
		j = joint_text(names, JOINT_EVENT, "an event", "", "");
	else
		j = joint_text(names, JOINT_OTHER, words, "", "");
	free(words);
	return j;
}

struct joint joint_of(const struct timelines *tl, struct kernel_stacks *k, struct names *names,
		      uint32_t pair)
{
	const struct known_wait *known = known_wait_of(tl, pair);
	struct shown_objects of = names_shown_objects(names, pair);
	struct stack_pair p = timelines_pair(tl, pair);
	struct joint j;

	if (kernel_stack_wait_flags(k, p.kstack) & KFUNC_AWAITS_WORK)
		return (struct joint) { JOINT_WORK, names_adopt(names, "work") };
	if (known && known->kind == JOINT_LOCK)
		return joint_text(names, known->kind, known->text, "", "");
	if (wait_is_at_lock(tl, k, pair)) {
		const char *class = class_of(tl, of.object);

		if (!strcmp(class, "GIL"))
			return of_object(tl, names, pair, of);
		if (strcmp(class, "file"))
			return joint_text(names, JOINT_LOCK,
					  *class ? "a lock" : "a lock of the kernel's", "", "");
		j = of_object(tl, names, pair, of);
		/* "file NAME" */
		return j.text ? joint_text(names, JOINT_LOCK, "the lock of ",
					   names_text(names, j.text), "")
			      : j;
	}
	if (known)
		return joint_text(names, known->kind, known->text, "", "");
	if (of.object)
		return of_object(tl, names, pair, of);
	if (is_in_kernel_function(tl, pair, "nanosleep"))
		return joint_text(names, JOINT_SLEEP, "a timer", "", "");
	if (is_in_kernel_function(tl, pair, "do_wait"))
		return joint_text(names, JOINT_CHILD, "its child", "", "");
	return joint_text(names, JOINT_OTHER, "", "", "");
}
