// SPDX-License-Identifier: GPL-2.0-or-later
#include "joint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/kernel_functions.h"
#include "select/wait_nature.h"
#include "words/code_frames.h"
#include "words/kernel_waits.h"
#include "words/known_function.h"
#include "words/lock_holder.h"
#include "words/object_names.h"
#include "words/waited_for.h"
#include "common/xalloc.h"

#define GIL "the interpreter's lock (GIL)"
#define METADATA_LOCK "a metadata lock"
#define TABLE_LOCK "a table lock"

/*
 * Functions in which threads wait, and what for; where several are in a stack the first of these
 * counts.
 */
struct known_wait {
	const char *begin; /* of the function's name */
	const char *text;
	enum joint_kind kind;
};

/* Of well-known programs and runtimes. */
static const struct known_wait of_programs[] = {
	/* MySQL and MariaDB */
	{ "MDL_wait", METADATA_LOCK, JOINT_LOCK },
	{ "MDL_context::acquire_lock", METADATA_LOCK, JOINT_LOCK },
	{ "lock_wait", "a row lock", JOINT_LOCK },
	{ "lock_table_wait", TABLE_LOCK, JOINT_LOCK },
	{ "thr_lock", TABLE_LOCK, JOINT_LOCK },
	/* PostgreSQL */
	{ "XactLockTableWait", "a row lock", JOINT_LOCK },
	{ "LockTuple", "a row lock", JOINT_LOCK },
	{ "LockRelation", TABLE_LOCK, JOINT_LOCK },
	{ "ProcSleep", "a lock of the database", JOINT_LOCK },
	{ "LWLockAcquire", "a lock in shared memory", JOINT_LOCK },
	/* SQLite */
	{ "sqlite3InvokeBusyHandler", "the lock of the database file", JOINT_LOCK },
	{ "btreeInvokeBusyHandler", "the lock of the database file", JOINT_LOCK },
	/* Pools of connections */
	{ "database/sql.(*DB).conn", "a free connection", JOINT_LOCK },
	{ "com.zaxxer.hikari.pool.HikariPool.getConnection", "a free connection", JOINT_LOCK },
	/* GNU make */
	{ "jobserver_acquire", "a free job slot (-j)", JOINT_OTHER },
	/* JVM */
	{ "JVM_Sleep", "a timer", JOINT_SLEEP },
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
};

/* Of libraries: whatever a program has may be waited for in them, also a connection. */
static const struct known_wait of_libraries[] = {
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
	/* Ruby, whose Mutex is a condition inside */
	{ "rb_mutex_lock", "a Ruby Mutex", JOINT_LOCK },
	{ "rb_mutex_synchronize", "a Ruby Mutex", JOINT_LOCK },
	/* Libraries of C++ and Rust */
	{ "std::__atomic_futex_", "the result of a task", JOINT_OTHER },
	{ "std::thread::join", "the end of a thread", JOINT_CHILD },
	{ "std::counting_semaphore", "a semaphore", JOINT_OTHER },
	{ "<std::sys::sync::condvar", "a condition", JOINT_OTHER },
	{ "std::sys::sync::condvar", "a condition", JOINT_OTHER },
	{ "<std::sync::condvar", "a condition", JOINT_OTHER },
	{ "std::sync::condvar", "a condition", JOINT_OTHER },
	{ "std::sys::unix::locks::futex_condvar", "a condition", JOINT_OTHER },
	{ "<std::sys::sync::mutex", "a lock", JOINT_LOCK },
	{ "std::sys::sync::mutex", "a lock", JOINT_LOCK },
	{ "std::sys::unix::locks::futex_mutex", "a lock", JOINT_LOCK },
	{ "<std::sys::sync::rwlock", "a lock", JOINT_LOCK },
	{ "std::sys::sync::rwlock", "a lock", JOINT_LOCK },
	{ "std::sys::unix::locks::futex_rwlock", "a lock", JOINT_LOCK },
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

static const struct known_wait *known_wait_of(const struct timelines *tl, uint32_t pair,
					      const struct known_wait *known, size_t n)
{
	const struct trace *t = timelines_trace(tl);
	size_t found = known_function(t, trace_stack(t, timelines_pair(tl, pair).ustack), known, n,
				      sizeof(*known));

	return found < n ? &known[found] : NULL;
}

#define KNOWN_WAIT(tl, pair, known) \
	known_wait_of(tl, pair, known, sizeof(known) / sizeof((known)[0]))

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
	j.text = names_adopt(names, b.len ? b.p : "");
	text_free(&b);
	return j;
}

