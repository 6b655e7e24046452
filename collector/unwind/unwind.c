// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/unwind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interpreters/java_frames.h"
#include "kernel/address.h"
#include "unwind/files.h"
#include "unwind/pending_stacks.h"
#include "unwind/sleeping_threads.h"

#define FP_FRAME 16u /* the caller's frame pointer, and the return address */
#define USER_END (1ull << 56)
/* How much is read at once beyond a copy, from a multiple of half of this on. */
#define BEYOND_BYTES 8192u
/* Owns the stacks of all processes of which it is not known yet what they map. */
#define LATE_MAPS_KEY UINT64_MAX
/* Of the stacks of each JVM. */
#define LATE_JAVA_KEY (UINT64_MAX << 32)

struct unwinder {
	struct symbolizer *sym;
	struct unwind_files *files;
	unwinder_teach_fn teach;
	void *teach_ctx;
	uint64_t stacks;
	uint64_t late_key; /* whose rule was late last */
};

/* One stack being unwound. */
struct walk {
	struct unwinder *u;
	const struct wire_copy *copy;
	struct wire_stack *out;
	uint32_t space;		 /* id from the symbolizer */
	uint64_t look;		 /* address that the current frame is looked up by */
	uint32_t file;		 /* code_files id of what is there; 0: no file */
	uint64_t before, behind; /* so many bytes around look have the same rule */
	uint64_t regs[UNWIND_REGISTERS];
	bool has_all; /* all registers are known, not only sp and fp */
	bool sp_lost; /* the value of sp is a lower bound only */
	bool has_guessed;
	bool is_late;		      /* a rule is not known yet */
	uint64_t beyond_at;	      /* address of what was read beyond the copy, */
	size_t beyond_len;	      /* its length in bytes, */
	uint8_t beyond[BEYOND_BYTES]; /* and the bytes */
};

int unwinder_new(struct unwinder **out, struct symbolizer *sym, struct helpers *helpers,
		 unwinder_teach_fn fn, void *ctx)
{
	struct unwinder *u = calloc(1, sizeof(*u));

	*out = NULL;
	if (!u)
		return -ENOMEM;
	u->sym = sym;
	u->teach = fn;
	u->teach_ctx = ctx;
	if (unwind_files_new(&u->files, symbolizer_files(sym), helpers)) {
		free(u);
		return -ENOMEM;
	}
	*out = u;
	return 0;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	unwind_files_free(u->files);
	free(u);
}

/* ---- rules --------------------------------------------------------------------------------- */

static struct unwind_rule java_rule(const struct jvm_rule *j)
{
	switch ((enum jvm_rule_kind)j->kind) {
	case JVM_BY_SP:
	case JVM_BY_FP:
		return (struct unwind_rule) {
			.kind = UNWIND_REGISTER,
			.cfa_register = j->kind == JVM_BY_SP ? UNWIND_SP : UNWIND_FP,
			.cfa_offset = j->bytes,
			.ra_saved = true,
			.ra_offset = -8,
			.fp_saved = (uint8_t)j->saves_fp,
			.fp_offset = j->saves_fp ? -16 : 0,
		};
	case JVM_GIVEN_UP:
		return (struct unwind_rule) {
			.kind = UNWIND_GIVEN_UP,
			.cfa_offset = j->bytes,
			.ra_saved = true,
			.ra_offset = -8,
			.fp_offset = (int32_t)j->pc_at,
		};
	case JVM_INTERPRETED:
		return (struct unwind_rule) { .kind = UNWIND_INTERPRETED };
	case JVM_NO_CODE:
		/* It is not taught: something else may be there soon. */
		return (struct unwind_rule) { .kind = UNWIND_UNKNOWN };
	case JVM_CUT:
		break;
	}
	return (struct unwind_rule) { .kind = UNWIND_HARD };
}

