/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind.h - unwinds a user stack by call frame information; chainwire_stacks.h explains how. Part
 * of chaincap.bpf.c.
 */
#pragma once

#define USER_PAGE 4096u

/* Written by the collector. */
struct wire_rules rules[WIRE_RULE_BUCKETS] TABLE;

/* The stack that is being unwound, by stack_kind(). */
MAP(unwindings, PERCPU_ARRAY, STACK_KINDS, __u32, struct unwinding);

/*
 * A hint, by the low bits of the tid: the address where the thread's stack ended last time. Reading
 * beyond the end is a page fault, which costs as much as all the rest; reading less takes a second
 * copy. Bit 0: the stack was cut there.
 */
#define TOPS (1u << 15)
#define TOP_IS_CUT 1ull
#define TOP_MAX (256u << 10) /* bytes; an end that is farther away is that of another stack */

static __u64 tops[TOPS] TABLE;

/*
 * The fuller the ring, the longer is the time between two copies of stacks of a process, up to 8
 * ms: those whose stacks always need one, and those of which no rule is known yet, leave room for
 * others. And copies become shorter: that a few frames are known of each is more than all frames of
 * some.
 */
#define COPY_STEP_NS 40000u /* for each 1024th of the ring beyond the first eighth */
#define COPY_EVERY_NS 8000000u
#define COPY_SHORT 1024u

struct wire_copier copiers[1u << WIRE_COPIERS_SHIFT] TABLE;

/*
 * By the low bits of the tgid: how often code was mapped over other code, after which an address
 * may have another rule. The collector writes it, a moment after the mapping; the number of pages
 * of code (exec_vm) changes at once. Both are part of the space in wire_rule_key(), so that after a
 * change all rules of the process are learnt anew.
 */
__u64 generations[WIRE_GENERATIONS] TABLE;

/*
 * By the low bits of the tgid: a forked process uses its parent's rules for as long as it has its
 * parent's code. own: the child's own space, which identifies it; 0: none.
 */
struct inherited {
	__u64 own, space;
	__u64 exec_vm, generation; /* the child's, when it was forked */
};

static struct inherited heirs[WIRE_GENERATIONS] TABLE;

/* The space for wire_rule_key() of the process of t, which has an mm; own: space_of(t). */
static __always_inline __u64 rule_space(struct task_struct *t, __u64 own)
{
	__u64 generation = *ELEMENT(generations, t->tgid), space;
	struct inherited *h = ELEMENT(heirs, t->tgid);
	__u64 exec_vm = UNTRUSTED(task_struct, t)->mm->exec_vm;

	if (h->own == own && h->exec_vm == exec_vm && h->generation == generation) {
		space = h->space;
		/* Another child may have been given the place meanwhile. */
		if (read_in_order(&h->own) == own)
			return space;
	}
	return mix(own, generation << 32 ^ exec_vm);
}

/*
 * What the hash of a stack begins with: the same addresses are another stack when other code is
 * there.
 */
static __always_inline __u64 stack_space(struct task_struct *t, __u64 space)
{
	return space ^ *ELEMENT(generations, OF(t, tgid)) << 48;
}

static __always_inline void inherit_rules(struct task_struct *parent, struct task_struct *child)
{
	struct inherited *h = ELEMENT(heirs, child->tgid);
	struct mm_struct *mm = UNTRUSTED(task_struct, child)->mm;

	if (child->tgid == parent->tgid || !mm || !UNTRUSTED(task_struct, parent)->mm)
		return;
	h->own = 0;
	barrier();
	h->space = rule_space(parent, space_of(parent));
	h->exec_vm = mm->exec_vm;
	h->generation = *ELEMENT(generations, child->tgid);
	barrier();
	h->own = space_of(child);
}

static __always_inline __u64 rule_with_key(__u64 key)
{
	__u64 rule;
	const volatile struct wire_rules *r = ELEMENT(rules, wire_rule_bucket(key));

#pragma unroll
	for (int i = 0; i < WIRE_RULE_WAYS; i++) {
		rule = r->rule[i];
		if ((r->check[i] ^ rule) == key)
			return rule;
	}
	return 0;
}

static __always_inline __u64 rule_of(__u64 space, __u64 addr)
{
	__u64 rule = rule_with_key(wire_rule_key(space, addr));

	return rule ? rule : rule_with_key(wire_rule_line_key(space, addr));
}