/* The last part of a path; ids of directories' entries are no paths. */
static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* What a thread waits for. */
struct thing {
	uint32_t pair, object;
	const char *class; /* of a poll() of one descriptor that of what this is */
	char *words; /* as it is written elsewhere: "CLASS NAME"; to be freed; NULL: out of memory
		      */
	const char *name; /* "": it has none */
};

static struct thing thing_of(const struct timelines *tl, struct names *names, uint32_t pair,
			     uint32_t object)
{
	static const char *const single[] = { "tcp", "udp", "unix", "pipe" };
	struct thing t = { .pair = pair, .object = object, .class = class_of(tl, object) };
	bool is_poll = !strcmp(t.class, "poll") || !strcmp(t.class, "select");
	const char *space;

	t.words = xstrdup(names_text(names, words_of_object(names, object)));
	space = strchr(t.words, ' ');
	t.name = space ? space + 1 : "";
	for (size_t i = 0; is_poll && i < sizeof(single) / sizeof(single[0]); i++) {
		size_t len = strlen(single[i]);

		if (strncmp(t.name, single[i], len) || (t.name[len] && t.name[len] != ' '))
			continue;
		t.class = single[i];
		t.name += t.name[len] ? len + 1 : len;
		break;
	}
	return t;
}

/* The name of the process at its other end, a text; 0: it is not known. */
static uint32_t other_end(const struct timelines *tl, struct names *names, uint32_t pair)
{
	struct object_names *objects = names_objects(names);
	uint32_t process = object_names_other_end(objects, pair);
	uint32_t thread = process ? object_names_thread(objects, process) : THREAD_NONE;

	return thread == THREAD_NONE ? 0 : names_thread(names, thread, timelines_end_ns(tl));
}

/* ":5432" of a socket's address; "": it has none. */
static const char *port_of(const struct timelines *tl, const struct thing *t)
{
	const struct trace *trace = timelines_trace(tl);
	const char *port = strrchr(trace_string(trace, trace_object(trace, t->object)->name), ':');

	return port && strcmp(t->class, "unix") != 0 ? port : "";
}

/*
 * Of a socket: "postgres (tcp :5432)", "redis-server (unix socket)". The address is left out where
 * who is there is known, as then it is this machine's.
 */
static struct joint of_socket(const struct timelines *tl, struct names *names,
			      const struct thing *t, uint32_t name, const char *before)
{
	const char *port = port_of(tl, t);
	struct text_buf b = { 0 };
	struct joint j;

	if (name) {
		text_puts(&b, names_text(names, name));
		text_puts(&b, " (");
	}
	text_puts(&b, t->class);
	text_puts(&b, " ");
	if (name)
		names_put(&b, *port ? port : "socket");
	else
		text_puts(&b, t->name);
	text_puts(&b, name ? ")" : "");
	j = joint_text(names, JOINT_OTHER, before, b.p, "");
	text_free(&b);
	return j;
}

/* Of a pipe: "room in the pipe to gzip", "data from ls (pipe)". */
static struct joint of_pipe(const struct timelines *tl, struct names *names, const struct thing *t)
{
	bool writes = is_in_kernel_function(tl, t->pair, "pipe_write");
	uint32_t name = other_end(tl, names, t->pair);

	if (!name)
		return joint_text(names, JOINT_OTHER,
				  writes ? "room in a pipe" : "data from a pipe", "", "");
	return writes ? joint_text(names, JOINT_OTHER, "room in the pipe to ",
				   names_text(names, name), "")
		      : joint_text(names, JOINT_OTHER, "data from ", names_text(names, name),
				   " (pipe)");
}

static struct joint of_thing(const struct timelines *tl, struct names *names, const struct thing *t,
			     bool is_ready)
{
	static const struct {
		const char *class, *text;
		enum joint_kind kind;
	} plain[] = {
		{ "GIL", GIL, JOINT_LOCK },
		{ "futex", "a futex", JOINT_OTHER },
		{ "eventfd", "another thread (eventfd)", JOINT_OTHER },
		{ "child", JOINT_ITS_CHILD, JOINT_CHILD },
		{ "sleep", "a timer", JOINT_SLEEP },
		{ "signal", "a signal", JOINT_CHILD },
	};
	const char *class = t->class;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (!strcmp(class, plain[i].class))
			return joint_text(names, plain[i].kind, plain[i].text, "", "");
	if (!strcmp(class, "tcp") || !strcmp(class, "udp") || !strcmp(class, "unix"))
		return of_socket(tl, names, t, other_end(tl, names, t->pair),
				 is_in_kernel_function(tl, t->pair, "sendmsg") ? "room to send to "
									       : "");
	if (!strcmp(class, "pipe"))
		return of_pipe(tl, names, t);
	if (!strcmp(class, "file"))
		return joint_text(names, JOINT_OTHER, "file ", file_name(t->name), "");
	if (!strcmp(class, "poll") && strncmp(t->name, "of ", 3) && *t->name)
		return joint_text(names, JOINT_OTHER, t->name, "", "");
	if (!is_ready &&
	    (!strcmp(class, "epoll") || !strcmp(class, "poll") || !strcmp(class, "select")))
		return joint_text(names, JOINT_EVENT, "an event", "", "");
	return joint_text(names, JOINT_OTHER, t->words, "", "");
}