/* In code that a JVM has made. It stays UNWIND_NONE in others'. */
static void find_java_rule(struct walk *w, struct unwind_rule *r)
{
	bool is_exact = wire_is_exact(w->out->frames[w->out->n - 1]);
	struct jvm_rule j;
	int err = java_frames_rule(w->u->sym, w->space, w->look, is_exact, &j);

	if (!err)
		*r = java_rule(&j);
	if (err != -EAGAIN)
		return;
	r->kind = UNWIND_UNKNOWN;
	w->is_late = true;
	w->u->late_key = LATE_JAVA_KEY ^ w->copy->tgid;
}

/*
 * Finds the rule for the current frame: UNWIND_UNKNOWN if it is not known what is mapped there.
 * Returns false if no code is there, so that the address is not a frame.
 */
static bool find_rule(struct walk *w, struct unwind_rule *r)
{
	uint64_t time_ns = w->copy->r.time_ns;
	struct symbolizer *sym = w->u->sym;
	struct symbolizer_code code;
	struct unwind_extent known;

	*r = (struct unwind_rule) { .kind = UNWIND_UNKNOWN };
	w->file = 0;
	w->before = w->behind = 0;
	if (!symbolizer_code(sym, w->space, w->look, time_ns, &code))
		return symbolizer_is_code(sym, w->space, w->look, time_ns);
	r->kind = UNWIND_NONE;
	if (code.kind == CODE_FILE)
		w->file = code.file;
	if (code.kind == CODE_GENERATED)
		find_java_rule(w, r);
	if (code.kind != CODE_FILE && code.kind != CODE_VDSO)
		return true;
	*r = unwind_files_rule(w->u->files, code.file, code.offset, time_ns, &known);
	w->before = code.offset - known.from;
	w->behind = known.to - code.offset;
	return true;
}

static bool has_beyond(const struct walk *w, uint64_t addr)
{
	uint64_t at = addr - w->beyond_at;

	return at < w->beyond_len && w->beyond_len - at >= sizeof(uint64_t);
}

/* Reads a word beyond the copy, if the thread has not run since it was copied. */
static bool read_beyond(struct walk *w, uint64_t addr, uint64_t *word)
{
	const struct wire_copy *c = w->copy;
	struct sleeping_thread who = { c->tgid, c->tid, c->sp, wire_address(c->frames[0]),
				       c->switches };

	if (!c->tid || addr >= USER_END) /* without a thread: see pending_stacks.h */
		return false;
	if (!has_beyond(w, addr) && !pending_stacks_is_old(c)) {
		w->beyond_at = addr - addr % (BEYOND_BYTES / 2);
		w->beyond_len = sleeping_thread_read(&who, w->beyond_at, w->beyond, BEYOND_BYTES);
	}
	if (!has_beyond(w, addr))
		return false;
	memcpy(word, w->beyond + (addr - w->beyond_at), sizeof(*word));
	return true;
}

static bool read_word(struct walk *w, uint64_t addr, uint64_t *word)
{
	return unwinder_copy_word(w->copy, addr, word) || read_beyond(w, addr, word);
}

/*
 * System call stubs written in assembly often have no rule: in musl, and in glibc's clone3(), where
 * no rule would be right for both parent and child. Such a stub has no frame of its own. It is
 * recognized by the first word on the stack, if that is the address after a call instruction; on
 * arm64 by the link register, if it leads to code with rules, as that is in another function.
 */
static bool may_be_stub(const struct walk *w)
{
	return w->out->n == 1 && w->has_all && w->look == w->regs[UNWIND_PC] - 1;
}

/* Where the leaf would return to if it is a stub. False: that cannot be read. */
static bool read_stub_return(struct walk *w, uint64_t *ret)
{
	if (!UNWIND_HAS_LINK)
		return read_word(w, w->regs[UNWIND_SP], ret);
	*ret = address_plain_user(w->regs[UNWIND_RA]);
	return true;
}