/*
 * The kernel notices that a function returns by putting another return address on the stack. This
 * puts those that the program had into the copy. On arm64, where only the function knows whether
 * and where it saves the address, stacks are cut there.
 */
struct mending {
	struct wire_copy *c;
	__u64 call; /* a struct return_instance; 0: there are no more */
};

static long mend_return(__u32 i, struct mending *m)
{
	__u64 call = m->call, word;

	(void)i;
	if (!call)
		return 1;
	word = (FIELD(return_instance, call, stack) - m->c->base) / 8;
	if (word < m->c->len / 8 && word < WIRE_COPY_WORDS)
		m->c->words[word] = FIELD(return_instance, call, orig_ret_vaddr);
	m->call = (__u64)FIELD(return_instance, call, next);
	return 0;
}

#define CALLS_MENDED 64 /* MAX_URETPROBE_DEPTH in the kernel's include/linux/uprobes.h */

LOOP(mend_return, struct mending, CALLS_MENDED)

__noinline int mend_returns(struct wire_copy *c)
{
	struct task_struct *task = UNTRUSTED(task_struct, bpf_get_current_task_btf());
	struct mending m = { .c = c };
	__u64 probed;

	if (!c || HAS_LINK_REGISTER || !bpf_core_field_exists(task->utask))
		return 0;
	probed = (__u64)task->utask;
	m.call = probed ? (__u64)FIELD(uprobe_task, probed, return_instances) : 0;
	if (m.call)
		loop_mend_return(&m);
	return 0;
}

/* Copies the stack from sp to its top, or as much of it as fits. */
__noinline int copy_words(struct wire_copy *c, __u64 sp, __u64 top)
{
	__u64 rest = top - sp;
	__u32 len, at;

	if (!c)
		return 0;
	c->base = sp;
	c->len = 0;
	if (rest && rest <= TOP_MAX) {
		len = rest > sizeof(c->words) ? sizeof(c->words) : (__u32)rest & ~7u;
		if (!bpf_probe_read_user(c->words, len, (void *)sp)) {
			c->len = len;
			return 0;
		}
	}
	/* The end of the stack is not known: page by page. */
	at = USER_PAGE - ((__u32)sp & (USER_PAGE - 1));
	if (bpf_probe_read_user(c->words, at, (void *)sp))
		return 0;
	for (__u32 i = 0; i < WIRE_COPY_WORDS * 8 / USER_PAGE - 1; i++) {
		barrier_var(at);
		if (at > sizeof(c->words) - USER_PAGE ||
		    bpf_probe_read_user((void *)c->words + at, USER_PAGE, (void *)sp + at))
			break;
		at += USER_PAGE;
	}
	c->len = at;
	return 0;
}

/* The same of a thread that sleeps. */
__noinline int copy_pages(struct wire_copy *c, __u64 pgd, __u64 sp, __u64 top)
{
	__u32 want = sizeof(c->words), at;

	if (!c)
		return 0;
	if (top - sp && top - sp < want)
		want = (__u32)(top - sp);
	c->base = sp;
	c->len = 0;
	at = USER_PAGE - ((__u32)sp & (USER_PAGE - 1));
	if (!read_by_pages(c->words, at, pgd, sp))
		return 0;
	for (__u32 i = 0; i < WIRE_COPY_WORDS * 8 / USER_PAGE - 1; i++) {
		barrier_var(at);
		if (at >= want || at > sizeof(c->words) - USER_PAGE ||
		    !read_by_pages((void *)c->words + at, USER_PAGE, pgd, sp + at))
			break;
		at += USER_PAGE;
	}
	c->len = at;
	return 0;
}

static __always_inline void copy_stack(struct unwinding *u, __u64 sp, __u64 top)
{
	struct wire_copy *c = &u->c;

	if (LIGHT && u->pgd) {
		copy_pages(c, u->pgd, sp, top);
		return;
	}
	copy_words(c, sp, top);
	/*
	 * Not called where it does nothing: to a function that does not use its argument the
	 * compiler passes none, which the verifier refuses.
	 */
	if (find_calls && !HAS_LINK_REGISTER)
		mend_returns(c);
}