/* "files in data": of those for which threads wait one after the other. */
static struct joint of_files(struct names *names, const char *folder, size_t len)
{
	char *name = folder ? xstrndup(folder, len) : NULL;
	struct joint j =
		joint_text(names, JOINT_OTHER, name ? "files in " : "files", name ? name : "", "");

	free(name);
	return j;
}

static struct joint of_object(const struct timelines *tl, struct names *names, uint32_t pair,
			      struct shown_objects of)
{
	struct thing t = thing_of(tl, names, pair, of.ready ? of.ready : of.object);
	struct joint j = { 0 };

	if (t.words)
		j = of_thing(tl, names, &t, of.ready);
	free(t.words);
	return j;
}

uint32_t joint_of_connections(struct names *names, uint32_t n, const char *server)
{
	struct text_buf b = { 0 };
	char count[16];
	uint32_t text;

	snprintf(count, sizeof(count), "%" PRIu32, n);
	text_puts(&b, n > 1 ? "one of " : "the connection");
	text_puts(&b, n > 1 ? count : "");
	text_puts(&b, n > 1 ? " connections to " : " to ");
	text_puts(&b, server);
	text = names_adopt(names, b.p);
	text_free(&b);
	return text;
}

/* "one of 4 connections to tuples :27314"; .text "" if it is none. */
static struct joint of_pool(const struct timelines *tl, struct names *names,
			    struct connection_pools *pools, uint32_t pair)
{
	struct joint j = { .kind = JOINT_LOCK };
	struct connection_pool pool;
	struct text_buf server = { 0 };
	struct thing t;
	uint32_t name;

	connection_pools_find(pools, pair, &pool);
	if (!pool.n)
		return joint_text(names, JOINT_OTHER, "", "", "");
	t = thing_of(tl, names, pool.pair, wait_message_object(tl, pool.pair));
	name = other_end(tl, names, pool.pair);
	text_puts(&server, name ? names_text(names, name) : t.name);
	if (name && *port_of(tl, &t)) {
		text_puts(&server, " ");
		names_put(&server, port_of(tl, &t));
	}
	j.text = joint_of_connections(names, pool.n, server.p);
	free(t.words);
	text_free(&server);
	return j;
}

/* "the lock of sess_5"; of a file that is called so, with its folder, "the lock file dpkg/lock". */
static struct joint of_file_lock(const struct timelines *tl, struct names *names, uint32_t pair,
				 uint32_t object)
{
	struct thing t = thing_of(tl, names, pair, object);
	const char *name = file_name(t.name), *folder = name;
	bool is_called_so = strcasestr(name, "lock") != NULL;
	struct joint j;

	if (is_called_so && folder - t.name > 1)
		for (folder--; folder > t.name && folder[-1] != '/'; folder--)
			;
	j = joint_text(names, JOINT_LOCK,
		       is_called_so ? "the lock file "
		       : *t.name    ? "the lock of "
				    : "the lock of a file",
		       folder, "");
	free(t.words);
	return j;
}

/* At a lock whose name nobody knows. */
static struct joint of_lock(const struct timelines *tl, struct names *names, uint32_t pair,
			    struct shown_objects of)
{
	const char *class = class_of(tl, of.object), *words;

	if (!strcmp(class, "GIL"))
		return of_object(tl, names, pair, of);
	if (!*class) {
		words = kernel_wait_words(tl, timelines_pair(tl, pair).kstack, true);
		return joint_text(names, JOINT_LOCK, words ? words : "a lock of the kernel's", "",
				  "");
	}
	if (strcmp(class, "file") != 0)
		return joint_text(names, JOINT_LOCK, "a lock", "", "");
	return of_file_lock(tl, names, pair, of.object);
}

/*
 * Whether Ruby itself waits, for its own condition, or in poll() for its eventfd alone: so it
 * sleeps, or waits for a condition or an item of a queue; with a stripped library nobody knows.
 */