/* Whether the leaf, which may be a stub, is one; ret: where it would return to. */
static bool is_stub(struct walk *w, uint64_t ret)
{
	uint64_t time_ns = w->copy->r.time_ns;
	struct symbolizer_code code;
	struct unwind_rule r;

	if (!symbolizer_code(w->u->sym, w->space, ret - 1, time_ns, &code) ||
	    code.kind != CODE_FILE ||
	    !unwind_files_is_call(w->u->files, code.file, code.offset + 1, time_ns))
		return false;
	if (!UNWIND_HAS_LINK)
		return true;
	r = unwind_files_rule(w->u->files, code.file, code.offset, time_ns, NULL);
	return r.kind != UNWIND_NONE && r.kind != UNWIND_UNKNOWN;
}

static const struct unwind_rule stub_rule = {
	.kind = UNWIND_REGISTER,
	.cfa_register = UNWIND_SP,
#if UNWIND_HAS_LINK
	.ra_register = UNWIND_RA,
#else
	.cfa_offset = 8,
	.ra_saved = true,
	.ra_offset = -8,
#endif
};

/*
 * Gives the BPF side the rule for the current frame; but not while it would take this for the rule
 * of code that was there before. For the leaf, which may be anywhere, also those of the lines
 * around it.
 */
static void teach(const struct walk *w, uint64_t rule)
{
	const struct unwinder *u = w->u;
	uint64_t space = w->copy->space;

	if (!u->teach || symbolizer_is_stale(u->sym, w->space, w->look, w->copy->r.time_ns))
		return;
	u->teach(u->teach_ctx, wire_rule_key(space, w->look), rule);
	if (w->out->n > 1)
		return;
	for (uint64_t at = (w->look - w->before + WIRE_RULE_LINE - 1) & -(uint64_t)WIRE_RULE_LINE;
	     at + WIRE_RULE_LINE <= w->look + w->behind; at += WIRE_RULE_LINE)
		u->teach(u->teach_ctx, wire_rule_line_key(space, at), rule);
}

/* ---- from frame to frame ------------------------------------------------------------------- */

/* Appends the frame pc, which is looked up at pc; a return address one byte lower. */
static bool push(struct walk *w, uint64_t pc, bool is_return)
{
	struct wire_stack *s = w->out;

	/* The outermost frame returns to 0. */
	if (!pc) {
		s->end = CHAINLOG_STACK_WHOLE;
		return false;
	}
	if (s->n >= WIRE_STACK_MAX) {
		s->end = CHAINLOG_STACK_DEPTH;
		return false;
	}
	pc = address_plain_user(pc);
	s->frames[s->n++] = is_return ? pc : pc ^ WIRE_EXACT;
	w->look = is_return ? pc - 1 : pc;
	w->regs[UNWIND_PC] = pc;
	return true;
}

static bool stop(struct walk *w, enum chainlog_stack_end why)
{
	w->out->end = why;
	return false;
}

/* Goes to the caller, whose stack pointer is sp. The other registers are not known any more. */
static void leave_frame(struct walk *w, uint64_t sp)
{
	w->regs[UNWIND_SP] = sp;
	w->sp_lost = false;
	w->has_all = false;
	if (UNWIND_HAS_LINK)
		w->regs[UNWIND_RA] = WIRE_NO_LINK;
}

static bool has_register(const struct walk *w, uint8_t reg)
{
	if (reg == UNWIND_SP)
		return !w->sp_lost;
	if (UNWIND_HAS_LINK && reg == UNWIND_RA)
		return w->regs[UNWIND_RA] != WIRE_NO_LINK;
	return reg == UNWIND_FP || w->has_all;
}