static __always_inline bool read_word(const struct unwinding *u, __u64 addr, __u64 *word)
{
	const struct wire_copy *c = &u->c;
	__u64 at = addr - c->base, i = at / 8;

	if (at < c->len && !(at & 7) && i < WIRE_COPY_WORDS) {
		*word = c->words[i];
		return true;
	}
	if (LIGHT && u->pgd)
		return (addr & (USER_PAGE - 1)) <= USER_PAGE - sizeof(*word) &&
		       read_by_pages(word, sizeof(*word), u->pgd, addr);
	return !bpf_probe_read_user(word, sizeof(*word), (void *)addr);
}

/* In place of an enum chainlog_stack_end: the stack goes on, but only the collector can follow it.
 */
#define UNWIND_ASK CHAINLOG_STACK_ENDS

static __always_inline bool in_link_register(__u64 rule)
{
	return HAS_LINK_REGISTER && !(rule & 0xff00);
}

/* A frame of HotSpot's interpreter, which is left in u->method. */
static __always_inline __u32 follow_interpreted(struct unwinding *u, __u64 *ret)
{
	struct wire_copy *c = &u->c;
	__u64 fp = c->regs[DWARF_FP], method_at = fp - 8 * WIRE_JAVA_METHOD_AT, cfa, saved;
	__u64 bytecode_at = fp - 8 * WIRE_JAVA_BYTECODE_AT, method, bytecode = 0;

	if (fp < c->regs[DWARF_SP] || (fp & 7))
		return CHAINLOG_STACK_NO_RULE;
	list_fp(u, false);
	if (!read_word(u, method_at, &method) || !read_word(u, fp - 8 * WIRE_JAVA_SP_AT, &cfa) ||
	    !read_word(u, fp, &saved) || !read_word(u, fp + 8, ret))
		return CHAINLOG_STACK_UNREADABLE;
	if (cfa <= fp || method >= USER_END || method & 7)
		return CHAINLOG_STACK_NO_RULE;
	/* The leaf has it in a register, a native method has none. */
	if (c->n > 1 && !read_word(u, bytecode_at, &bytecode))
		return CHAINLOG_STACK_UNREADABLE;
	/* By its bytecode the method is known, too. */
	if (bytecode)
		list_word(u, slot_of(u, bytecode_at), bytecode);
	else
		list_word(u, slot_of(u, method_at), method);
	u->method = wire_java_frame(method, bytecode);
	list_word(u, slot_of(u, fp - 8 * WIRE_JAVA_SP_AT) | USER_LAYOUT_FP, cfa - c->base);
	list_word(u, slot_of(u, fp + 8), *ret);
	u->fp_slot = slot_of(u, fp);
	c->regs[DWARF_FP] = saved;
	c->regs[DWARF_SP] = cfa;
	return 0;
}

/* A frame whose code was given up: what it was is left in u->method. */
static __always_inline __u32 follow_given_up(struct unwinding *u, __u64 rule)
{
	__u64 at = u->c.regs[DWARF_SP] + (__u64)(__s16)(rule >> 16);

	if (!read_word(u, at, &u->method))
		return CHAINLOG_STACK_UNREADABLE;
	list_word(u, slot_of(u, at), u->method);
	return u->c.n > 1 && u->method < USER_END ? 0 : CHAINLOG_STACK_NO_RULE;
}

/* Sets the registers in u->c to the caller's, and *ret to the return address. Returns 0, or why
 * the stack ends. */
