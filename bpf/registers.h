/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * registers.h - all that the BPF side knows of an architecture: what user code had in its registers
 * when it entered the kernel, where a signal frame has them, where return addresses are, and how
 * large kernel stacks are. Part of chaincap.bpf.c. Registers have DWARF's numbers.
 */
#pragma once

/* How a system call says where it reads to, or writes from. */
enum read_call {
	READ_OTHER,
	READ_BUFFER,	 /* argument 1: the address */
	READ_PARTS,	 /* arguments 1 and 2: an array of struct iovec and its length */
	READ_MESSAGE,	 /* argument 1: a struct msghdr */
	READ_MESSAGES,	 /* arguments 1 and 2: an array of these and its length */
	READ_SOCKETCALL, /* i386: argument 0 says how, argument 1 has the call's own arguments */
};

#if defined(__TARGET_ARCH_x86)

#define REGISTERS_SIZE 168u /* of what user code sees of struct pt_regs */
#define DWARF_FP 6
#define DWARF_SP 7
#define USER_END 0x7ffffffff000UL /* of the addresses that user code has, with 4-level tables */
#define USER64_CS 0x33		  /* __USER_CS of x86-64; 32-bit code has another one */

/* struct rt_sigframe: sp is at its ucontext; where the registers are in it. */
#define SIGNAL_FP 120
#define SIGNAL_SP 160
#define SIGNAL_PC 168

/* A return address is always on the stack, */
#define HAS_LINK_REGISTER false
#define DWARF_LR DWARF_FP /* never looked at */
#define SIGNAL_LR SIGNAL_FP
/* and as it is. */
#define PLAIN_USER(address) (address)
#define PLAIN_KERNEL(address) (address)

#define STACK_SIZE (16u << 10) /* THREAD_SIZE; where it is more, stacks are walked */
/* The last word of a CPU's own stack says where on the thread's the rest begins. */
#define OWN_STACK_HAS_LINK true

#define user_pc(regs) ((regs)->ip)
#define user_sp(regs) ((regs)->sp)
#define user_fp(regs) ((regs)->bp)
#define user_link(regs) 0ull
/* Where thread-local variables are. */
#define thread_pointer(task) ((__u64)UNTRUSTED(task_struct, task)->thread.fsbase)

static __always_inline bool is_64bit(struct pt_regs *regs)
{
	return (regs->cs & 0xffff) == USER64_CS;
}

/*
 * The instruction `syscall` leaves its return address in rcx. If they differ, a signal handler was
 * set up on the way out of a system call: the pc is the handler's first byte.
 */
static __always_inline bool is_after_syscall(struct pt_regs *regs)
{
	return (long)regs->orig_ax != -1 && regs->cx == regs->ip;
}

#define TS_COMPAT 2 /* in thread_info.status: a 32-bit system call */

/*
 * What lies from here on in the kernel stack of a thread that is not running is what it was when
 * sched_switch was passed: __switch_to_asm() has put its registers below.
 */
#define kept_stack(task)                               \
	(OF(UNTRUSTED(task_struct, task), thread.sp) + \
	 bpf_core_type_size(struct inactive_task_frame))

/* The number of the system call that the thread is in; negative: it is in none. */
static __always_inline long call_number(struct pt_regs *regs)
{
	return (long)regs->orig_ax;
}

static __always_inline bool is_32bit_call(struct task_struct *t, struct pt_regs *regs)
{
	(void)regs;
	return t->thread_info.status & TS_COMPAT;
}

/* The same of registers at an address that is a number; FIELD() is that of memory.h. */
#define saved_call_number(regs) ((long)FIELD(pt_regs, regs, orig_ax))
#define is_saved_32bit(task, regs) (FIELD(task_struct, task, thread_info.status) & TS_COMPAT)
/* Argument i, 0 or 1. */
#define saved_call_arg(regs, is_32, i)                                                    \
	((i)	   ? (is_32) ? (__u32)FIELD(pt_regs, regs, cx) : FIELD(pt_regs, regs, si) \
	       : (is_32) ? (__u32)FIELD(pt_regs, regs, bx)                                \
		   : FIELD(pt_regs, regs, di))

static __always_inline enum read_call read_call_of(long number, bool is_32)
{
	switch (number) {
	case 0:
	case 45: /* recvfrom */
		return is_32 ? READ_OTHER : READ_BUFFER;
	case 3:
	case 371: /* recvfrom */
		return is_32 ? READ_BUFFER : READ_OTHER;
	case 19:
	case 327: /* preadv2 */
		return is_32 ? READ_OTHER : READ_PARTS;
	case 145:
	case 378: /* preadv2 */
		return is_32 ? READ_PARTS : READ_OTHER;
	case 47:
		return is_32 ? READ_OTHER : READ_MESSAGE;
	case 372:
		return is_32 ? READ_MESSAGE : READ_OTHER;
	case 299:
		return is_32 ? READ_OTHER : READ_MESSAGES;
	case 337:
	case 417: /* with times of 64 bits */
		return is_32 ? READ_MESSAGES : READ_OTHER;
	case 102:
		return is_32 ? READ_SOCKETCALL : READ_OTHER;
	default:
		return READ_OTHER;
	}
}