/* The frame becomes its method. */
static bool step_by_interpreter(struct walk *w)
{
	uint64_t fp = w->regs[UNWIND_FP], method, bytecode, sp, caller, ret;

	if (fp < w->regs[UNWIND_SP] || fp >= USER_END || fp & 7)
		return stop(w, CHAINLOG_STACK_NO_RULE);
	if (!read_word(w, fp - 8 * WIRE_JAVA_METHOD_AT, &method) ||
	    !read_word(w, fp - 8 * WIRE_JAVA_BYTECODE_AT, &bytecode) ||
	    !read_word(w, fp - 8 * WIRE_JAVA_SP_AT, &sp) || !read_word(w, fp, &caller) ||
	    !read_word(w, fp + 8, &ret))
		return stop(w, CHAINLOG_STACK_UNREADABLE);
	if (sp <= fp || method >= USER_END || method & 7)
		return stop(w, CHAINLOG_STACK_NO_RULE);
	/* The leaf has it in a register. */
	w->out->frames[w->out->n - 1] = wire_java_frame(method, w->out->n > 1 ? bytecode : 0);
	leave_frame(w, sp);
	w->regs[UNWIND_FP] = caller;
	return push(w, ret, true);
}

/* The frame becomes what it was. */
static bool step_given_up(struct walk *w, const struct unwind_rule *r)
{
	uint64_t sp = w->regs[UNWIND_SP], cfa = sp + (uint32_t)r->cfa_offset, was, caller, ret;

	if (w->sp_lost || w->out->n < 2)
		return stop(w, CHAINLOG_STACK_NO_RULE);
	if (!read_word(w, sp + (uint32_t)r->fp_offset, &was) || !read_word(w, cfa - 16, &caller) ||
	    !read_word(w, cfa - 8, &ret))
		return stop(w, CHAINLOG_STACK_UNREADABLE);
	if (was >= USER_END)
		return stop(w, CHAINLOG_STACK_NO_RULE);
	w->out->frames[w->out->n - 1] = was;
	leave_frame(w, cfa);
	w->regs[UNWIND_FP] = caller;
	return push(w, ret, true);
}

static bool step_by_frame_pointer(struct walk *w)
{
	uint64_t fp = w->regs[UNWIND_FP], caller, ret;

	/* By the ABI it is 0 in the outermost frame; but without a rule, it may be data. */
	if (!fp)
		return stop(w, CHAINLOG_STACK_GUESSED);
	if (fp < w->regs[UNWIND_SP] || fp >= USER_END || fp & 7)
		return stop(w, CHAINLOG_STACK_NO_RULE);
	if (!read_word(w, fp, &caller) || !read_word(w, fp + 8, &ret))
		return stop(w, CHAINLOG_STACK_UNREADABLE);
	w->has_guessed = true;
	leave_frame(w, fp + FP_FRAME);
	w->regs[UNWIND_FP] = caller;
	w->sp_lost = UNWIND_HAS_LINK; /* see chainwire_stacks.h */
	return push(w, ret, true);
}

#if defined(__x86_64__)
/* struct rt_sigframe: sp is at its ucontext, whose registers are in this order. */
static bool step_by_signal(struct walk *w)
{
	static const uint8_t order[UNWIND_REGISTERS] = { 8, 9, 10, 11, 12, 13, 14, 15, 5,
							 4, 6, 3,  1,  0,  2,  7,  16 };
	uint64_t at = w->regs[UNWIND_SP] + 40;

	for (unsigned int i = 0; i < UNWIND_REGISTERS; i++)
		if (!read_word(w, at + i * 8, &w->regs[order[i]]))
			return stop(w, CHAINLOG_STACK_UNREADABLE);
	w->has_all = true;
	return push(w, w->regs[UNWIND_PC], false);
}
#elif defined(__aarch64__)
/* struct rt_sigframe: siginfo (128 bytes), then ucontext, with its registers at 176. */
static bool step_by_signal(struct walk *w)
{
	uint64_t at = w->regs[UNWIND_SP] + 128 + 176 + 8;

	if (w->sp_lost)
		return stop(w, CHAINLOG_STACK_NO_RULE);
	for (unsigned int i = 0; i < UNWIND_REGISTERS; i++)
		if (!read_word(w, at + i * 8, &w->regs[i]))
			return stop(w, CHAINLOG_STACK_UNREADABLE);
	w->has_all = true;
	return push(w, w->regs[UNWIND_PC], false);
}
#endif

