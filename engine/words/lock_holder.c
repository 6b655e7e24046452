// SPDX-License-Identifier: GPL-2.0-or-later
#include "lock_holder.h"

#include <string.h>

#include "base/kernel_functions.h"
#include "code_frames.h"
#include "waited_for.h"

/* How deep below such a function the thread may sleep, with inlined functions. */
#define SLOW_PATH_FRAMES 8

static bool begins_with(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

/*
 * How many frames next to the leaf may be such a function or what it calls. None from the first of
 * interpreted code on, which has any names.
 */
static uint32_t slow_path_frames(const struct trace *t, struct trace_stack s)
{
	uint32_t n = 0;

	while (n < s.n && n < SLOW_PATH_FRAMES && !code_frame(t, s.frames[n]))
		n++;
	return n;
}

/* "___pthread_mutex_lock", "__GI___pthread_mutex_lock": without what glibc puts before it. */
static const char *public_name(const char *name)
{
	name += strspn(name, "_");
	if (begins_with(name, "GI_"))
		name += 3;
	return name + strspn(name, "_");
}

enum lock_call { CALL_OTHER, CALL_TAKES_LOCK, CALL_JOINS };

/*
 * Whether the thread slept in pthread_mutex_lock() or its like, or in pthread_join(), or in what
 * these call, which has no names in a stripped library. Its condition variables and its own inner
 * locks (__lll_lock_wait_private) have something else where a mutex has its owner.
 */
static enum lock_call lock_call(const struct trace *t, uint32_t ustack)
{
	struct trace_stack s = trace_stack(t, ustack);
	uint32_t n = slow_path_frames(t, s);

	for (uint32_t i = 0; i < n; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);
		const char *name = f && !f->unnamed ? public_name(trace_string(t, f->symbol)) : "";

		if (begins_with(name, "pthread_mutex_") || begins_with(name, "pthread_rwlock_") ||
		    begins_with(name, "mtx_"))
			return CALL_TAKES_LOCK;
		if (begins_with(name, "pthread_join") || begins_with(name, "pthread_timedjoin") ||
		    begins_with(name, "pthread_clockjoin") || begins_with(name, "thrd_join"))
			return CALL_JOINS;
		if (*name && strcmp(name, "lll_lock_wait") && !begins_with(name, "futex_") &&
		    !begins_with(name, "lll_mutex_lock"))
			break;
	}
	return CALL_OTHER;
}

static bool is_of_class(const struct trace *t, uint32_t object, const char *class)
{
	const struct trace_object *o = trace_object(t, object);

	return o && !strcmp(trace_string(t, o->class), class);
}

bool lock_is_gil(const struct trace *t, uint32_t object)
{
	return is_of_class(t, object, "GIL");
}

bool lock_is_of_file(const struct trace *t, uint32_t object)
{
	return is_of_class(t, object, "file_lock");
}

/* The thread that the word said for which w, a sleep of thread, began, if it slept in that call. */
static uint32_t thread_in_word(const struct timelines *tl, uint32_t thread, const struct wait *w,
			       enum lock_call call)
{
	uint32_t in_word = timelines_lock_word(tl, thread, w);
	struct stack_pair pair;

	if (w->kind != WAIT_SLEEP || in_word == THREAD_NONE)
		return THREAD_NONE;
	pair = timelines_pair(tl, w->stack);
	/* Of these locks the recorder knows which they are, so that no stack has to tell. */
	if (lock_is_gil(timelines_trace(tl), pair.object) ||
	    lock_is_of_file(timelines_trace(tl), pair.object))
		return call == CALL_TAKES_LOCK ? in_word : THREAD_NONE;
	return lock_call(timelines_trace(tl), pair.ustack) == call ? in_word : THREAD_NONE;
}

uint32_t lock_word_holder(const struct timelines *tl, uint32_t thread, const struct wait *w)
{
	return thread_in_word(tl, thread, w, CALL_TAKES_LOCK);
}

uint32_t lock_holder(struct object_names *o, uint32_t thread, const struct wait *w)
{
	const struct timelines *tl = object_names_timelines(o);
	struct stack_pair pair = timelines_pair(tl, w->stack);
	uint32_t tid = object_names_holder(o, pair.object);

	if (tid && w->kind == WAIT_SLEEP) /* the kernel's own word */
		return object_names_thread(o, tid);
	return lock_word_holder(tl, thread, w);
}

