// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel_functions.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "idle_functions.h"

#define NAMES(...)                \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

/* A name that ends in '*' stands for all names with this beginning; all that fit count. */
static const struct {
	unsigned int flags;
	const char *const *names;
} known[] = {
	/*
	 * Entries of interrupts. x86-64 since 5.8: the asm_ stubs of DEFINE_IDTENTRY_IRQ and
	 * _SYSVEC (arch/x86/include/asm/idtentry.h) and the C functions that they call; before
	 * that: arch/x86/entry/entry_64.S. arm64: entry.S and entry-common.c. riscv, s390, powerpc,
	 * arm: their entry code.
	 */
	{ KFUNC_IRQ_ENTRY, NAMES("asm_common_interrupt", "asm_spurious_interrupt", "asm_sysvec_*",
				 "asm_exc_nmi", "asm_exc_xen_hypervisor_callback",
				 "common_interrupt", "spurious_interrupt", "sysvec_*", "exc_nmi") },
	/*
	 * x86-64 with FRED, since 6.9 (arch/x86/entry/entry_fred.c): all events have one entry,
	 * which calls fred_extint() for interrupts; that may be inlined.
	 */
	{ KFUNC_IRQ_ENTRY,
	  NAMES("fred_extint", "fred_sysvec_*", "fred_exc_nmi", "ret_from_intr",
		"apic_timer_interrupt", "reschedule_interrupt", "call_function_interrupt",
		"call_function_single_interrupt", "irq_work_interrupt", "hyperv_callback_vector",
		"hv_stimer0_callback_vector", "xen_hvm_callback_vector",
		"xen_do_hypervisor_callback", "el0_irq", "el1_irq", "el0_irq_naked",
		"el0_irq_compat", "el0_interrupt", "el1_interrupt", "__el1_irq", "el0t_64_irq*",
		"el0t_64_fiq*", "el0t_32_irq*", "el0t_32_fiq*", "el1h_64_irq*", "el1h_64_fiq*",
		"el1t_64_irq*", "__el0_irq_handler_common", "__irq_svc", "__irq_usr", "do_irq",
		"handle_riscv_irq", "do_ext_irq", "do_io_irq", "ext_int_handler", "io_int_handler",
		"hardware_interrupt_common*", "decrementer_common*", "doorbell_super_common*") },
	/* Between an entry and the handler. */
	{ KFUNC_IRQ_INSIDE, NAMES("__common_interrupt", "__sysvec_*") },
	{ KFUNC_IRQ_INSIDE | KFUNC_TIMER, NAMES("hrtimer_interrupt") },
	{ KFUNC_IRQ_INSIDE, NAMES("__irq_exit_rcu", "irq_exit_rcu", "irq_exit") },
	/* kernel/irq/{irqdesc,chip,handle}.c: also from run_ksoftirqd, irq_thread, workers. */
	{ KFUNC_IRQ_FLOW, NAMES("generic_handle_irq", "generic_handle_domain_irq",
				"handle_edge_irq", "handle_fasteoi_irq", "handle_irq_event") },
	{ KFUNC_IRQ_FLOW | KFUNC_DISPATCH, NAMES("__handle_irq_event_percpu") },
	/* arch/x86/entry/entry_64.S, arch/arm64/kernel/entry.S, kernel/kthread.c. */
	{ KFUNC_THREAD_ROOT,
	  NAMES("ret_from_fork", "ret_from_fork_asm", "ret_from_kernel_thread", "kthread") },
	/* The same of user code; in the plumbing as well. */
	{ KFUNC_THREAD_ROOT,
	  NAMES("__clone3", "clone3", "clone", "_start", "__libc_start_*", "start_thread") },
	/* Softirqs that a thread runs where it allows them again. */
	{ KFUNC_OWN_WORK, NAMES("__local_bh_enable_ip", "do_softirq") },
	/*
	 * Before these allow them (net/ipv4/udp.c, net/core/sock.c, arch/x86/kernel/fpu) they have
	 * sent nothing that could be received there.
	 */
	{ KFUNC_SENDS_NOTHING,
	  NAMES("__skb_recv_udp", "lock_sock_nested", "copy_fpstate_to_sigframe",
		"restore_fpregs_from_user", "fpu_clone", "kernel_fpu_end") },
	/*
	 * Softirqs but the network's, and what they end in by a tail call: block/blk-mq.c,
	 * lib/irq_poll.c, kernel/time/{timer,hrtimer,timer_migration}.c, kernel/rcu/tree.c,
	 * kernel/softirq.c, kernel/workqueue.c.
	 */
	{ KFUNC_SOFTIRQ_OF_OTHERS,
	  NAMES("blk_done_softirq", "blk_complete_reqs", "irq_poll_softirq", "run_timer_softirq",
		"run_timer_base", "tmigr_handle_remote", "hrtimer_run_softirq", "rcu_core",
		"rcu_core_si", "tasklet_action", "tasklet_hi_action", "tasklet_action_common",
		"workqueue_softirq_action") },
	/* kernel/softirq.c, net/core/dev.c: threads that do the network's work for others. */
	{ KFUNC_DELIVERER, NAMES("run_ksoftirqd", "napi_threaded_poll*", "run_backlog_napi") },
	/* After an interrupt, on the way back to user mode, the thread itself runs again. */
	{ KFUNC_OWN_WORK,
	  NAMES("irqentry_exit_to_user_mode", "exit_to_user_mode_prepare", "exit_to_user_mode_loop",
		"arch_do_signal_or_restart", "do_notify_resume", "task_work_run") },
	/* The idle loop and what starts it. */
	{ KFUNC_IDLE_LOOP,
	  NAMES("do_idle", "cpu_startup_entry", "cpu_idle_loop", "cpuidle_idle_call", "rest_init",
		"start_secondary", "secondary_start_kernel") },
	/*
	 * kernel/time/{hrtimer,timer}.c, kernel/irq/handle.c, kernel/softirq.c, kernel/irq_work.c,
	 * kernel/smp.c, kernel/rcu/tree.c, net/core/dev.c.
	 */
	{ KFUNC_DISPATCH | KFUNC_TIMER,
	  NAMES("__hrtimer_run_queues", "call_timer_fn", "expire_timers") },
	{ KFUNC_DISPATCH,
	  NAMES("handle_irq_event_percpu", "handle_softirqs" /* before 6.6 __do_softirq */,
		"__do_softirq", "tasklet_action_common*", "irq_work_single", "irq_work_run_list",
		"__flush_smp_call_function_queue", "flush_smp_call_function_queue",
		"rcu_do_batch") },
	{ KFUNC_DISPATCH | KFUNC_NETWORK, NAMES("__napi_poll") },
	/*
	 * More of what expires timers, where the ones above are inlined; and of what receives
	 * packets: net/core/dev.c, net/core/gro.c.
	 */
	{ KFUNC_TIMER, NAMES("hrtimer_run_queues", "hrtimer_run_softirq", "__run_timers",
			     "__run_timer_base", "run_timer_base", "run_timer_softirq",
			     "timer_expire_remote", "tick_handle_periodic") },
	{ KFUNC_NETWORK,
	  NAMES("net_rx_action", "napi_poll", "process_backlog", "netif_receive_skb*",
		"__netif_receive_skb*", "napi_gro_receive*", "gro_receive_skb",
		/* what __napi_poll() calls itself, and devices of this machine's own packets */
		"gro_flush*", "__gro_flush*", "napi_gro_flush*", "__napi_gro_flush*",
		"gro_normal_list*", "veth_poll", "tun_napi_poll", "gro_cell_poll", "nsim_poll") },
	{ KFUNC_POLLS_DEVICE, NAMES("__napi_poll", "napi_poll", "net_rx_action") },
	/*
	 * Not the kernel's: an import of Go's trace says with these what Go's runtime wakes for by
	 * itself, in src/runtime/{time,netpoll}.go.
	 */
	{ KFUNC_TIMER, NAMES("runtime.runtimer") },
	{ KFUNC_NETWORK, NAMES("runtime.netpoll") },
	/* block/blk-mq.c: what has block_rq_complete, and callers into which it may be inlined */
	{ KFUNC_REQUEST, NAMES("blk_update_request", "blk_mq_end_request",
			       "blk_mq_end_request_batch", "blk_complete_request") },
	/* Wakeups. */
	{ KFUNC_WAKE | KFUNC_PLUMBING,
	  NAMES("try_to_wake_up", "wake_up_process", "default_wake_function") },
	{ KFUNC_PLUMBING,
	  NAMES("wake_up_q", "wake_up_state", "ttwu_*", "__wake_up*", "autoremove_wake_function",
		"woken_wake_function", "swake_up_*", "__swake_up*") },
	/* From the function that waits into the scheduler. */
	{ KFUNC_SLEEP_PATH | KFUNC_PLUMBING, NAMES("__schedule", "schedule", "schedule_*") },
	{ KFUNC_SLEEP_PATH, NAMES("schedule*") },
	{ KFUNC_SLEEP_PATH | KFUNC_PLUMBING, NAMES("io_schedule*") },
	{ KFUNC_SLEEP_PATH,
	  NAMES("usleep_range*", "msleep*", "wait_woken", "__kthread_parkme", "kthread_parkme") },
	/* accept() on a unix socket receives a datagram. */
	{ KFUNC_SLEEP_PATH,
	  NAMES("__skb_wait_for_more_packets", "__skb_recv_datagram", "skb_recv_datagram") },
	/*
	 * Functions in which a thread waits for work. A function that compilers may inline is here
	 * together with its caller.
	 *
	 * Not here, because threads as often wait for an answer in them: futex, read, recv, poll,
	 * select, nanosleep, io_uring_enter, wait4, pause. The manual page lists what is here.
	 */
	/* kernel threads: their loops, and those that are parked or not started yet */
	{ KFUNC_AWAITS_WORK | KFUNC_KTHREAD, NAMES("kthread", "kthreadd") },
	{ KFUNC_AWAITS_WORK, NAMES(KERNEL_LOOPS) },
	/* threads of programs: event loops, and waits for a connection or a signal */
	{ KFUNC_EVENT_LOOP, NAMES("do_epoll_wait", "ep_poll") },
	{ KFUNC_AWAITS_WORK, NAMES(WAITS_FOR_PEERS) },
	/* net/ipv4/tcp_minisocks.c, net/unix/af_unix.c: sk_data_ready() of the listening socket */
	{ KFUNC_CONNECTS, NAMES("tcp_child_process", "unix_stream_connect") },
	/*
	 * On top of a switch or a wakeup that is traced: the tracepoint's caller of its probes,
	 * probes of perf and ftrace, BPF programs.
	 */
	{ KFUNC_TRACING | KFUNC_PLUMBING, NAMES("__traceiter_sched_*") },
	{ KFUNC_TRACING,
	  NAMES("perf_trace_*", "trace_event_raw_event_*", "trace_event_buffer_*", "__bpf_trace_*",
		"bpf_trace_run*", "bpf_prog_*", "bpf_trampoline_*", "bpf_get_stack*",
		"trace_call_bpf", "perf_tp_event", "perf_swevent_*", "perf_callchain*",
		"get_perf_callchain", "perf_prepare_sample", "perf_event_output*",
		"__perf_event_output", "probe_sched_*", "__do_trace_sched_*", "__SCT__tp_func_*") },
	/* Runs on the wakee's CPU, on behalf of a waker on another one. */
	{ KFUNC_REMOTE_WAKE, NAMES("sched_ttwu_pending") },
	/* fs/pipe.c, and splice() between two pipes, which wakes by a function of its own. */
	{ KFUNC_PIPE, NAMES("pipe_write", "pipe_read", "pipe_release", "anon_pipe_write",
			    "anon_pipe_read", "fifo_pipe_write", "fifo_pipe_read",
			    "wakeup_pipe_readers", "wakeup_pipe_writers") },
	/* net/unix/af_unix.c */
	{ KFUNC_PIPE, NAMES("unix_stream_sendmsg", "unix_dgram_sendmsg", "unix_stream_read_generic",
			    "unix_dgram_recvmsg", "__unix_dgram_recvmsg", "unix_shutdown",
			    "unix_release_sock") },
	/*
	 * kernel/entry/common.c, kernel/seccomp.c, arch/arm64/kernel/ptrace.c; and what is done on
	 * the way back to user mode, signals and task work.
	 */
	{ KFUNC_OUTSIDE_CALL,
	  NAMES("syscall_trace_enter*", "syscall_enter_from_user_mode*", "__secure_computing",
		"__seccomp_filter", "seccomp_do_user_notification", "syscall_exit_work",
		"syscall_exit_to_user_mode*", "irqentry_exit_to_user_mode", "exit_to_user_mode_*",
		"do_notify_resume", "arch_do_signal_or_restart", "do_signal", "get_signal",
		"task_work_run") },
	/*
	 * kernel/signal.c, fs/coredump.c: what wakes threads that a signal ends, also those whose
	 * process another thread ends (exit_group, exec), but not what continues stopped ones
	 * (prepare_signal); and where these threads then are.
	 */
	{ KFUNC_SENDS_SIGNAL, NAMES("complete_signal", "signal_wake_up_state", "zap_other_threads",
				    "zap_process", "zap_threads", "coredump_wait") },
	{ KFUNC_ENDS_PROCESS, NAMES("zap_other_threads") },
	{ KFUNC_TAKES_SIGNAL, NAMES("get_signal") },
	{ KFUNC_AWAITS_SIGNAL, NAMES("sigsuspend", "do_sigtimedwait") },
	{ KFUNC_IO_LIMIT, NAMES("blk_throtl_dispatch_work_fn") },
	{ KFUNC_ENDS_THREAD, NAMES("do_exit", "do_coredump", "vfs_coredump", "coredump_wait") },
	/* System call entries; where threads and programs start. */
	{ KFUNC_PLUMBING,
	  NAMES("preempt_schedule*", "__cond_resched", "_cond_resched", "__x64_sys_*",
		"__arm64_sys_*", "__se_sys_*", "__do_sys_*", "do_syscall_64", "x64_sys_call",
		"entry_SYSCALL_64*", "do_syscall_*", "fred_entry_from_user",
		"fred_entry_from_kernel", "asm_fred_entrypoint_*", "el0_svc*", "el0t_64_sync*",
		"invoke_syscall*", "ret_from_fork*", "syscall_exit_to_user_mode",
		"exit_to_user_mode_*", "__syscall_*", "__clone3", "clone3", "clone", "_start",
		"__libc_start_*", "start_thread") },
	/* Between Go's functions that are system calls, as syscall.Fsync, and the kernel. */
	{ KFUNC_PLUMBING,
	  NAMES("runtime/internal/syscall.Syscall*", "internal/runtime/syscall.Syscall*",
		"syscall.Syscall*", "syscall.RawSyscall*", "syscall.rawSyscall*",
		"syscall.rawVforkSyscall", "golang.org/x/sys/unix.Syscall*",
		"golang.org/x/sys/unix.RawSyscall*") },
};