static __always_inline __u32 follow_rule(struct unwinding *u, __u64 rule, __u64 *ret)
{
	struct wire_copy *c = &u->c;
	__u64 sp = c->regs[DWARF_SP], fp = c->regs[DWARF_FP], cfa, saved, ret_at;
	__s64 cfa_offset = (__s32)(rule >> 32), fp_offset = (__s16)(rule >> 16);
	__u32 nature, end;

	switch (rule & 0xff) {
	case WIRE_RULE_SP:
		cfa = sp + cfa_offset;
		if (HAS_LINK_REGISTER && c->sp_lost) {
			list_fp(u, false);
			cfa = wire_rule_is_pair(rule) ? fp - fp_offset : 0;
		}
		break;
	case WIRE_RULE_FP:
		list_fp(u, false);
		cfa = fp + cfa_offset;
		break;
	case WIRE_RULE_END:
		return CHAINLOG_STACK_WHOLE;
	case WIRE_RULE_PLT:
		cfa = sp + ((c->look & 15) >= (__u64)cfa_offset ? 16 : 8);
		break;
	case WIRE_RULE_REALIGNED:
		u->unfit = 1;
		if (!read_word(u, fp + cfa_offset, &cfa) || !read_word(u, fp, &saved))
			return CHAINLOG_STACK_UNREADABLE;
		c->regs[DWARF_FP] = saved;
		break;
	case WIRE_RULE_SAVED:
		u->unfit = 1;
		if (!read_word(u, (cfa_offset & 1 ? fp : sp) + (cfa_offset & ~1ll), &cfa))
			return CHAINLOG_STACK_UNREADABLE;
		cfa += 8;
		break;
	case WIRE_RULE_NONE:
		nature = fp_nature(fp, sp);
		if (nature != FP_MAY_BE) {
			list_no_fp(u, nature);
			return nature == FP_ZERO ? CHAINLOG_STACK_GUESSED : CHAINLOG_STACK_NO_RULE;
		}
		list_fp(u, true);
		cfa = fp + 16;
		fp_offset = -16;
		rule = wire_rule(WIRE_RULE_NONE, 0, 0, -1);
		c->end = CHAINLOG_STACK_GUESSED;
		break;
	case WIRE_RULE_SIGNAL:
		u->unfit = 1;
		if (HAS_LINK_REGISTER && c->sp_lost)
			return CHAINLOG_STACK_NO_RULE;
		if (HAS_LINK_REGISTER && !read_word(u, sp + SIGNAL_LR, &c->regs[DWARF_LR]))
			return CHAINLOG_STACK_UNREADABLE;
		if (!read_word(u, sp + SIGNAL_FP, &fp) || !read_word(u, sp + SIGNAL_SP, &cfa) ||
		    !read_word(u, sp + SIGNAL_PC, ret))
			return CHAINLOG_STACK_UNREADABLE;
		c->regs[DWARF_FP] = fp;
		c->regs[DWARF_SP] = cfa;
		return 0;
	case WIRE_RULE_JAVA:
		return follow_interpreted(u, ret);
	case WIRE_RULE_GIVEN_UP:
		end = follow_given_up(u, rule);
		if (end)
			return end;
		cfa = sp + cfa_offset;
		fp_offset = -16;
		break;
	case WIRE_RULE_UNKNOWN:
	case WIRE_RULE_ASK:
		return UNWIND_ASK;
	default:
		return CHAINLOG_STACK_NO_RULE;
	}
	if (in_link_register(rule)) {
		/* It is known in the leaf, and in code that a signal interrupted. */
		if (cfa < sp || c->regs[DWARF_LR] == WIRE_NO_LINK)
			return CHAINLOG_STACK_NO_RULE;
		*ret = c->regs[DWARF_LR];
	} else {
		if (cfa <= sp)
			return CHAINLOG_STACK_NO_RULE;
		ret_at = cfa + (__s8)(rule >> 8) * 8;
		if (HAS_LINK_REGISTER && wire_rule_is_pair(rule))
			ret_at = cfa + fp_offset + 8;
		if (!read_word(u, ret_at, ret))
			return CHAINLOG_STACK_UNREADABLE;
		list_word(u, slot_of(u, ret_at), PLAIN_USER(*ret));
	}
	/* If the slot is below the stack pointer, the register has been restored already. */
	if (fp_offset && cfa + fp_offset >= sp) {
		if (!read_word(u, cfa + fp_offset, &saved))
			return CHAINLOG_STACK_UNREADABLE;
		c->regs[DWARF_FP] = saved;
		u->fp_slot = slot_of(u, cfa + fp_offset);
	}
	c->regs[DWARF_SP] = cfa;
	if (HAS_LINK_REGISTER) {
		c->regs[DWARF_LR] = WIRE_NO_LINK;
		c->sp_lost = (rule & 0xff) == WIRE_RULE_NONE;
	}
	return 0;
}

/*
 * Finds frame i, stores it in w->scratch and adds it to k->hash. Returns 0, or why the stack ends
 * (enum chainlog_stack_end, or UNWIND_ASK). A global function, so that the verifier checks it once
 * and not for each frame.
 */