/* The same of calls that write. */
static __always_inline enum read_call write_call_of(long number, bool is_32)
{
	switch (number) {
	case 1:
	case 44: /* sendto */
		return is_32 ? READ_OTHER : READ_BUFFER;
	case 4:
	case 369: /* sendto */
		return is_32 ? READ_BUFFER : READ_OTHER;
	case 20:
	case 328: /* pwritev2 */
		return is_32 ? READ_OTHER : READ_PARTS;
	case 146:
	case 379: /* pwritev2 */
		return is_32 ? READ_PARTS : READ_OTHER;
	case 46:
		return is_32 ? READ_OTHER : READ_MESSAGE;
	case 370:
		return is_32 ? READ_MESSAGE : READ_OTHER;
	case 307:
		return is_32 ? READ_OTHER : READ_MESSAGES;
	case 345:
		return is_32 ? READ_MESSAGES : READ_OTHER;
	default:
		return READ_OTHER;
	}
}

static __always_inline void call_args(struct pt_regs *regs, bool is_32, __u64 args[4])
{
	if (is_32) {
		args[0] = (__u32)regs->bx;
		args[1] = (__u32)regs->cx;
		args[2] = (__u32)regs->dx;
		args[3] = (__u32)regs->si;
		return;
	}
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
}

static __always_inline void copy_registers(__u64 *to, struct pt_regs *regs)
{
	to[0] = regs->ax;
	to[1] = regs->dx;
	to[2] = regs->cx;
	to[3] = regs->bx;
	to[4] = regs->si;
	to[5] = regs->di;
	to[6] = regs->bp;
	to[7] = regs->sp;
	to[8] = regs->r8;
	to[9] = regs->r9;
	to[10] = regs->r10;
	to[11] = regs->r11;
	to[12] = regs->r12;
	to[13] = regs->r13;
	to[14] = regs->r14;
	to[15] = regs->r15;
	to[16] = regs->ip;
}

/* What is read before it in the program is read before it, and what after, after. */
#define read_in_order(p)                            \
	({                                          \
		barrier();                          \
		__u32 __v = *(volatile __u32 *)(p); \
		barrier();                          \
		__v;                                \
	})

/* A number that no other address space ever has. The switch to the thread has read it, too. */
#define space_number(t) (OF(OF(UNTRUSTED(task_struct, t), mm), context.ctx_id))

/* The context of a perf event begins with the registers of what it interrupted: word 17 is cs. */
#define interrupts_user_code(ctx) (((const __u64 *)(ctx))[17] & 3)

#elif defined(__TARGET_ARCH_arm64)

#define REGISTERS_SIZE 272u /* of struct user_pt_regs, with which pt_regs begins */
#define DWARF_FP 29
#define DWARF_LR 30
#define DWARF_SP 31
#define DWARF_PC 32
#define USER_END (1UL << 52)
#define MODE_32BIT 0x10 /* in pstate */

/* struct rt_sigframe: siginfo (128 bytes), then ucontext, with its sigcontext at 176. */
#define SIGNAL_X0 (128 + 176 + 8)
#define SIGNAL_FP (SIGNAL_X0 + DWARF_FP * 8)
#define SIGNAL_LR (SIGNAL_X0 + DWARF_LR * 8)
#define SIGNAL_SP (SIGNAL_X0 + DWARF_SP * 8)
#define SIGNAL_PC (SIGNAL_X0 + DWARF_PC * 8)

/* A function that calls none may leave its return address in x30. */
#define HAS_LINK_REGISTER true
/* The upper bits of a return address may be its signature: bit 55 says what they are without. */
#define PLAIN_USER(address) ((address)&address_mask)
#define PLAIN_KERNEL(address) ((address) | ((__u64)((__s64)((address) << 8) >> 63) & ~address_mask))

#define STACK_SIZE ((__u32)stack_size) /* THREAD_SIZE: see find_stack_size() */
/* The frame that leads from a CPU's own stack to the thread's is not at a fixed place. */
#define OWN_STACK_HAS_LINK false

#define user_pc(regs) ((regs)->pc)
#define user_sp(regs) ((regs)->sp)
#define user_fp(regs) ((regs)->regs[DWARF_FP])
#define user_link(regs) ((regs)->regs[DWARF_LR])
#define thread_pointer(task) ((__u64)UNTRUSTED(task_struct, task)->thread.uw.tp_value)
/* Threads that sleep have no stacks read: page_tables.h. */
#define kept_stack(task) 0ull