/* Each has a bit of its own: compilers refuse a case that is there twice, and tell which lacks. */
__attribute__((unused)) static void each_has_a_bit(enum kernel_function flag)
{
	switch (flag) {
	case KFUNC_IRQ_ENTRY:
	case KFUNC_IRQ_INSIDE:
	case KFUNC_OWN_WORK:
	case KFUNC_IDLE_LOOP:
	case KFUNC_DISPATCH:
	case KFUNC_WAKE:
	case KFUNC_SLEEP_PATH:
	case KFUNC_AWAITS_WORK:
	case KFUNC_TRACING:
	case KFUNC_KTHREAD:
	case KFUNC_REMOTE_WAKE:
	case KFUNC_PLUMBING:
	case KFUNC_IRQ_FLOW:
	case KFUNC_THREAD_ROOT:
	case KFUNC_EVENT_LOOP:
	case KFUNC_TIMER:
	case KFUNC_NETWORK:
	case KFUNC_REQUEST:
	case KFUNC_PIPE:
	case KFUNC_DELIVERER:
	case KFUNC_SENDS_NOTHING:
	case KFUNC_SOFTIRQ_OF_OTHERS:
	case KFUNC_SENDS_SIGNAL:
	case KFUNC_TAKES_SIGNAL:
	case KFUNC_ENDS_PROCESS:
	case KFUNC_ENDS_THREAD:
	case KFUNC_AWAITS_SIGNAL:
	case KFUNC_CONNECTS:
	case KFUNC_OUTSIDE_CALL:
	case KFUNC_IO_LIMIT:
	case KFUNC_POLLS_DEVICE:
		break;
	}
}

