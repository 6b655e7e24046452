// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/kernel_functions.h"
#include "common/xalloc.h"

/* Bytes of different call chains that are remembered; above, all are forgotten. */
#define CHAINS_MAX (64u << 20)

/*
 * Entries of a chain that are no addresses: what follows is of the kernel, of the program, of
 * something else (a hypervisor, a guest). include/uapi/linux/perf_event.h, enum
 * perf_callchain_context: as unsigned numbers, all from MARKERS on.
 */
#define MARKERS ((uint64_t)-4095)
#define MARKER_KERNEL ((uint64_t)-128)
#define MARKER_USER ((uint64_t)-512)
#define MARKER_USER_DEFERRED ((uint64_t)-640) /* a cookie follows */

/* What a frame is remembered by. */
struct frame_key {
	uint64_t addr;	/* in the space */
	uint32_t space; /* of the trace; 0: the kernel */
	/* Of the kernel's code, where that may change; else 0. */
	uint32_t changes : 31, is_exact : 1;
};

/* The frame with the key: *is_new if nothing is known of it yet. */
static struct import_frame *frame_of(struct perf_stacks *s, const struct frame_key *key,
				     bool *is_new)
{
	uint32_t id = xintern(&s->frames, key, sizeof(*key), is_new);

	XGROW(s->seen, id - 1, s->cap_seen);
	return &s->seen[id - 1];
}

/* ---- the kernel ----------------------------------------------------------------------------- */

/* A module of the kernel has no file that is known. 0: none. */
static uint32_t kernel_module(struct perf_stacks *s, const char *name)
{
	struct perf_identity who = { .inode = 0 };
	uint32_t id =
		perf_modules_id(s->modules, &who, (struct import_name) { name, strlen(name) });

	return perf_modules_number(s->modules, id);
}

static uint64_t exact_tag(bool is_exact)
{
	return is_exact ? CHAINLOG_EXACT_TAG : 0;
}

static const struct import_frame *kernel_frame(struct perf_stacks *s, uint64_t addr, bool is_exact)
{
	struct kallsyms_symbol sym;
	bool may_change, is_new;
	bool known = perf_kernel_find(s->kernel, s->file, addr + is_exact, &sym, &may_change);
	struct frame_key key = { .addr = addr,
				 .changes = (may_change ? s->kernel->changes : 0) & INT32_MAX,
				 .is_exact = is_exact };
	struct import_frame *f = frame_of(s, &key, &is_new);
	uint32_t symbol;

	if (!is_new)
		return f;
	*f = (struct import_frame) { .class = IMPORT_FRAME_KERNEL, .nameless = !known };
	/* Address 0 would mean that there is none. */
	f->id = encoder_new_frame(s->enc, 0, addr ? addr ^ exact_tag(is_exact) : UINT64_MAX);
	if (!known)
		return f;
	f->flags = kernel_function_flags(sym.name);
	f->is_entry = f->flags & KFUNC_IRQ_ENTRY || kernel_function_enters_exception(sym.name);
	symbol = encoder_string(s->enc, sym.name, strlen(sym.name));
	(void)encoder_name(s->enc, f->id, symbol, sym.module ? kernel_module(s, sym.module) : 0,
			   addr - sym.start);
	return f;
}

/* ---- programs ------------------------------------------------------------------------------- */

/* The space of code of a process that is in no file. */
static uint32_t process_space(struct perf_stacks *s, uint32_t tgid)
{
	int is_new;
	uint32_t id = pairs_id_new(&s->spaces, tgid, 0, &is_new);

	XGROW_ZEROED(s->space_of, id, s->cap_spaces);
	if (is_new)
		s->space_of[id] = encoder_space(s->enc, tgid, NULL);
	return s->space_of[id];
}

static const struct import_frame *user_frame(struct perf_stacks *s, uint32_t tgid, uint64_t addr,
					     bool is_exact)
{
	const struct perf_map *map = perf_maps_find(s->maps, tgid, addr);
	uint32_t module = map ? map->module : 0;
	struct frame_key key = { .addr = addr, .is_exact = is_exact };
	struct import_frame *f;
	bool is_new;

	if (module) {
		key.addr = addr - map->start + map->offset;
		key.space = perf_modules_space(s->modules, module);
	} else {
		key.space = process_space(s, tgid);
	}
	key.addr &= ~(CHAINLOG_CODE_TAG | CHAINLOG_EXACT_TAG);
	f = key.space ? frame_of(s, &key, &is_new) : NULL;
	if (!f || !is_new)
		return f;
	*f = (struct import_frame) {
		.id = encoder_new_frame(s->enc, key.space, key.addr ^ exact_tag(is_exact)),
		.class = IMPORT_FRAME_USER,
		.nameless = true,
	};
	if (module)
		(void)encoder_name(s->enc, f->id, 0, perf_modules_number(s->modules, module), 0);
	return f;
}

/* ---- a call chain --------------------------------------------------------------------------- */

/* Where the addresses of a chain belong: before the first marker nothing says it. */
enum side { BY_ADDRESS, KERNEL, USER, OTHER };

