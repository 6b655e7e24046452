// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel_waits.h"

#include "known_function.h"

struct kernel_wait {
	const char *begin; /* of the function's name */
	const char *words;
};

/* Functions that sleep; of several in a stack the first of these counts. */
static const struct kernel_wait waits[] = {
	{ "fanotify_handle_event", "a permission by fanotify" },
	{ "seccomp_do_user_notification", "the supervisor of its system calls (seccomp)" },
	{ "handle_userfault", "who handles its page faults (userfaultfd)" },
	{ "ptrace_stop", "its tracer" },
	{ "do_signal_stop", "SIGCONT" },
	{ "__refrigerator", "the end of a freeze" },
	{ "vfs_coredump", "its core dump" },
	{ "zap_pid_ns_processes", "the other processes of its namespace" },
	{ "rcu_barrier", "RCU" },
	{ "synchronize_rcu", "RCU" },
	{ "request_wait_answer", "a file system in user space (FUSE)" },
	{ "jbd2_log_wait_commit", "the file system's journal" },
	{ "wait_transaction_locked", "the file system's journal" },
	{ "add_transaction_credits", "the file system's journal" },
	{ "balance_dirty_pages", "writeback, as too much is dirty" },
	{ "folio_wait_writeback", "writeback of a file" },
	{ "__mem_cgroup_handle_over_high", "memory.high of its group" },
	{ "try_to_free_mem_cgroup_pages", "memory within its group's limit" },
	{ "try_to_free_pages", "free memory" },
	{ "blk_mq_freeze_queue_wait", "a disk that is set up anew" },
	{ "filemap_fault", "a page of a file" },
	{ "do_swap_page", "a page from swap" },
	{ "do_msgrcv", "a message (System V)" },
	{ "do_msgsnd", "room in a message queue (System V)" },
	{ "__do_semtimedop", "a semaphore (System V)" },
	{ "wq_sleep", "a message queue" },
	{ "n_tty_write", "room in a terminal" },
	{ "tty_wait_until_sent", "a terminal" },
};

/* Functions in which a thread that sleeps at a lock takes a certain one. */
static const struct kernel_wait locks[] = {
	{ "lock_mm_and_find_vma", "the lock of its address space" },
	{ "vm_mmap_pgoff", "the lock of its address space" },
	{ "__vm_munmap", "the lock of its address space" },
	{ "do_mprotect_pkey", "the lock of its address space" },
	{ "do_madvise", "the lock of its address space" },
	{ "__x64_sys_brk", "the lock of its address space" },
	{ "__x64_sys_mremap", "the lock of its address space" },
	{ "do_user_addr_fault", "the lock of its address space" },
	{ "dup_mm", "the lock of its address space" },
	{ "proc_pid_cmdline_read", "the lock of a process's address space" },
	{ "__access_remote_vm", "the lock of a process's address space" },
	{ "m_start", "the lock of a process's address space" },
	{ "rtnetlink_rcv_msg", "the lock of the network's configuration" },
	{ "cgroup_", "a lock of control groups" },
	{ "open_last_lookups", "the lock of a directory" },
	{ "walk_component", "the lock of a directory" },
	{ "do_unlinkat", "the lock of a directory" },
	{ "do_renameat2", "the lock of a directory" },
	{ "do_mkdirat", "the lock of a directory" },
	{ "iterate_dir", "the lock of a directory" },
	{ "pipe_", "the lock of a pipe" },
	{ "fdget_pos", "the position of a file that threads share" },
	{ "vfs_write", "the lock of a file that is written" },
	{ "n_tty_", "the lock of a terminal" },
};

const char *kernel_wait_words(const struct timelines *tl, uint32_t kstack, bool at_lock)
{
	const struct trace *t = timelines_trace(tl);
	const struct kernel_wait *known = at_lock ? locks : waits;
	size_t n = at_lock ? sizeof(locks) / sizeof(locks[0]) : sizeof(waits) / sizeof(waits[0]);
	size_t found = known_function(t, trace_stack(t, kstack), known, n, sizeof(*known));

	return found < n ? known[found].words : NULL;
}