/* The CFA by the rule. If it is not available, stops and returns 0. */
static uint64_t find_cfa(struct walk *w, const struct unwind_rule *r)
{
	uint64_t sp = w->regs[UNWIND_SP], fp = w->regs[UNWIND_FP], cfa = 0;
	bool is_pair = r->fp_saved && r->ra_saved && r->ra_offset == r->fp_offset + 8;

	switch ((enum unwind_kind)r->kind) {
	case UNWIND_REGISTER:
		if (has_register(w, r->cfa_register))
			cfa = w->regs[r->cfa_register] + (uint64_t)(int64_t)r->cfa_offset;
		else if (w->sp_lost && r->cfa_register == UNWIND_SP && is_pair)
			cfa = fp - (uint64_t)(int64_t)r->fp_offset;
		break;
	case UNWIND_PLT:
		cfa = sp + ((w->look & 15) >= (uint64_t)r->cfa_offset ? 16 : 8);
		break;
	case UNWIND_REALIGNED:
		if (!read_word(w, fp + (uint64_t)(int64_t)r->cfa_offset, &cfa) ||
		    !read_word(w, fp, &w->regs[UNWIND_FP])) {
			stop(w, CHAINLOG_STACK_UNREADABLE);
			return 0;
		}
		break;
	case UNWIND_SAVED:
		if (!read_word(w, w->regs[r->cfa_register] + (uint64_t)(int64_t)r->cfa_offset,
			       &cfa)) {
			stop(w, CHAINLOG_STACK_UNREADABLE);
			return 0;
		}
		cfa += 8;
		break;
	default:
		break;
	}
	/* The caller's frame lies above, except for a leaf that has not used the stack. */
	if (cfa > sp || (cfa == sp && !r->ra_saved && cfa))
		return cfa;
	stop(w, CHAINLOG_STACK_NO_RULE);
	return 0;
}

static bool step_by_rule(struct walk *w, const struct unwind_rule *r)
{
	uint64_t sp = w->regs[UNWIND_SP], cfa = find_cfa(w, r), ret = 0;

	if (!cfa)
		return false;
	if (!r->ra_saved) {
		if (!has_register(w, r->ra_register))
			return stop(w, CHAINLOG_STACK_NO_RULE);
		ret = w->regs[r->ra_register];
	} else if (!read_word(w, cfa + (uint64_t)(int64_t)r->ra_offset, &ret)) {
		return stop(w, CHAINLOG_STACK_UNREADABLE);
	}
	if (r->fp_saved) {
		uint64_t at = cfa + (uint64_t)(int64_t)r->fp_offset;

		/* A slot below the stack pointer: the register has been restored already. */
		if (at >= sp && !read_word(w, at, &w->regs[UNWIND_FP]))
			return stop(w, CHAINLOG_STACK_UNREADABLE);
	}
	leave_frame(w, cfa);
	return push(w, ret, true);
}