__noinline __u32 unwind_step(struct wire_kind_state *k, struct workspace *w, struct unwinding *u,
			     __u32 i)
{
	struct wire_copy *c;
	__u64 rule, ret = 0;
	__u32 end, before;

	if (!k || !w || !u || i >= WIRE_STACK_MAX)
		return CHAINLOG_STACK_DEPTH;
	c = &u->c;
	rule = rule_of(c->space, c->look);
	end = follow_rule(u, rule, &ret);
	/* No code is at c->look: drop the last frame, which was not one; but keep the leaf. */
	if ((rule & 0xff) == WIRE_RULE_NO_CODE && i > 1) {
		c->n = i - 1;
		k->hash = c->hash_before;
	}
	if (end)
		return end;
	ret = PLAIN_USER(ret);
	if (!ret) /* there is nothing to return to */
		return CHAINLOG_STACK_WHOLE;
	/* Bounded again: 5.15 forgets it by comparing i with 1, others as it is spilled. */
	barrier_var(i);
	if (i >= WIRE_STACK_MAX)
		return CHAINLOG_STACK_DEPTH;
	c->look = ret - 1;
	before = i - 1;
	barrier_var(before);
	if (!HAS_LINK_REGISTER && (rule & 0xff) >= WIRE_RULE_JAVA && before < WIRE_STACK_MAX) {
		w->scratch.frames[before] = u->method;
		k->hash = mix(c->hash_before, u->method);
	}
	if ((rule & 0xff) == WIRE_RULE_SIGNAL) {
		c->look = ret;
		ret ^= WIRE_EXACT;
	}
	w->scratch.frames[i] = ret;
	c->hash_before = k->hash;
	k->hash = mix(k->hash, ret);
	c->n = i + 1;
	return 0;
}

/*
 * Unwinds from the registers in c into w->scratch, which has the first frame already. Sets c->n to
 * the number of frames and k->end to why they end (or UNWIND_ASK), and continues the hash in
 * k->hash.
 */
__noinline int unwind_frames(struct wire_kind_state *k, struct workspace *w, struct unwinding *u)
{
	__u32 end = 0;

	if (!k || !w || !u)
		return 0;
	u->c.n = 1;
	for (__u32 i = 1; i <= WIRE_STACK_MAX && !end; i++)
		end = unwind_step(k, w, u, i);
	if (end == CHAINLOG_STACK_WHOLE && u->c.end == CHAINLOG_STACK_GUESSED)
		end = CHAINLOG_STACK_GUESSED;
	/* Next time the memory may be readable, or have a rule: do not keep how this one went. */
	if (end == CHAINLOG_STACK_UNREADABLE || end == UNWIND_ASK)
		u->unfit = 1;
	k->end = end;
	return 0;
}

#include "v8_frames.h"

/* ---- asking the collector ------------------------------------------------------------------ */

/* The collector is woken at most once in this time, and then finds all copies that were sent. */
#define WAKE_NS 1000000u

__u32 last_copy_id = 0;

/* The stack is cut, as there is too little room. */
static __always_inline void cut_stack(struct wire_kind_state *k, struct wire_copier *of, __u32 tgid)
{
	k->no_room++;
	if (!of->cut)
		of->tgid = tgid;
	if (of->tgid == tgid)
		__sync_fetch_and_add(&of->cut, 1);
}

/*
 * Whether a stack that only the collector can complete is sent to it. Not if too little room would
 * be left for events, or for other processes' copies: then it ends here.
 */
static __always_inline bool wants_copy(void *ring, struct wire_kind_state *k, __u64 now,
				       struct task_struct *owner)
{
	__u64 used = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);
	__u64 size = bpf_ringbuf_query(ring, BPF_RB_RING_SIZE);
	struct wire_copier *of = ELEMENT(copiers, wire_copier(hash_seed, owner->tgid));
	__u64 every = 0;

	if (k->end != UNWIND_ASK)
		return false;
	if (used > size / 8)
		every = (used - size / 8) * 1024 / size * COPY_STEP_NS;
	if (every > COPY_EVERY_NS)
		every = COPY_EVERY_NS;
	if (used <= size / 2 && now - of->at_ns >= every)
		return true;
	cut_stack(k, of, owner->tgid);
	k->end = CHAINLOG_STACK_NO_RULE;
	return false;
}

/*
 * Sends the frames found so far, with the registers and the stack of the last one, and with code
 * that has been named. Returns the id of the stack, which the collector completes; or 0 if there is
 * no room: it ends here.
 */
