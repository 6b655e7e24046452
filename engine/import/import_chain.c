// SPDX-License-Identifier: GPL-2.0-or-later
#include "import_chain.h"

#include "base/kernel_functions.h"

void import_chain_begin(struct import_chain *c)
{
	c->kernel.n = c->user.n = c->n_inlined = c->n = 0;
	c->kernel.cut = c->user.cut = false;
	c->in_leaf = true;
	c->stack = (struct import_stack) { .kstack = 0 };
}

static void push(struct import_frames *f, uint32_t id)
{
	if (f->n == CHAINLOG_STACK_MAX)
		f->cut = true;
	else
		f->id[f->n++] = id;
}

static void push_inlined(struct import_chain *c, struct import_frames *to)
{
	for (size_t i = 0; i < c->n_inlined; i++)
		push(to, c->inlined[i]);
	c->n_inlined = 0;
}

void import_chain_add(struct import_chain *c, const struct import_frame *f)
{
	c->n++;
	if (f->class == IMPORT_FRAME_INLINED) {
		if (c->n_inlined < CHAINLOG_STACK_MAX)
			c->inlined[c->n_inlined++] = f->id;
		return;
	}
	if (f->class == IMPORT_FRAME_USER) {
		push_inlined(c, &c->user);
		push(&c->user, f->id);
		return;
	}
	if (c->in_leaf && f->flags & KFUNC_TRACING) {
		/* Cut it with all above it, such as trampolines without a name. */
		c->kernel.n = 0;
		c->n_inlined = 0;
		return;
	}
	c->in_leaf = c->in_leaf && f->nameless;
	c->stack.kthread |= (f->flags & KFUNC_KTHREAD) != 0;
	c->stack.ipi |= (f->flags & KFUNC_REMOTE_WAKE) != 0;
	push_inlined(c, &c->kernel);
	push(&c->kernel, f->id);
}

static uint32_t stack_id(struct encoder *enc, const struct import_frames *f)
{
	enum chainlog_stack_end end = f->cut ? ENCODER_STACK_CUT : CHAINLOG_STACK_UNKNOWN;

	return f->n ? encoder_stack(enc, f->id, f->n, end) : 0;
}

void import_chain_end(struct import_chain *c, struct encoder *enc)
{
	push_inlined(c, c->kernel.n && !c->user.n ? &c->kernel : &c->user);
	/* perf's own limit: frames beyond it were not recorded. */
	if (c->n >= CHAINLOG_STACK_MAX)
		*(c->user.n ? &c->user.cut : &c->kernel.cut) = true;
	c->stack.kthread = c->stack.kthread && !c->user.n;
	c->stack.kstack = stack_id(enc, &c->kernel);
	c->stack.ustack = stack_id(enc, &c->user);
}