/* Goes to the caller's frame. False at the end: out->end has the reason. */
static bool step(struct walk *w)
{
	struct unwind_rule r;
	uint64_t ret;

	if (!find_rule(w, &r)) {
		teach(w, wire_rule(WIRE_RULE_NO_CODE, 0, 0, 0));
		/* The leaf stays, whatever is mapped there: the thread is in it. */
		if (w->out->n > 1)
			w->out->n--;
		return stop(w, CHAINLOG_STACK_NO_RULE);
	}
	if (r.kind == UNWIND_NONE && may_be_stub(w)) {
		/* Whether it is one depends on the stack, so the BPF side gets no rule for it. */
		if (!read_stub_return(w, &ret))
			return stop(w, CHAINLOG_STACK_UNREADABLE);
		if (is_stub(w, ret))
			r = stub_rule;
	}
	if (unwind_files_late(w->u->files)) {
		w->is_late = true;
		w->u->late_key = unwind_files_late_key(w->u->files);
	}
	if (r.kind == UNWIND_UNKNOWN && !w->is_late && symbolizer_is_late(w->u->sym, w->space)) {
		w->is_late = true;
		w->u->late_key = LATE_MAPS_KEY;
	}
	if (w->is_late || r.kind == UNWIND_UNKNOWN)
		return stop(w, CHAINLOG_STACK_NO_RULE);
	teach(w, unwind_rule_pack(&r));
	switch ((enum unwind_kind)r.kind) {
	case UNWIND_NONE:
		if (w->file)
			symbolizer_lacks_rule(w->u->sym, w->space, w->file);
		return step_by_frame_pointer(w);
	case UNWIND_SIGNAL:
		return step_by_signal(w);
	case UNWIND_INTERPRETED:
		return step_by_interpreter(w);
	case UNWIND_GIVEN_UP:
		return step_given_up(w, &r);
	case UNWIND_END:
		return stop(w, CHAINLOG_STACK_WHOLE);
	case UNWIND_HARD:
		return stop(w, CHAINLOG_STACK_NO_RULE);
	default:
		return step_by_rule(w, &r);
	}
}

bool unwinder_copy_word(const struct wire_copy *c, uint64_t addr, uint64_t *word)
{
	uint64_t at = addr - c->base;

	if (at == -sizeof(*word) && c->below) {
		*word = c->below;
		return true;
	}
	if (at >= c->len || c->len - at < sizeof(*word))
		return false;
	memcpy(word, (const uint8_t *)c->words + at, sizeof(*word));
	return true;
}

bool unwinder_takes(const struct wire_copy *c, size_t len)
{
	size_t head = offsetof(struct wire_copy, words);

	return len >= head && c->len <= len - head && c->n && c->n <= WIRE_STACK_MAX;
}

int unwinder_complete(struct unwinder *u, const struct wire_copy *c, size_t len,
		      struct wire_stack *out)
{
	struct walk w = { .u = u, .copy = c, .out = out, .look = c->look };

	if (!unwinder_takes(c, len))
		return -EBADMSG;
	*out = (struct wire_stack) { .r = c->r, .id = c->id, .tgid = c->tgid, .n = c->n };
	out->r.kind = WIRE_STACK;
	memcpy(out->frames, c->frames, c->n * sizeof(c->frames[0]));
	memcpy(w.regs, c->regs, sizeof(w.regs));
	w.has_all = c->registers;
	w.sp_lost = c->sp_lost;
	w.has_guessed = c->end == CHAINLOG_STACK_GUESSED;
	unwind_files_poll(u->files);
	w.space = symbolizer_space(u->sym, c->tgid, c->r.time_ns);
	while (step(&w))
		;
	out->n_code = c->n_code <= WIRE_CODE_FRAMES ? (uint32_t)c->n_code : 0;
	out->eval_start = c->eval_start;
	out->eval_end = c->eval_end;
	memcpy(out->frames + out->n, c->code, out->n_code * sizeof(c->code[0]));
	if (w.has_guessed && out->end == CHAINLOG_STACK_WHOLE)
		out->end = CHAINLOG_STACK_GUESSED;
	u->stacks += !w.is_late;
	return w.is_late ? -EAGAIN : 0;
}

uint64_t unwinder_late_key(const struct unwinder *u)
{
	return u->late_key;
}

void unwinder_forget_idle(struct unwinder *u, uint64_t now_ns)
{
	unwind_files_forget_idle(u->files, now_ns);
}

void unwinder_stats(const struct unwinder *u, struct unwinder_stats *out)
{
	out->stacks = u->stacks;
	unwind_files_stats(u->files, out);
}