static __always_inline __u32 send_copy(void *ring, struct wire_kind_state *k,
				       const struct workspace *w, __u64 now,
				       struct task_struct *owner, struct pt_regs *regs)
{
	__u32 which = stack_kind((__u32)k->kind), len;
	struct unwinding *u = bpf_map_lookup_elem(&unwindings, &which);
	struct wire_copier *of = ELEMENT(copiers, wire_copier(hash_seed, owner->tgid));
	__u64 used = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);
	__u64 size = bpf_ringbuf_query(ring, BPF_RB_RING_SIZE);
	__u64 wake = BPF_RB_NO_WAKEUP, sp;
	struct wire_copy *c;

	k->end = CHAINLOG_STACK_NO_RULE;
	if (!u)
		return 0;
	c = &u->c;
	sp = c->regs[DWARF_SP] & ~7ull;
	/* The copy may be cut, or may not reach sp. */
	if ((c->top & TOP_IS_CUT) || sp - c->base >= c->len)
		copy_stack(u, sp, 0);
	c->registers = c->n == 1;
	c->below = 0;
	if (c->registers) {
		copy_registers(c->regs, regs);
		read_word(u, sp - sizeof(c->below), &c->below);
	}
	c->n_code = 0;
	if (find_code && k->code)
		copy_code(c, which);
	len = c->len;
	if (used > size / 8 && len > USER_PAGE)
		len = USER_PAGE;
	if (used > size / 4 && len > COPY_SHORT)
		len = COPY_SHORT;
	c->len = len;
	fill_record(&c->r, now, WIRE_COPY);
	c->id = (__sync_fetch_and_add(&last_copy_id, 1) & (WIRE_STACK_IDS - 1)) | WIRE_STACK_COPY;
	c->tgid = owner->tgid;
	c->tid = owner->pid;
	c->sp = user_sp(regs);
	c->switches = owner->nvcsw + owner->nivcsw;
	__builtin_memcpy(c->frames, w->scratch.frames, sizeof(c->frames));
	/* The leaf of a sample rarely comes again, so its rule is not urgent. */
	if (k->kind != WIRE_SAMPLE && now - k->woken_ns > WAKE_NS) {
		k->woken_ns = now;
		wake = BPF_RB_FORCE_WAKEUP;
	}
	/* Bounded here: the verifier of 6.1 loses the bounds of spilled values. */
	barrier_var(len);
	if (len > sizeof(c->words))
		return 0;
	if (bpf_ringbuf_output(ring, c, __builtin_offsetof(struct wire_copy, words) + len, wake)) {
		cut_stack(k, of, owner->tgid);
		return 0;
	}
	of->at_ns = now;
	return c->id;
}

/*
 * --verify: sends the registers and the stack of the leaf, with the frames that were found, so that
 * the collector unwinds the stack once more and compares; but only if the ring has enough room.
 */
static __always_inline void send_check(void *ring, const struct wire_kind_state *k,
				       const struct workspace *w, __u64 now,
				       struct task_struct *owner, struct pt_regs *regs)
{
	__u32 which = stack_kind((__u32)k->kind), len;
	struct unwinding *u = bpf_map_lookup_elem(&unwindings, &which);
	struct wire_copy *c;

	if (!u)
		return;
	c = &u->c;
	if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >
	    bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 4)
		return;
	copy_registers(c->regs, regs);
	c->registers = 1;
	copy_stack(u, c->regs[DWARF_SP] & ~7ull, 0);
	c->below = 0;
	read_word(u, c->base - sizeof(c->below), &c->below);
	fill_record(&c->r, now, WIRE_COPY);
	c->id = 0;
	c->n_code = 0;
	c->tgid = owner->tgid;
	c->tid = owner->pid;
	c->sp = user_sp(regs);
	c->end = k->end;
	__builtin_memcpy(c->frames, w->scratch.frames, sizeof(c->frames));
	len = c->len;
	barrier_var(len);
	if (len <= sizeof(c->words))
		bpf_ringbuf_output(ring, c, __builtin_offsetof(struct wire_copy, words) + len,
				   BPF_RB_NO_WAKEUP);
}

/* ---- one user stack ------------------------------------------------------------------------ */

