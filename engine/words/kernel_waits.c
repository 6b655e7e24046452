// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel_waits.h"

#include <string.h>

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

static const char *words_in(const struct timelines *tl, uint32_t kstack,
			    const struct kernel_wait *known, size_t n)
{
	const struct trace *t = timelines_trace(tl);
	struct trace_stack s = trace_stack(t, kstack);
	size_t found = n;

	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);
		const char *symbol = f ? trace_string(t, f->symbol) : "";

		for (size_t k = 0; k < found; k++)
			if (!strncmp(symbol, known[k].begin, strlen(known[k].begin)))
				found = k;
	}
	return found < n ? known[found].words : NULL;
}

const char *kernel_wait_words(const struct timelines *tl, uint32_t kstack, bool at_lock)
{
	return at_lock ? words_in(tl, kstack, locks, sizeof(locks) / sizeof(locks[0]))
		       : words_in(tl, kstack, waits, sizeof(waits) / sizeof(waits[0]));
}