static __always_inline bool is_64bit(struct pt_regs *regs)
{
	return !(regs->pstate & MODE_32BIT);
}

/* The kernel forgets the number when it sets up a signal handler. */
static __always_inline bool is_after_syscall(struct pt_regs *regs)
{
	return regs->syscallno >= 0;
}

static __always_inline long call_number(struct pt_regs *regs)
{
	return regs->syscallno;
}

static __always_inline bool is_32bit_call(struct task_struct *t, struct pt_regs *regs)
{
	(void)t;
	return !is_64bit(regs);
}

#define saved_call_number(regs) ((long)FIELD(pt_regs, regs, syscallno))
#define is_saved_32bit(task, regs) (FIELD(pt_regs, regs, pstate) & MODE_32BIT)
#define saved_call_arg(regs, is_32, i) \
	((void)(is_32), (i) ? FIELD(pt_regs, regs, regs[1]) : FIELD(pt_regs, regs, orig_x0))

static __always_inline enum read_call read_call_of(long number, bool is_32)
{
	switch (number) {
	case 63:
	case 207: /* recvfrom */
		return is_32 ? READ_OTHER : READ_BUFFER;
	case 3:
	case 291: /* recv */
	case 292: /* recvfrom */
		return is_32 ? READ_BUFFER : READ_OTHER;
	case 65:
		return is_32 ? READ_OTHER : READ_PARTS;
	case 145:
	case 392: /* preadv2 */
		return is_32 ? READ_PARTS : READ_OTHER;
	case 286: /* preadv2 */
		return is_32 ? READ_OTHER : READ_PARTS;
	case 212:
		return is_32 ? READ_OTHER : READ_MESSAGE;
	case 297:
		return is_32 ? READ_MESSAGE : READ_OTHER;
	case 243:
		return is_32 ? READ_OTHER : READ_MESSAGES;
	case 365:
	case 417: /* with times of 64 bits */
		return is_32 ? READ_MESSAGES : READ_OTHER;
	default:
		return READ_OTHER;
	}
}

/* The same of calls that write. */
static __always_inline enum read_call write_call_of(long number, bool is_32)
{
	switch (number) {
	case 64:
	case 206: /* sendto */
		return is_32 ? READ_OTHER : READ_BUFFER;
	case 4:
	case 289: /* send */
	case 290: /* sendto */
		return is_32 ? READ_BUFFER : READ_OTHER;
	case 66:
	case 287: /* pwritev2 */
		return is_32 ? READ_OTHER : READ_PARTS;
	case 146:
	case 393: /* pwritev2 */
		return is_32 ? READ_PARTS : READ_OTHER;
	case 211:
		return is_32 ? READ_OTHER : READ_MESSAGE;
	case 296:
		return is_32 ? READ_MESSAGE : READ_OTHER;
	case 269:
		return is_32 ? READ_OTHER : READ_MESSAGES;
	case 374:
		return is_32 ? READ_MESSAGES : READ_OTHER;
	default:
		return READ_OTHER;
	}
}

static __always_inline void call_args(struct pt_regs *regs, bool is_32, __u64 args[4])
{
	(void)is_32;
	args[0] = regs->orig_x0;
	args[1] = regs->regs[1];
	args[2] = regs->regs[2];
	args[3] = regs->regs[3];
}

static __always_inline void copy_registers(__u64 *to, struct pt_regs *regs)
{
#pragma unroll
	for (int i = 0; i < DWARF_SP; i++)
		to[i] = regs->regs[i];
	to[DWARF_SP] = regs->sp;
	to[DWARF_PC] = regs->pc;
}

/* As above: an atomic operation with a result orders all others. */
#define read_in_order(p) __sync_fetch_and_add(p, 0)

/* The address space's own number is given again: by start and exec of the process. */
#define space_number(t) \
	(OF(OF(UNTRUSTED(task_struct, t), group_leader), start_time) + OF(t, self_exec_id))

/* The context of a perf event begins with user_pt_regs: word 33 is pstate; EL0 has mode 0. */
#define interrupts_user_code(ctx) (!(((const __u64 *)(ctx))[33] & 0xf))

#else
#error "registers of x86-64 and arm64 only"
#endif

/* The registers with which t entered the kernel; NULL if not available, or 32-bit code's. */
static __always_inline struct pt_regs *user_registers(struct task_struct *t)
{
	struct pt_regs *regs;

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return NULL;
	regs = (void *)bpf_task_pt_regs(t);
	return is_64bit(regs) ? regs : NULL;
}

/* The address by which the leaf is looked up: in a system call the one before the pc, else the pc.
 */
static __always_inline __u64 leaf_look(struct pt_regs *regs)
{
	__u64 pc = user_pc(regs);

	return is_after_syscall(regs) ? pc - 1 : pc;
}