/* Sets the hint for the next time. c: where unwinding stopped; end: why, or UNWIND_ASK. */
static __always_inline void learn_top(__u64 *top, const struct wire_copy *c, __u64 end)
{
	__u64 sp = c->regs[DWARF_SP], rest = (c->top & ~TOP_IS_CUT) - sp;

	if (end == CHAINLOG_STACK_WHOLE)
		*top = sp;
	else if (end != UNWIND_ASK || !rest || rest > TOP_MAX)
		/* A little more, so that the next copy includes the frame where it was cut. */
		*top = (sp + 64) | TOP_IS_CUT;
}

/*
 * Unwinds the current thread, task, from its registers; with pgd one that sleeps, whose page tables
 * these are. Returns the number of frames, which are in w->scratch, with why they end in k->end
 * (UNWIND_ASK: see wants_copy()), and the hash in k->hash continued over them. Or
 * returns 0, and in *id the id of a recent stack.
 */
static __always_inline __u32 unwind_user(struct wire_kind_state *k, struct workspace *w, __u32 kind,
					 struct task_struct *task, struct pt_regs *regs,
					 __u64 space, __u64 pgd, __u32 *id)
{
	__u32 which = stack_kind(kind), end = 0;
	struct unwinding *u = bpf_map_lookup_elem(&unwindings, &which);
	__u64 *top = ELEMENT(tops, task->pid), pc = user_pc(regs), sp = user_sp(regs);
	__u64 key, hash, ended_at = 0;
	struct wire_copy *c;

	if (!u)
		return 0;
	c = &u->c;
	c->space = rule_space(task, space);
	c->look = leaf_look(regs);
	c->regs[DWARF_FP] = user_fp(regs);
	c->regs[DWARF_SP] = sp;
	if (HAS_LINK_REGISTER) {
		c->regs[DWARF_LR] = user_link(regs);
		c->sp_lost = 0;
	}
	c->end = CHAINLOG_STACK_UNKNOWN;
	c->known = WIRE_KNOWN_NOT;
	c->top = *top;
	u->pgd = pgd;
	u->is_v8 = find_v8 && k->code == V8_CODE;
	u->n_fps = 0;
	if (u->is_v8)
		k->code = 0;
	copy_stack(u, sp & ~7ull, c->top & ~TOP_IS_CUT);
	key = mix(mix(mix(mix(space, c->space), pc), pc - c->look), c->top - sp);
	if (HAS_LINK_REGISTER)
		key = mix(key, PLAIN_USER(c->regs[DWARF_LR]));
	begin_layout(u, OLDER ? key : refined_key(c, key));
	hash = OLDER ? 0 : hash_by_layout(u, &end, &ended_at);
	if (find_v8 && hash && u->is_v8)
		k->code = find_v8_frames(u, which, space, k->seen);
	if (hash && !verify) {
		*id = recent_of(user_stack_hash(k, hash));
		if (*id) {
			/* For the verifier of 6.1, which forgets bounds of what was spilled. */
			barrier_var(end);
			if (end < CHAINLOG_STACK_ENDS)
				k->ends[end]++;
			k->known_user++;
			/* The hint was wrong, and would be wrong again. */
			if (c->base + c->len != (c->top & ~TOP_IS_CUT))
				*top = ended_at;
			return 0;
		}
	}
	if (c->look == pc)
		pc ^= WIRE_EXACT;
	w->scratch.frames[0] = pc;
	c->hash_before = k->hash;
	k->hash = mix(k->hash, pc);
	u->n_fps = 0;
	unwind_frames(k, w, u);
	if (find_v8 && u->is_v8)
		k->code = find_v8_frames(u, which, space, k->seen);
	if (verify)
		c->last_rule = (__u32)(rule_of(c->space, c->look) & 0xff);
	if (hash && verify) {
		/* If a rule is missing now, it was forgotten since: nothing to compare with. */
		c->known = hash == native_hash(k, c->n) ? WIRE_KNOWN : WIRE_KNOWN_AS_OTHER;
		if (k->end == UNWIND_ASK)
			k->unverified_user++;
		else
			k->verified_user++;
		if (k->end != UNWIND_ASK && c->known == WIRE_KNOWN_AS_OTHER)
			k->mismatches_user++;
	}
	learn_top(top, c, k->end);
	if (k->end != UNWIND_ASK) {
		hash = native_hash(k, c->n);
		if (!OLDER && !u->unfit && recent_of(user_stack_hash(k, hash)))
			keep_layout(u, hash, k->end, *top);
	}
	return c->n;
}