/* The words for text, followed by named; both are freed. */
static uint32_t adopt_text(struct names *n, struct text_buf *text, struct text_buf *named)
{
	uint32_t words;

	names_put(text, named->p);
	words = names_adopt(n, text->p);
	text_free(named);
	text_free(text);
	return words;
}

/*
 * The thread whose end w waited for: the word said so, and either a function's name, or that this
 * thread woke it as it ended; what pthread_join() calls has no names in a stripped library.
 * THREAD_NONE: there is none.
 */
static uint32_t joined_thread(struct names *n, uint32_t thread, const struct wait *w)
{
	const struct timelines *tl = object_names_timelines(names_objects(n));
	uint32_t joined = thread_in_word(tl, thread, w, CALL_JOINS);
	struct stack_pair waker = timelines_pair(tl, w->waker_stack);

	if (joined != THREAD_NONE || w->kind != WAIT_SLEEP || w->waker == THREAD_NONE ||
	    w->waker != timelines_lock_word(tl, thread, w) ||
	    lock_is_gil(timelines_trace(tl), timelines_pair(tl, w->stack).object))
		return joined;
	return kernel_stack_flags(names_kernel_stacks(n), waker.kstack, UINT32_MAX) &
			       KFUNC_ENDS_THREAD
		       ? w->waker
		       : THREAD_NONE;
}

/* "thread worker/77", whose end w waited for. 0: none. */
static uint32_t joined_words(struct names *n, uint32_t thread, const struct wait *w)
{
	struct object_names *o = names_objects(n);
	uint32_t joined = joined_thread(n, thread, w);
	struct text_buf b = { 0 }, named = { 0 };

	if (joined == THREAD_NONE)
		return 0;
	text_puts(&named, "thread");
	object_names_put_thread(o, joined, &named);
	return adopt_text(n, &b, &named);
}

uint32_t words_of_wait(struct names *n, uint32_t thread, const struct wait *w)
{
	struct object_names *o = names_objects(n);
	struct stack_pair pair = timelines_pair(object_names_timelines(o), w->stack);
	uint32_t words = waited_for_words(n, w->stack), holder, joined;
	struct text_buf b = { 0 }, named = { 0 };

	joined = joined_words(n, thread, w);
	if (joined)
		return joined;
	holder = lock_holder(o, thread, w);
	/* What the kernel knows is a part of the object's name. */
	if (holder == THREAD_NONE || object_names_holder(o, pair.object))
		return words;
	text_puts(&named, " held by");
	object_names_put_thread(o, holder, &named);
	text_puts(&b, names_text(n, words));
	return adopt_text(n, &b, &named);
}

void lock_name_of_both_words(char *name)
{
	const char *number = strrchr(name, 'x');
	char *digit = name + strlen(name);

	if (!number || number == name || number[-1] != '0' || !number[1] ||
	    strspn(number + 1, "0123456789abcdef") != strlen(number + 1))
		return;
	digit--;
	if (strchr("4567", *digit))
		*digit = (char)(*digit - 4);
	else if (strchr("cdef", *digit))
		*digit = "89ab"[*digit - 'c'];
}

/* A call that waits for a condition, on a stack. */
struct condition_call {
	struct trace_stack callers; /* none: there is no such call */
	bool locks;		    /* it has gone on to lock the mutex */
};

static struct condition_call condition_call(const struct trace *t, uint32_t ustack)
{
	struct trace_stack s = trace_stack(t, ustack);
	struct condition_call call = { .locks = false };
	uint32_t n = slow_path_frames(t, s);

	for (uint32_t i = 0; i < n; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);
		const char *name = f && !f->unnamed ? public_name(trace_string(t, f->symbol)) : "";

		call.locks |= begins_with(name, "lll_lock_wait") ||
			      begins_with(name, "pthread_mutex_") || begins_with(name, "mtx_");
		if (!begins_with(name, "pthread_cond_") && !begins_with(name, "cnd_"))
			continue;
		call.callers = s;
		call.callers.frames += i + 1;
		call.callers.n -= i + 1;
		break;
	}
	return call;
}

bool lock_same_condition(const struct trace *t, uint32_t first, uint32_t second)
{
	struct condition_call a = condition_call(t, first), b = condition_call(t, second);

	return a.callers.n && a.callers.n == b.callers.n && !a.locks && b.locks &&
	       !memcmp(a.callers.frames, b.callers.frames, a.callers.n * sizeof(*a.callers.frames));
}
