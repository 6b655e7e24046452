// SPDX-License-Identifier: GPL-2.0-or-later
#include "idle.h"

#include "symbol.h"

/* On the way from the one that waits into the scheduler. */
static const char *const on_the_way[] = {
	"__schedule",
	"schedule*", /* _timeout, _hrtimeout_range_clock, _preempt_disabled... */
	"io_schedule*",
	"usleep_range*",
	"msleep*",
	"wait_woken",
	"__kthread_parkme",
	"kthread_parkme",
	"__skb_wait_for_more_packets", /* accept() on a unix socket takes a datagram */
	"__skb_recv_datagram",
	"skb_recv_datagram",
};

/*
 * Functions that wait for work when it is they who sleep. What a compiler may inline stands here
 * with its caller.
 *
 * Left out on purpose, since with these a thread as often waits for an answer, and that is what is
 * being looked for: futex, read, recv, poll, select, nanosleep, io_uring_enter, wait4, pause.
 */
static const char *const idle_functions[] = {
	/* kernel threads: the loops, and parked or not yet started */
	"kthread",
	"kthreadd",
	"kthread_worker_fn",
	"smpboot_thread_fn", /* ksoftirqd, migration, cpuhp, rcuc */
	"worker_thread",
	"rescuer_thread",
	"irq_thread",
	"irq_wait_for_interrupt",
	"rcu_gp_kthread",
	"rcu_gp_fqs_loop",
	"rcu_tasks_kthread",
	"rcu_tasks_one_gp",
	"rcu_boost_kthread",
	"rcu_nocb_gp_kthread",
	"rcu_nocb_cb_kthread",
	"nocb_gp_wait",
	"nocb_cb_wait",
	"kswapd",
	"kswapd_try_to_sleep",
	"kcompactd",
	"khugepaged",
	"khugepaged_wait_work",
	"ksm_scan_thread",
	"kdamond_fn",
	"kdamond_usleep",
	"kdamond_wait_activation",
	"oom_reaper",
	"watchdog", /* khungtaskd */
	"psi_rtpoll_worker",
	"psi_poll_worker",
	"kauditd_thread",
	"devtmpfsd",
	"devtmpfs_work_loop",
	"hwrng_fillfn",
	"kjournald2",
	"ext4_lazyinit_thread",
	"xfsaild",
	"cleaner_kthread", /* btrfs */
	"transaction_kthread",
	"dmcrypt_write",
	"md_thread",
	"scsi_error_handler",
	"mmc_queue_thread",
	"svc_recv", /* nfsd, lockd */
	"vhost_worker",
	"vhost_task_fn",
	"vhost_run_work_list",
	"io_wq_worker",
	"io_sq_thread",
	/* threads of programs: event loops, and those that wait for someone to come */
	"do_epoll_wait",
	"ep_poll",
	"inet_csk_accept",
	"inet_csk_wait_for_connect",
	"unix_accept",
	"vsock_accept",
	"do_sigtimedwait",
};

static bool in_list(const char *symbol, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (symbol_is(symbol, list[i]))
			return true;
	return false;
}

#define IN_LIST(symbol, list) in_list(symbol, list, sizeof(list) / sizeof((list)[0]))

bool idle_stack(const struct trace *t, uint32_t kstack)
{
	struct trace_stack s = trace_stack(t, kstack);

	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);
		const char *symbol = f ? trace_string(t, f->symbol) : "";

		if (!IN_LIST(symbol, on_the_way))
			return IN_LIST(symbol, idle_functions);
	}
	return false;
}
