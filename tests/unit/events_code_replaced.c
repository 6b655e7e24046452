// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code takes the place of other code, in this process. Until the collector knows, the BPF side
 * unwinds by the rules of the old code: frames behind the new one are none, and are cut.
 */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events/id_map.h"
#include "symbolized_trace.h"
#include "watched_child.h"

#define FRAMES 3u
#define WIRE_ID 7u

struct world {
	struct trace *t;
	char paths[2][64];
	uint8_t *place; /* where libraries are mapped */
	size_t page;
	__u64 frames[FRAMES]; /* our own code, which one in that place called, and our own */
	uint64_t replaced_ns; /* in a process: when it was told, */
	uint32_t replaced;    /* and in which */
	struct id_map *ids;
	uint32_t n_stacks; /* the store's, */
	size_t n;	   /* and the last one */
	enum chainlog_stack_end end;
};

/* The library takes the place of the other one, as after dlclose() and dlopen(). */
static void load(const struct world *w, int library)
{
	int fd = open(w->paths[library], O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(munmap(w->place, w->page), 0);
	assert_ptr_equal(mmap(w->place, w->page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
			      0),
			 w->place);
	close(fd);
}

static void on_replace(void *ctx, uint32_t tgid)
{
	struct world *w = ctx;

	w->replaced = tgid;
	w->replaced_ns = now_ns();
}

static uint32_t store_frame(void *ctx, uint32_t space, uint64_t addr, uint64_t time_ns)
{
	(void)ctx;
	(void)space;
	(void)addr;
	(void)time_ns;
	return 1;
}

static uint32_t store_code_frame(void *ctx, uint32_t space, uint64_t addr,
				 const struct code_location *at, uint64_t time_ns)
{
	(void)at;
	return store_frame(ctx, space, addr, time_ns);
}

static int store_stack(void *ctx, uint32_t *id, const uint32_t *frames, size_t n,
		       enum chainlog_stack_end end, uint64_t time_ns)
{
	struct world *w = ctx;

	(void)frames;
	(void)time_ns;
	w->n = n;
	w->end = end;
	w->n_stacks++;
	*id = *id ? *id : w->n_stacks;
	return 0;
}

static uint32_t store_reserve(void *ctx, bool is_object, uint64_t time_ns)
{
	uint32_t id = 0;

	assert_false(is_object);
	store_stack(ctx, &id, NULL, 0, CHAINLOG_STACK_UNKNOWN, time_ns);
	return id;
}

/* Not as cmocka's setup: what is skipped there counts as failed. */
static struct world *set_up(void)
{
	struct world *w = calloc(1, sizeof(*w));
	struct definition_store store = {
		.frame = store_frame,
		.code_frame = store_code_frame,
		.stack = store_stack,
		.reserve = store_reserve,
		.ctx = w,
	};

	assert_non_null(w);
	w->t = begin(SYMBOLIZER_USER);
	copy_self(w->paths[0]);
	copy_self(w->paths[1]);
	w->page = (size_t)sysconf(_SC_PAGESIZE);
	w->place = mmap(NULL, w->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(w->place, MAP_FAILED);
	w->frames[0] = w->frames[2] = addr_of_child_function();
	w->frames[1] = (uintptr_t)w->place + 16;
	symbolizer_on_replace(w->t->s, on_replace, w);
	assert_int_equal(id_map_new(&w->ids, &store, w->t->s), 0);
	load(w, 0);
	return w;
}

static void tear_down(struct world *w)
{
	id_map_free(w->ids);
	end(w->t);
	munmap(w->place, w->page);
	unlink(w->paths[0]);
	unlink(w->paths[1]);
	free(w);
}

/* How many frames of the process are believed at that time. */
static uint32_t believed(struct world *w, pid_t tgid, uint64_t time_ns)
{
	uint32_t space = symbolizer_space(w->t->s, (uint32_t)tgid, time_ns), n;
	bool in_doubt;

	assert_true(space != 0);
	n = symbolizer_trusted_prefix(w->t->s, space, w->frames, FRAMES, time_ns, &in_doubt);
	assert_int_equal(in_doubt, n < FRAMES);
	for (uint32_t i = 0; i < FRAMES; i++)
		assert_int_equal(symbolizer_is_stale(w->t->s, space, w->frames[i], time_ns),
				 in_doubt && i == 1);
	return n;
}

TEST(who_called_code_in_a_new_place_is_doubted_until_that_is_known)
{
	struct world *w = set_up();
	uint64_t before = now_ns(), at, after;
	pid_t self = getpid();

	assert_int_equal(believed(w, self, before), FRAMES);
	assert_int_equal(w->replaced, 0);
	load(w, 1);
	at = now_ns();
	assert_int_equal(believed(w, self, at), 2);
	assert_int_equal(w->replaced, self);
	after = now_ns();
	assert_int_equal(believed(w, self, after), FRAMES);
	/* What was is as it was. */
	assert_int_equal(believed(w, self, at), 2);
	assert_int_equal(believed(w, self, before), FRAMES);
	assert_int_equal(believed(w, self, w->replaced_ns - 1), 2);
	/* The same library once more, in its own place. */
	load(w, 1);
	assert_int_equal(believed(w, self, now_ns()), FRAMES);
	tear_down(w);
}

/* The child got its parent's rules when it was forked. */
TEST(so_it_is_in_a_child_that_was_forked_before_that_was_known)
{
	struct world *w = set_up();
	uint64_t at;
	pid_t pid;

	assert_int_equal(believed(w, getpid(), now_ns()), FRAMES);
	load(w, 1);
	pid = fork_child();
	assert_true(pid >= 0);
	if (!pid)
		for (;;)
			pause();
	at = now_ns();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(believed(w, pid, at), 2);
	assert_int_equal(w->replaced, pid);
	assert_int_equal(believed(w, pid, now_ns()), FRAMES);
	tear_down(w);
}

/* Whatever a program has on its stack. */
TEST(an_address_that_would_be_interpreted_code_is_no_frame)
{
	struct world *w = set_up();
	uint32_t space = symbolizer_space(w->t->s, (uint32_t)getpid(), now_ns());
	bool in_doubt;

	w->frames[0] |= CHAINLOG_CODE_TAG;
	assert_int_equal(symbolizer_trusted_prefix(w->t->s, space, w->frames, FRAMES, now_ns(),
						   &in_doubt),
			 0);
	assert_false(in_doubt);
	tear_down(w);
}

TEST(a_stack_is_cut_there_until_it_comes_again)
{
	struct world *w = set_up();
	struct wire_stack s = {
		.r.kind = WIRE_STACK,
		.id = WIRE_ID,
		.tgid = (uint32_t)getpid(),
		.n = FRAMES,
		.end = CHAINLOG_STACK_WHOLE,
	};
	uint32_t cut, whole;

	memcpy(s.frames, w->frames, sizeof(w->frames));
	assert_int_equal(believed(w, getpid(), now_ns()), FRAMES);
	load(w, 1);
	s.r.time_ns = now_ns();
	assert_int_equal(id_map_take_stack(w->ids, &s, sizeof(s)), 0);
	assert_int_equal(w->n, 2);
	assert_int_equal(w->end, CHAINLOG_STACK_NO_RULE);
	assert_false(id_map_is_settled(w->ids, WIRE_ID));
	cut = id_map_stack(w->ids, WIRE_ID, s.r.time_ns);
	assert_int_equal(w->n, 2);
	whole = id_map_stack(w->ids, WIRE_ID, now_ns());
	assert_int_not_equal(cut, whole);
	assert_int_equal(w->n, FRAMES);
	assert_int_equal(w->end, CHAINLOG_STACK_WHOLE);
	assert_true(id_map_is_settled(w->ids, WIRE_ID));
	assert_int_equal(id_map_stack(w->ids, WIRE_ID, now_ns()), whole);
	tear_down(w);
}

/* A code object of somebody else, as many later, takes the place of this one's. */
TEST(frames_of_code_that_is_forgotten_are_counted)
{
	struct world *w = set_up();
	struct wire_code *code = calloc(1, sizeof(*code));
	struct wire_stack s = {
		.r = { .kind = WIRE_STACK, .time_ns = now_ns() },
		.id = WIRE_ID,
		.tgid = (uint32_t)getpid(),
		.n = 1,
		.end = CHAINLOG_STACK_WHOLE,
		.n_code = 1,
	};

	assert_non_null(code);
	s.frames[0] = w->frames[0];
	s.frames[1] = wire_code_frame(7, 0, 1);
	code->language = WIRE_PYTHON;
	code->name.bytes = 1;
	code->name.width = 1;
	code->name.text[0] = 'f';
	code->id = 7;
	assert_int_equal(id_map_take_code(w->ids, code, sizeof(*code)), 0);
	assert_int_equal(id_map_take_stack(w->ids, &s, sizeof(s)), 0);
	assert_int_equal(id_map_unknown_code(w->ids), 0);
	code->id = 7 + WIRE_CODES;
	assert_int_equal(id_map_take_code(w->ids, code, sizeof(*code)), 0);
	s.id++;
	assert_int_equal(id_map_take_stack(w->ids, &s, sizeof(s)), 0);
	assert_int_equal(id_map_unknown_code(w->ids), 1);
	free(code);
	tear_down(w);
}