/*
 * Adds the frames of b to the chain at hand. *is_exact: whether the first one was interrupted, and
 * then whether the next one would be. *cookie: of the part that comes later; 0: none does.
 */
static int add_frames(struct perf_stacks *s, uint32_t tgid, struct perf_bytes b, enum side side,
		      bool *is_exact, uint64_t *cookie)
{
	struct import_chain *c = &s->chain;
	uint64_t addr;

	import_chain_begin(c);
	*cookie = 0;
	while (perf_u64(&b, &addr)) {
		const struct import_frame *f;
		bool kernel;

		if (addr == MARKER_USER_DEFERRED) {
			side = OTHER;
			(void)perf_u64(&b, cookie);
			continue;
		}
		if (addr >= MARKERS) {
			side = addr == MARKER_KERNEL ? KERNEL : addr == MARKER_USER ? USER : OTHER;
			continue;
		}
		if (side == OTHER)
			continue;
		kernel = side == BY_ADDRESS ? addr >> 63 : side == KERNEL;
		f = kernel ? kernel_frame(s, addr, *is_exact)
			   : user_frame(s, tgid, addr, *is_exact);
		if (!f)
			return -ENOMEM;
		*is_exact = f->is_entry;
		import_chain_add(c, f);
	}
	return 0;
}

/* The stack that the cookie stands for. 0: it has come already. */
static uint32_t deferred_stack(struct perf_stacks *s, uint32_t tgid, bool is_exact, uint64_t cookie)
{
	int is_new;
	uint32_t id =
		pairs_id_new(&s->cookies, (uint32_t)cookie, (uint32_t)(cookie >> 32), &is_new);

	XGROW_ZEROED(s->deferred, id, s->cap_deferred);
	if (is_new)
		s->deferred[id] =
			(struct perf_deferred) { encoder_stack_reserve(s->enc), tgid, is_exact };
	return s->deferred[id].stack;
}

int perf_stacks_deferred(struct perf_stacks *s, uint64_t cookie, struct perf_bytes chain)
{
	struct import_chain *c = &s->chain;
	struct perf_deferred *d;
	uint32_t id = pairs_find(&s->cookies, (uint32_t)cookie, (uint32_t)(cookie >> 32));
	uint64_t ignored;
	int err;

	/* The samples that it belongs to were lost, or it comes twice. */
	d = id ? &s->deferred[id] : NULL;
	if (!d || !d->stack)
		return 0;
	err = add_frames(s, d->tgid, chain, USER, &d->is_exact, &ignored);
	if (err)
		return err;
	s->any_user |= c->user.n != 0;
	err = encoder_stack_define(s->enc, d->stack, c->user.id, c->user.n,
				   c->user.cut ? ENCODER_STACK_CUT : CHAINLOG_STACK_UNKNOWN);
	d->stack = 0;
	return err;
}

static int read_chain(struct perf_stacks *s, uint32_t tgid, bool is_exact, struct perf_bytes b)
{
	struct import_chain *c = &s->chain;
	uint64_t cookie;
	int err = add_frames(s, tgid, b, BY_ADDRESS, &is_exact, &cookie);

	if (err)
		return err;
	import_chain_end(c, s->enc);
	if (cookie) {
		c->stack.kthread = false;
		c->stack.ustack = deferred_stack(s, tgid, is_exact, cookie);
	}
	s->any_kernel |= c->stack.kstack != 0;
	s->any_user |= c->stack.ustack != 0;
	return encoder_error(s->enc);
}

/* The id of a chain: by its addresses, and by what they meant then. */
static uint32_t chain_id(struct perf_stacks *s, uint32_t tgid, bool is_exact,
			 struct perf_bytes chain, bool *is_new)
{
	size_t len = perf_left(&chain), words = len / 8 + 2;

	while (s->cap_key < words)
		XGROW(s->key, s->cap_key, s->cap_key);
	s->key[0] = (uint64_t)is_exact << 32 | tgid;
	s->key[1] = (uint64_t)perf_maps_version(s->maps, tgid) << 32 | s->kernel->changes;
	memcpy(s->key + 2, chain.p, len);
	if (s->chains.n_bytes > CHAINS_MAX)
		intern_clear(&s->chains);
	return xintern(&s->chains, s->key, words * 8, is_new);
}

int perf_stacks_read(struct perf_stacks *s, uint32_t tgid, bool interrupted,
		     struct perf_bytes chain, struct import_stack *stack)
{
	bool is_new;
	uint32_t id;
	int err;

	*stack = (struct import_stack) { .kstack = 0 };
	if (!perf_left(&chain))
		return 0;
	id = chain_id(s, tgid, interrupted, chain, &is_new);
	XGROW(s->known, id - 1, s->cap_known);
	if (is_new) {
		err = read_chain(s, tgid, interrupted, chain);
		if (err)
			return err;
		s->known[id - 1] = s->chain.stack;
	}
	*stack = s->known[id - 1];
	return 0;
}

void perf_stacks_free(struct perf_stacks *s)
{
	intern_free(&s->chains);
	free(s->known);
	intern_free(&s->frames);
	free(s->seen);
	pairs_free(&s->cookies);
	free(s->deferred);
	pairs_free(&s->spaces);
	free(s->space_of);
	free(s->key);
}