static bool fits(const char *symbol, const char *name)
{
	size_t len = strlen(name);

	if (name[len - 1] == '*')
		return !strncmp(symbol, name, len - 1);
	return !strncmp(symbol, name, len) && (!symbol[len] || symbol[len] == '.');
}

unsigned int kernel_function_flags(const char *symbol)
{
	unsigned int flags = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		for (const char *const *name = known[i].names; *name; name++)
			if (*symbol == **name && fits(symbol, *name))
				flags |= known[i].flags;
	return flags;
}

static bool fits_one(const char *symbol, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fits(symbol, names[i]))
			return true;
	return false;
}

/* arch/x86/include/asm/idtentry.h, arch/arm64/kernel/entry.S. */
bool kernel_function_enters_exception(const char *symbol)
{
	static const char *const names[] = { "asm_exc_*", "el1h_64_sync", "el1_sync" };

	return fits_one(symbol, names, sizeof(names) / sizeof(names[0]));
}

/*
 * kernel/rcu/{tree,tree_exp,srcutree,update}.c, tasks.h; mm/slab_common.c, net/core/dev.c,
 * lib/percpu-refcount.c, which call these; synchronize_sched() up to 4.20.
 */
bool kernel_function_awaits_rcu(const char *symbol)
{
	static const char *const names[] = {
		"rcu_barrier*",	       "srcu_barrier",
		"synchronize_rcu*",    "synchronize_srcu*",
		"__synchronize_srcu",  "synchronize_net",
		"__wait_rcu_gp",       "cond_synchronize_rcu*",
		"kvfree_rcu_barrier*", "percpu_ref_switch_to_atomic_sync",
		"synchronize_sched",   "rcu_sync_enter"
	};

	return fits_one(symbol, names, sizeof(names) / sizeof(names[0]));
}

bool kernel_function_serves(const char *symbol)
{
	static const char *const loops[] = { "kthreadd",
					     "kthread_worker_fn",
					     "smpboot_thread_fn",
					     "worker_thread",
					     "rescuer_thread",
					     "irq_thread",
					     "irq_wait_for_interrupt",
					     "kswapd",
					     "kswapd_try_to_sleep",
					     "kcompactd",
					     "oom_reaper",
					     "devtmpfsd",
					     "devtmpfs_work_loop",
					     "kjournald2",
					     "dmcrypt_write",
					     "md_thread",
					     "scsi_error_handler",
					     "mmc_queue_thread",
					     "svc_recv",
					     "vhost_worker",
					     "vhost_task_fn",
					     "vhost_run_work_list",
					     "io_wq_worker",
					     "io_sq_thread" };

	return fits_one(symbol, loops, sizeof(loops) / sizeof(loops[0]));
}