static bool is_of_ruby(const struct timelines *tl, uint32_t pair, const struct known_wait *known)
{
	const struct trace *t = timelines_trace(tl);
	uint32_t object = timelines_pair(tl, pair).object;
	struct trace_stack s = trace_stack(t, timelines_pair(tl, pair).ustack);
	bool is_poll = !known && !strcmp(class_of(tl, object), "poll") &&
		       !strncmp(trace_string(t, trace_object(t, object)->name), "eventfd", 7);

	if (!is_poll && (!known || strcmp(known->text, "a condition") != 0))
		return false;
	for (uint32_t i = 0; i < s.n && !code_frame(t, s.frames[i]); i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);
		const char *file = f ? file_name(trace_module_path(t, f->module)) : "";

		if (!strncmp(file, "libruby", 7) || !strncmp(file, "ruby", 4))
			return true;
	}
	return false;
}

/* A thread of Go's runtime that has no goroutine to run. */
static bool is_idle_in_go(const struct timelines *tl, uint32_t pair)
{
	const struct trace *t = timelines_trace(tl);

	return !strcmp(class_of(tl, timelines_pair(tl, pair).object), "futex") &&
	       stack_is_of_go_runtime(t, trace_stack(t, timelines_pair(tl, pair).ustack));
}

struct joint joint_of(const struct timelines *tl, struct kernel_stacks *k, struct names *names,
		      const struct chain_known *chains, uint32_t pair)
{
	const struct known_wait *known = KNOWN_WAIT(tl, pair, of_programs);
	struct shown_objects of = names_shown_objects(names, pair);
	struct stack_pair p = timelines_pair(tl, pair);
	const char *words, *folder;
	struct joint j;
	size_t len;

	if (lock_is_of_file(timelines_trace(tl), p.object))
		return of_file_lock(tl, names, pair, p.object);
	if (kernel_stack_wait_flags(k, p.kstack) & KFUNC_AWAITS_WORK || is_idle_in_go(tl, pair))
		return (struct joint) { JOINT_WORK, names_adopt(names, "work") };
	if (!known) {
		j = of_pool(tl, names, chains->pools, pair);
		if (!j.text || *names_text(names, j.text))
			return j;
		known = KNOWN_WAIT(tl, pair, of_libraries);
	}
	if (wait_is_at_lock(tl, k, pair) && (!known || known->kind != JOINT_LOCK))
		return of_lock(tl, names, pair, of);
	/* Mostly it sleeps: so it does unless somebody ends that. */
	if (is_of_ruby(tl, pair, known))
		return joint_text(names, JOINT_SLEEP, "a condition", "", "");
	if (known)
		return joint_text(names, known->kind, known->text, "", "");
	if (of.object && file_places_many(chains->files, pair, &folder, &len))
		return of_files(names, folder, len);
	if (of.object)
		return of_object(tl, names, pair, of);
	if (is_in_kernel_function(tl, pair, "nanosleep"))
		return joint_text(names, JOINT_SLEEP, "a timer", "", "");
	if (is_in_kernel_function(tl, pair, "do_wait"))
		return joint_text(names, JOINT_CHILD, JOINT_ITS_CHILD, "", "");
	words = kernel_wait_words(tl, p.kstack, false);
	return joint_text(names, JOINT_OTHER, words ? words : "", "", "");
}

void joint_take_answer(const struct timelines *tl, struct names *names, uint32_t pair,
		       uint32_t waker, struct joint *j)
{
	struct shown_objects of = names_shown_objects(names, pair);
	uint32_t other = of.ready ? other_end(tl, names, pair) : 0, who;
	struct thing t = { .pair = pair };
	size_t n;
	const uint32_t *read = timelines_requests_read(tl, waker, &n);

	if (j->kind != JOINT_OTHER || !other || !n)
		return;
	who = names_thread(names, waker, timelines_end_ns(tl));
	t.object = timelines_request(tl, read[0])->object;
	t.class = class_of(tl, t.object);
	if (who == other || (strcmp(t.class, "tcp") != 0 && strcmp(t.class, "unix") != 0))
		return;
	*j = of_socket(tl, names, &t, who, "");
}

bool joint_ended_by_child(const struct timelines *tl, uint32_t pair, uint32_t by)
{
	return !strcmp(class_of(tl, timelines_pair(tl, pair).object), "signal") &&
	       is_in_kernel_function(tl, by, "do_notify_parent");
}

bool joint_is_of_table(const char *text)
{
	return !strcmp(text, METADATA_LOCK) || !strcmp(text, TABLE_LOCK);
}
