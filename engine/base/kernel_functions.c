// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel_functions.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A name that ends in '*' stands for all names with this beginning; all rows that fit count. */
static const struct {
	const char *name;
	unsigned int flags;
} known[] = {
	/*
	 * Entries of interrupts. x86-64 since 5.8: the asm_ stubs of DEFINE_IDTENTRY_IRQ and
	 * _SYSVEC (arch/x86/include/asm/idtentry.h) and the C functions that they call; before
	 * that: arch/x86/entry/entry_64.S. arm64: entry.S and entry-common.c. riscv, s390, powerpc,
	 * arm: their entry code.
	 */
	{ "asm_common_interrupt", KFUNC_IRQ_ENTRY },
	{ "asm_spurious_interrupt", KFUNC_IRQ_ENTRY },
	{ "asm_sysvec_*", KFUNC_IRQ_ENTRY },
	{ "asm_exc_nmi", KFUNC_IRQ_ENTRY },
	{ "asm_exc_xen_hypervisor_callback", KFUNC_IRQ_ENTRY },
	{ "common_interrupt", KFUNC_IRQ_ENTRY },
	{ "spurious_interrupt", KFUNC_IRQ_ENTRY },
	{ "sysvec_*", KFUNC_IRQ_ENTRY },
	{ "exc_nmi", KFUNC_IRQ_ENTRY },
	/*
	 * x86-64 with FRED, since 6.9 (arch/x86/entry/entry_fred.c): all events have one entry,
	 * which calls fred_extint() for interrupts; that may be inlined.
	 */
	{ "fred_extint", KFUNC_IRQ_ENTRY },
	{ "fred_sysvec_*", KFUNC_IRQ_ENTRY },
	{ "fred_exc_nmi", KFUNC_IRQ_ENTRY },
	{ "ret_from_intr", KFUNC_IRQ_ENTRY },
	{ "apic_timer_interrupt", KFUNC_IRQ_ENTRY },
	{ "reschedule_interrupt", KFUNC_IRQ_ENTRY },
	{ "call_function_interrupt", KFUNC_IRQ_ENTRY },
	{ "call_function_single_interrupt", KFUNC_IRQ_ENTRY },
	{ "irq_work_interrupt", KFUNC_IRQ_ENTRY },
	{ "hyperv_callback_vector", KFUNC_IRQ_ENTRY },
	{ "hv_stimer0_callback_vector", KFUNC_IRQ_ENTRY },
	{ "xen_hvm_callback_vector", KFUNC_IRQ_ENTRY },
	{ "xen_do_hypervisor_callback", KFUNC_IRQ_ENTRY },
	{ "el0_irq", KFUNC_IRQ_ENTRY },
	{ "el1_irq", KFUNC_IRQ_ENTRY },
	{ "el0_irq_naked", KFUNC_IRQ_ENTRY },
	{ "el0_irq_compat", KFUNC_IRQ_ENTRY },
	{ "el0_interrupt", KFUNC_IRQ_ENTRY },
	{ "el1_interrupt", KFUNC_IRQ_ENTRY },
	{ "__el1_irq", KFUNC_IRQ_ENTRY },
	{ "el0t_64_irq*", KFUNC_IRQ_ENTRY },
	{ "el0t_64_fiq*", KFUNC_IRQ_ENTRY },
	{ "el0t_32_irq*", KFUNC_IRQ_ENTRY },
	{ "el0t_32_fiq*", KFUNC_IRQ_ENTRY },
	{ "el1h_64_irq*", KFUNC_IRQ_ENTRY },
	{ "el1h_64_fiq*", KFUNC_IRQ_ENTRY },
	{ "el1t_64_irq*", KFUNC_IRQ_ENTRY },
	{ "__el0_irq_handler_common", KFUNC_IRQ_ENTRY },
	{ "__irq_svc", KFUNC_IRQ_ENTRY },
	{ "__irq_usr", KFUNC_IRQ_ENTRY },
	{ "do_irq", KFUNC_IRQ_ENTRY },
	{ "handle_riscv_irq", KFUNC_IRQ_ENTRY },
	{ "do_ext_irq", KFUNC_IRQ_ENTRY },
	{ "do_io_irq", KFUNC_IRQ_ENTRY },
	{ "ext_int_handler", KFUNC_IRQ_ENTRY },
	{ "io_int_handler", KFUNC_IRQ_ENTRY },
	{ "hardware_interrupt_common*", KFUNC_IRQ_ENTRY },
	{ "decrementer_common*", KFUNC_IRQ_ENTRY },
	{ "doorbell_super_common*", KFUNC_IRQ_ENTRY },
	/* Between an entry and the handler. */
	{ "__common_interrupt", KFUNC_IRQ_INSIDE },
	{ "__sysvec_*", KFUNC_IRQ_INSIDE },
	{ "hrtimer_interrupt", KFUNC_IRQ_INSIDE | KFUNC_TIMER },
	{ "__irq_exit_rcu", KFUNC_IRQ_INSIDE },
	{ "irq_exit_rcu", KFUNC_IRQ_INSIDE },
	{ "irq_exit", KFUNC_IRQ_INSIDE },
	/* kernel/irq/{irqdesc,chip,handle}.c: also from run_ksoftirqd, irq_thread, workers. */
	{ "generic_handle_irq", KFUNC_IRQ_FLOW },
	{ "generic_handle_domain_irq", KFUNC_IRQ_FLOW },
	{ "handle_edge_irq", KFUNC_IRQ_FLOW },
	{ "handle_fasteoi_irq", KFUNC_IRQ_FLOW },
	{ "handle_irq_event", KFUNC_IRQ_FLOW },
	{ "__handle_irq_event_percpu", KFUNC_IRQ_FLOW | KFUNC_DISPATCH },
	/* arch/x86/entry/entry_64.S, arch/arm64/kernel/entry.S, kernel/kthread.c. */
	{ "ret_from_fork", KFUNC_THREAD_ROOT },
	{ "ret_from_fork_asm", KFUNC_THREAD_ROOT },
	{ "ret_from_kernel_thread", KFUNC_THREAD_ROOT },
	{ "kthread", KFUNC_THREAD_ROOT },
	/* Softirqs that a thread runs where it allows them again. */
	{ "__local_bh_enable_ip", KFUNC_OWN_WORK },
	{ "do_softirq", KFUNC_OWN_WORK },
	/*
	 * Before these allow them (net/ipv4/udp.c, net/core/sock.c, arch/x86/kernel/fpu) they have
	 * sent nothing that could be received there.
	 */
	{ "__skb_recv_udp", KFUNC_SENDS_NOTHING },
	{ "lock_sock_nested", KFUNC_SENDS_NOTHING },
	{ "copy_fpstate_to_sigframe", KFUNC_SENDS_NOTHING },
	{ "restore_fpregs_from_user", KFUNC_SENDS_NOTHING },
	{ "fpu_clone", KFUNC_SENDS_NOTHING },
	{ "kernel_fpu_end", KFUNC_SENDS_NOTHING },
	/* kernel/softirq.c, net/core/dev.c: threads that do the network's work for others. */
	{ "run_ksoftirqd", KFUNC_DELIVERER },
	{ "napi_threaded_poll*", KFUNC_DELIVERER },
	{ "run_backlog_napi", KFUNC_DELIVERER },
	/* After an interrupt, on the way back to user mode, the thread itself runs again. */
	{ "irqentry_exit_to_user_mode", KFUNC_OWN_WORK },
	{ "exit_to_user_mode_prepare", KFUNC_OWN_WORK },
	{ "exit_to_user_mode_loop", KFUNC_OWN_WORK },
	{ "arch_do_signal_or_restart", KFUNC_OWN_WORK },
	{ "do_notify_resume", KFUNC_OWN_WORK },
	{ "task_work_run", KFUNC_OWN_WORK },
	/* The idle loop and what starts it. */
	{ "do_idle", KFUNC_IDLE_LOOP },
	{ "cpu_startup_entry", KFUNC_IDLE_LOOP },
	{ "cpu_idle_loop", KFUNC_IDLE_LOOP },
	{ "cpuidle_idle_call", KFUNC_IDLE_LOOP },
	{ "rest_init", KFUNC_IDLE_LOOP },
	{ "start_secondary", KFUNC_IDLE_LOOP },
	{ "secondary_start_kernel", KFUNC_IDLE_LOOP },
	/*
	 * kernel/time/{hrtimer,timer}.c, kernel/irq/handle.c, kernel/softirq.c, kernel/irq_work.c,
	 * kernel/smp.c, kernel/rcu/tree.c, net/core/dev.c.
	 */
	{ "__hrtimer_run_queues", KFUNC_DISPATCH | KFUNC_TIMER },
	{ "call_timer_fn", KFUNC_DISPATCH | KFUNC_TIMER },
	{ "expire_timers", KFUNC_DISPATCH | KFUNC_TIMER },
	{ "handle_irq_event_percpu", KFUNC_DISPATCH },
	{ "handle_softirqs", KFUNC_DISPATCH }, /* before 6.6 __do_softirq */
	{ "__do_softirq", KFUNC_DISPATCH },
	{ "tasklet_action_common*", KFUNC_DISPATCH },
	{ "irq_work_single", KFUNC_DISPATCH },
	{ "irq_work_run_list", KFUNC_DISPATCH },
	{ "__flush_smp_call_function_queue", KFUNC_DISPATCH },
	{ "flush_smp_call_function_queue", KFUNC_DISPATCH },
	{ "rcu_do_batch", KFUNC_DISPATCH },
	{ "__napi_poll", KFUNC_DISPATCH | KFUNC_NETWORK },
	/*
	 * More of what expires timers, where the ones above are inlined; and of what receives
	 * packets: net/core/dev.c, net/core/gro.c.
	 */
	{ "hrtimer_run_queues", KFUNC_TIMER },
	{ "hrtimer_run_softirq", KFUNC_TIMER },
	{ "__run_timers", KFUNC_TIMER },
	{ "__run_timer_base", KFUNC_TIMER },
	{ "run_timer_base", KFUNC_TIMER },
	{ "run_timer_softirq", KFUNC_TIMER },
	{ "timer_expire_remote", KFUNC_TIMER },
	{ "tick_handle_periodic", KFUNC_TIMER },
	{ "net_rx_action", KFUNC_NETWORK },
	{ "napi_poll", KFUNC_NETWORK },
	{ "process_backlog", KFUNC_NETWORK },
	{ "netif_receive_skb*", KFUNC_NETWORK },
	{ "__netif_receive_skb*", KFUNC_NETWORK },
	{ "napi_gro_receive*", KFUNC_NETWORK },
	{ "gro_receive_skb", KFUNC_NETWORK },
	/* block/blk-mq.c: what has block_rq_complete, and callers into which it may be inlined */
	{ "blk_update_request", KFUNC_REQUEST },
	{ "blk_mq_end_request", KFUNC_REQUEST },
	{ "blk_mq_end_request_batch", KFUNC_REQUEST },
	{ "blk_complete_request", KFUNC_REQUEST },
	/* Wakeups. */
	{ "try_to_wake_up", KFUNC_WAKE | KFUNC_PLUMBING },
	{ "wake_up_process", KFUNC_WAKE | KFUNC_PLUMBING },
	{ "default_wake_function", KFUNC_WAKE | KFUNC_PLUMBING },
	{ "wake_up_q", KFUNC_PLUMBING },
	{ "wake_up_state", KFUNC_PLUMBING },
	{ "ttwu_*", KFUNC_PLUMBING },
	{ "__wake_up*", KFUNC_PLUMBING },
	{ "autoremove_wake_function", KFUNC_PLUMBING },
	{ "woken_wake_function", KFUNC_PLUMBING },
	{ "swake_up_*", KFUNC_PLUMBING },
	{ "__swake_up*", KFUNC_PLUMBING },
	/* From the function that waits into the scheduler. */
	{ "__schedule", KFUNC_SLEEP_PATH | KFUNC_PLUMBING },
	{ "schedule", KFUNC_SLEEP_PATH | KFUNC_PLUMBING },
	{ "schedule_*", KFUNC_SLEEP_PATH | KFUNC_PLUMBING },
	{ "schedule*", KFUNC_SLEEP_PATH },
	{ "io_schedule*", KFUNC_SLEEP_PATH | KFUNC_PLUMBING },
	{ "usleep_range*", KFUNC_SLEEP_PATH },
	{ "msleep*", KFUNC_SLEEP_PATH },
	{ "wait_woken", KFUNC_SLEEP_PATH },
	{ "__kthread_parkme", KFUNC_SLEEP_PATH },
	{ "kthread_parkme", KFUNC_SLEEP_PATH },
	/* accept() on a unix socket receives a datagram. */
	{ "__skb_wait_for_more_packets", KFUNC_SLEEP_PATH },
	{ "__skb_recv_datagram", KFUNC_SLEEP_PATH },
	{ "skb_recv_datagram", KFUNC_SLEEP_PATH },
	/*
	 * Functions in which a thread waits for work. A function that compilers may inline is here
	 * together with its caller.
	 *
	 * Not here, because threads as often wait for an answer in them: futex, read, recv, poll,
	 * select, nanosleep, io_uring_enter, wait4, pause. The manual page lists what is here.
	 */
	/* kernel threads: their loops, and those that are parked or not started yet */
	{ "kthread", KFUNC_AWAITS_WORK | KFUNC_KTHREAD },
	{ "kthreadd", KFUNC_AWAITS_WORK | KFUNC_KTHREAD },
	{ "kthread_worker_fn", KFUNC_AWAITS_WORK },
	{ "smpboot_thread_fn", KFUNC_AWAITS_WORK }, /* ksoftirqd, migration, cpuhp, rcuc */
	{ "worker_thread", KFUNC_AWAITS_WORK },
	{ "rescuer_thread", KFUNC_AWAITS_WORK },
	{ "irq_thread", KFUNC_AWAITS_WORK },
	{ "irq_wait_for_interrupt", KFUNC_AWAITS_WORK },
	{ "rcu_gp_kthread", KFUNC_AWAITS_WORK },
	{ "rcu_gp_fqs_loop", KFUNC_AWAITS_WORK },
	{ "rcu_tasks_kthread", KFUNC_AWAITS_WORK },
	{ "rcu_tasks_one_gp", KFUNC_AWAITS_WORK },
	{ "rcu_boost_kthread", KFUNC_AWAITS_WORK },
	{ "rcu_nocb_gp_kthread", KFUNC_AWAITS_WORK },
	{ "rcu_nocb_cb_kthread", KFUNC_AWAITS_WORK },
	{ "nocb_gp_wait", KFUNC_AWAITS_WORK },
	{ "nocb_cb_wait", KFUNC_AWAITS_WORK },
	{ "kswapd", KFUNC_AWAITS_WORK },
	{ "kswapd_try_to_sleep", KFUNC_AWAITS_WORK },
	{ "kcompactd", KFUNC_AWAITS_WORK },
	{ "khugepaged", KFUNC_AWAITS_WORK },
	{ "khugepaged_wait_work", KFUNC_AWAITS_WORK },
	{ "ksm_scan_thread", KFUNC_AWAITS_WORK },
	{ "kdamond_fn", KFUNC_AWAITS_WORK },
	{ "kdamond_usleep", KFUNC_AWAITS_WORK },
	{ "kdamond_wait_activation", KFUNC_AWAITS_WORK },
	{ "oom_reaper", KFUNC_AWAITS_WORK },
	{ "watchdog", KFUNC_AWAITS_WORK }, /* khungtaskd */
	{ "psi_rtpoll_worker", KFUNC_AWAITS_WORK },
	{ "psi_poll_worker", KFUNC_AWAITS_WORK },
	{ "kauditd_thread", KFUNC_AWAITS_WORK },
	{ "devtmpfsd", KFUNC_AWAITS_WORK },
	{ "devtmpfs_work_loop", KFUNC_AWAITS_WORK },
	{ "hwrng_fillfn", KFUNC_AWAITS_WORK },
	{ "kjournald2", KFUNC_AWAITS_WORK },
	{ "ext4_lazyinit_thread", KFUNC_AWAITS_WORK },
	{ "xfsaild", KFUNC_AWAITS_WORK },
	{ "cleaner_kthread", KFUNC_AWAITS_WORK }, /* btrfs */
	{ "transaction_kthread", KFUNC_AWAITS_WORK },
	{ "dmcrypt_write", KFUNC_AWAITS_WORK },
	{ "md_thread", KFUNC_AWAITS_WORK },
	{ "scsi_error_handler", KFUNC_AWAITS_WORK },
	{ "mmc_queue_thread", KFUNC_AWAITS_WORK },
	{ "svc_recv", KFUNC_AWAITS_WORK }, /* nfsd, lockd */
	{ "vhost_worker", KFUNC_AWAITS_WORK },
	{ "vhost_task_fn", KFUNC_AWAITS_WORK },
	{ "vhost_run_work_list", KFUNC_AWAITS_WORK },
	{ "io_wq_worker", KFUNC_AWAITS_WORK },
	{ "io_sq_thread", KFUNC_AWAITS_WORK },
	/* threads of programs: event loops, and waits for a connection or a signal */
	{ "do_epoll_wait", KFUNC_EVENT_LOOP },
	{ "ep_poll", KFUNC_EVENT_LOOP },
	{ "inet_csk_accept", KFUNC_AWAITS_WORK },
	{ "inet_csk_wait_for_connect", KFUNC_AWAITS_WORK },
	{ "unix_accept", KFUNC_AWAITS_WORK },
	{ "vsock_accept", KFUNC_AWAITS_WORK },
	{ "do_sigtimedwait", KFUNC_AWAITS_WORK },
	/*
	 * On top of a switch or a wakeup that is traced: the tracepoint's caller of its probes,
	 * probes of perf and ftrace, BPF programs.
	 */
	{ "__traceiter_sched_*", KFUNC_TRACING | KFUNC_PLUMBING },
	{ "perf_trace_*", KFUNC_TRACING },
	{ "trace_event_raw_event_*", KFUNC_TRACING },
	{ "trace_event_buffer_*", KFUNC_TRACING },
	{ "__bpf_trace_*", KFUNC_TRACING },
	{ "bpf_trace_run*", KFUNC_TRACING },
	{ "bpf_prog_*", KFUNC_TRACING },
	{ "bpf_trampoline_*", KFUNC_TRACING },
	{ "bpf_get_stack*", KFUNC_TRACING },
	{ "trace_call_bpf", KFUNC_TRACING },
	{ "perf_tp_event", KFUNC_TRACING },
	{ "perf_swevent_*", KFUNC_TRACING },
	{ "perf_callchain*", KFUNC_TRACING },
	{ "get_perf_callchain", KFUNC_TRACING },
	{ "perf_prepare_sample", KFUNC_TRACING },
	{ "perf_event_output*", KFUNC_TRACING },
	{ "__perf_event_output", KFUNC_TRACING },
	{ "probe_sched_*", KFUNC_TRACING },
	{ "__do_trace_sched_*", KFUNC_TRACING },
	{ "__SCT__tp_func_*", KFUNC_TRACING },
	/* Runs on the wakee's CPU, on behalf of a waker on another one. */
	{ "sched_ttwu_pending", KFUNC_REMOTE_WAKE },
	/* fs/pipe.c, and splice() between two pipes, which wakes by a function of its own. */
	{ "pipe_write", KFUNC_PIPE },
	{ "pipe_read", KFUNC_PIPE },
	{ "pipe_release", KFUNC_PIPE },
	{ "anon_pipe_write", KFUNC_PIPE },
	{ "anon_pipe_read", KFUNC_PIPE },
	{ "fifo_pipe_write", KFUNC_PIPE },
	{ "fifo_pipe_read", KFUNC_PIPE },
	{ "wakeup_pipe_readers", KFUNC_PIPE },
	{ "wakeup_pipe_writers", KFUNC_PIPE },
	/* System call entries; where threads and programs start. */
	{ "preempt_schedule*", KFUNC_PLUMBING },
	{ "__cond_resched", KFUNC_PLUMBING },
	{ "_cond_resched", KFUNC_PLUMBING },
	{ "__x64_sys_*", KFUNC_PLUMBING },
	{ "__arm64_sys_*", KFUNC_PLUMBING },
	{ "__se_sys_*", KFUNC_PLUMBING },
	{ "__do_sys_*", KFUNC_PLUMBING },
	{ "do_syscall_64", KFUNC_PLUMBING },
	{ "x64_sys_call", KFUNC_PLUMBING },
	{ "entry_SYSCALL_64*", KFUNC_PLUMBING },
	{ "do_syscall_*", KFUNC_PLUMBING },
	{ "fred_entry_from_user", KFUNC_PLUMBING },
	{ "fred_entry_from_kernel", KFUNC_PLUMBING },
	{ "asm_fred_entrypoint_*", KFUNC_PLUMBING },
	{ "el0_svc*", KFUNC_PLUMBING },
	{ "el0t_64_sync*", KFUNC_PLUMBING },
	{ "invoke_syscall*", KFUNC_PLUMBING },
	{ "ret_from_fork*", KFUNC_PLUMBING },
	{ "syscall_exit_to_user_mode", KFUNC_PLUMBING },
	{ "exit_to_user_mode_*", KFUNC_PLUMBING },
	{ "__syscall_*", KFUNC_PLUMBING },
	{ "__clone3", KFUNC_PLUMBING },
	{ "clone", KFUNC_PLUMBING },
	{ "_start", KFUNC_PLUMBING },
	{ "__libc_start_*", KFUNC_PLUMBING },
	{ "start_thread", KFUNC_PLUMBING },
};

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
		if (*symbol == *known[i].name && fits(symbol, known[i].name))
			flags |= known[i].flags;
	return flags;
}
