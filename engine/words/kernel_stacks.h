/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_stacks.h - what the function names in a kernel stack reveal: in what context a waker woke
 * (chain-semantics, section 3), which handler an interrupt ran, whether a sleeping thread waits for
 * work. It keeps what base/kernel_functions.h knows of each frame, and the context of each stack.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "timeline/timeline.h"

struct kernel_stacks;

enum irq_source {
	IRQ_OTHER,   /* something else, or not known */
	IRQ_TIMER,   /* a timer that expired */
	IRQ_NETWORK, /* packets that were received */
	IRQ_REQUEST, /* a block device that was done with something */
	IRQ_SOURCES,
};

/*
 * A waker is a task, which is then the cause; or an interrupt that borrowed the current thread's
 * CPU. The frames below the interrupt belong to a thread that has nothing to do with the wakeup.
 * ksoftirqd and other threads that receive packets for everybody count as an interrupt then.
 */
struct waker_context {
	bool interrupt;
	enum irq_source source; /* of an interrupt: what it had to say */
	uint32_t frames; /* of the kernel stack, from the leaf on, that belong to the waker */
};

/* 0 or -ENOMEM, with *out NULL. t must outlive it. */
void kernel_stacks_new(struct kernel_stacks **out, const struct trace *t);
void kernel_stacks_free(struct kernel_stacks *k);

/* enum kernel_function, or-ed, of a frame of any stack. */
unsigned int kernel_frame_flags(struct kernel_stacks *k, uint32_t frame);
/* The context of the waking that ended w, a WAIT_SLEEP with a waker. */
struct waker_context waker_context(struct kernel_stacks *k, const struct timelines *tl,
				   const struct wait *w);
/*
 * The handler (frame id) of an interrupt that owns the leaf-most `frames` frames of a kernel stack:
 * the function that the kernel's interrupt, softirq or timer code called. The root-most frame if
 * none of that code is among them; 0 if there are no frames.
 */
uint32_t irq_handler(struct kernel_stacks *k, uint32_t kstack, uint32_t frames);
/*
 * What is known (enum kernel_function) of the function in which a thread with this kernel stack
 * sleeps, the one that called the scheduler: a worker that sleeps in the midst of its work has its
 * loop on the stack, too, and is not waiting for work.
 */
unsigned int kernel_stack_wait_flags(struct kernel_stacks *k, uint32_t kstack);
/* Whether that function is kernel_function_serves(). */
bool kernel_stack_serves(struct kernel_stacks *k, uint32_t kstack);
/* What is known of any of the n leaf-most functions of a kernel stack, or-ed. */
unsigned int kernel_stack_flags(struct kernel_stacks *k, uint32_t kstack, uint32_t n);
/* Whether the waker that ended w, a task, was using or leaving a pipe or a unix socket. */
bool waker_uses_pipe(struct kernel_stacks *k, const struct timelines *tl, const struct wait *w);
