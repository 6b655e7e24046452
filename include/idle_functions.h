/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of the kernel in which a thread only waits for work: lists of strings, for C and, by
 * the preprocessor, for the picture's script. What is not here and why:
 * engine/base/kernel_functions.c.
 */
#ifndef IDLE_FUNCTIONS_H
#define IDLE_FUNCTIONS_H

/*
 * Loops of kernel threads. smpboot_thread_fn: ksoftirqd, migration, cpuhp, rcuc; watchdog:
 * khungtaskd; cleaner_kthread: btrfs; svc_recv: nfsd, lockd.
 */
#define KERNEL_LOOPS                                                                               \
	"kthread_worker_fn", "smpboot_thread_fn", "worker_thread", "rescuer_thread", "irq_thread", \
		"irq_wait_for_interrupt", "rcu_gp_kthread", "rcu_gp_fqs_loop",                     \
		"rcu_tasks_kthread", "rcu_tasks_one_gp", "rcu_boost_kthread",                      \
		"rcu_nocb_gp_kthread", "rcu_nocb_cb_kthread", "nocb_gp_wait", "nocb_cb_wait",      \
		"kswapd", "kswapd_try_to_sleep", "kcompactd", "khugepaged",                        \
		"khugepaged_wait_work", "ksm_scan_thread", "kdamond_fn", "kdamond_usleep",         \
		"kdamond_wait_activation", "oom_reaper", "watchdog", "psi_rtpoll_worker",          \
		"psi_poll_worker", "kauditd_thread", "devtmpfsd", "devtmpfs_work_loop",            \
		"hwrng_fillfn", "kjournald2", "ext4_lazyinit_thread", "xfsaild",                   \
		"cleaner_kthread", "transaction_kthread", "dmcrypt_write", "md_thread",            \
		"scsi_error_handler", "mmc_queue_thread", "svc_recv", "vhost_worker",              \
		"vhost_task_fn", "vhost_run_work_list", "io_wq_worker", "io_sq_thread"

/* Waits of programs for a connection or a signal. */
#define WAITS_FOR_PEERS                                                                \
	"inet_csk_accept", "inet_csk_wait_for_connect", "unix_accept", "vsock_accept", \
		"do_sigtimedwait"

#endif
