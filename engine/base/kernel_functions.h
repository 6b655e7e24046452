/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_functions.h - what is known of kernel functions by their names: which ones enter an
 * interrupt, which ones wait for work, which ones are there in every sleep. It owns the one table
 * of them; which conclusions are drawn from a whole stack is up to words/kernel_stacks.h and
 * import/import_chain.h.
 */
#pragma once

#include <stdbool.h>

enum kernel_function {
	KFUNC_IRQ_ENTRY = 1 << 0,   /* entry of an interrupt */
	KFUNC_IRQ_INSIDE = 1 << 1,  /* runs in interrupts only, nearer to the leaf than the entry */
	KFUNC_OWN_WORK = 1 << 2,    /* a thread runs it itself: softirqs, return to user mode */
	KFUNC_IDLE_LOOP = 1 << 3,   /* the idle loop */
	KFUNC_DISPATCH = 1 << 4,    /* calls interrupt, softirq or timer handlers by pointer */
	KFUNC_WAKE = 1 << 5,	    /* wakes a thread, so it is no handler */
	KFUNC_SLEEP_PATH = 1 << 6,  /* lies between the function that waits and the scheduler */
	KFUNC_AWAITS_WORK = 1 << 7, /* a thread that sleeps in it has nothing to do */
	KFUNC_TRACING = 1 << 8,	    /* runs only because switches and wakeups are traced */
	KFUNC_KTHREAD = 1 << 9,	    /* root of kernel threads */
	KFUNC_REMOTE_WAKE = 1 << 10, /* wakes for another CPU, so the waker is not in its stack */
	/* The same in nearly all stacks: scheduler, entry code, system calls of languages, start.
	 */
	KFUNC_PLUMBING = 1 << 11,
	/* Handles an interrupt; threads run it as well, for resent, nested and threaded ones. */
	KFUNC_IRQ_FLOW = 1 << 12,
	KFUNC_THREAD_ROOT = 1 << 13,   /* where a thread begins: no interrupt is below it */
	KFUNC_EVENT_LOOP = 1 << 14,    /* waits for work, or for the answer to a question */
	KFUNC_TIMER = 1 << 15,	       /* calls what is due when a timer expires */
	KFUNC_NETWORK = 1 << 16,       /* the way of packets that were received */
	KFUNC_REQUEST = 1 << 17,       /* ends block requests, after telling the recorder */
	KFUNC_PIPE = 1 << 18,	       /* uses a pipe or a unix socket, or closes it */
	KFUNC_DELIVERER = 1 << 19,     /* the loop of a thread that receives packets for others */
	KFUNC_SENDS_NOTHING = 1 << 20, /* softirqs that run where it allows them are others' */
	/* A softirq that has nothing to do with the thread that runs it. */
	KFUNC_SOFTIRQ_OF_OTHERS = 1 << 21,
	KFUNC_SENDS_SIGNAL = 1 << 22,  /* also a signal that ends the thread which gets it */
	KFUNC_TAKES_SIGNAL = 1 << 23,  /* in which a thread dies that a signal ends */
	KFUNC_ENDS_PROCESS = 1 << 25,  /* ends all other threads of a process */
	KFUNC_ENDS_THREAD = 1 << 24,   /* the end of a thread, and the dump of its memory before */
	KFUNC_AWAITS_SIGNAL = 1 << 26, /* in which a thread sleeps until a signal comes */
	KFUNC_CONNECTS = 1 << 27,      /* tells a listening socket of a connection */
	/* Before a system call begins, or when it, an exception or an interrupt is over. */
	KFUNC_OUTSIDE_CALL = 1 << 28,
	KFUNC_IO_LIMIT = 1 << 29,     /* asks disks for what an I/O limit held back */
	KFUNC_POLLS_DEVICE = 1 << 30, /* calls the function by which a device receives packets */
};

/*
 * The flags (enum kernel_function, or-ed) of a symbol, 0 if it is not in the table. A copy that the
 * compiler made of a function (name.part.0, .isra.0, .constprop.0) has the function's flags.
 */
unsigned int kernel_function_flags(const char *symbol);
/* Whether it is the entry of a fault or a trap, which is the doing of the thread in which it is. */
bool kernel_function_enters_exception(const char *symbol);
/* Whether a thread that sleeps in it waits until readers of RCU are done, or callbacks have run. */
bool kernel_function_awaits_rcu(const char *symbol);

/*
 * Whether it is the loop of a kernel thread that does what others ask for, and then tells these;
 * one that sleeps in it is not in the midst of that.
 */
bool kernel_function_serves(const char *symbol);
