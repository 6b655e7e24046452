/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - the kernel types that the programs read, with only the fields that they need. libbpf
 * relocates every access against the BTF of the running kernel (CO-RE), so building needs no BTF of
 * any kernel, and one object fits all of them.
 */
#pragma once

#include <linux/types.h>
#include <linux/bpf.h>
#include <stdbool.h>

#define PF_IO_WORKER 0x00000010
#define PF_WQ_WORKER 0x00000020
#define PF_USER_WORKER 0x00004000 /* since 6.4, like user_worker in kernel_clone_args */
#define PF_WQ_WORKER 0x00000020
#define PF_KTHREAD 0x00200000

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rq {
	__u64 prev_steal_time; /* with CONFIG_PARAVIRT */
	__u64 clock;
	int cpu;
};

struct task_group;

struct cfs_rq {
	struct rq *rq; /* with CONFIG_FAIR_GROUP_SCHED */
	struct task_group *tg;
	/* With CONFIG_CFS_BANDWIDTH. */
	int throttle_count;
	unsigned int throttled : 1;
	__u64 throttled_clock_self, throttled_clock_self_time; /* since 6.6 */
};

struct timerqueue_node {
	__s64 expires;
};

struct hrtimer {
	struct timerqueue_node node;
};

struct hrtimer_sleeper {
	struct hrtimer timer;
	struct task_struct *task;
};

struct rt_rq { /* with CONFIG_RT_GROUP_SCHED */
	int rt_throttled;
	struct task_group *tg;
};

struct rt_bandwidth {
	struct hrtimer rt_period_timer;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct task_group {
	struct cgroup_subsys_state css;
	struct cfs_rq **cfs_rq; /* by CPU */
	struct rt_bandwidth rt_bandwidth;
	struct task_group *parent;
};

struct sched_rt_entity {
	struct rt_rq *rt_rq; /* with CONFIG_RT_GROUP_SCHED */
};

struct sched_dl_entity {
	unsigned int dl_throttled : 1;
	struct hrtimer dl_timer;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;	     /* with CONFIG_FAIR_GROUP_SCHED */
	unsigned char sched_delayed; /* since 6.12: asleep, but still on the queue */
	__u64 sum_exec_runtime;	     /* time on CPUs, in all */
};

struct worker_pool {
	int nr_running, nr_idle;
};

enum wq_flags {
	WQ_BH = 1, /* since 6.9 */
};

struct workqueue_struct {
	unsigned int flags;
};

struct pool_workqueue {
	struct worker_pool *pool;
	struct workqueue_struct *wq;
};

struct thread_info {
	__u32 status; /* x86-64 */
	__u32 cpu;    /* since 5.16 */
};

/* Where the thread's own variables are, and its kernel stack while it does not run. */
#if defined(__TARGET_ARCH_x86)
struct thread_struct {
	unsigned long sp;
	unsigned long fsbase;
};

struct inactive_task_frame {
	unsigned long bp;
};
#elif defined(__TARGET_ARCH_arm64)
struct thread_struct {
	struct {
		unsigned long tp_value;
	} uw;
};
#endif

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct signal_struct {
	int nr_threads;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	unsigned int __state;
	int on_cpu;
	int on_rq;
	struct sched_entity se;
	struct sched_rt_entity rt;
	struct sched_dl_entity dl;
	unsigned int policy;
	bool throttled; /* since 6.18 */
	int exit_state;
	int pid;
	int tgid;
	struct pid *thread_pid;
	struct hlist_node pid_links[1];
	__u64 start_time;
	__u64 self_exec_id;
	unsigned long nvcsw, nivcsw;
	char comm[16];
	struct task_struct *group_leader, *real_parent;
	struct signal_struct *signal;
	struct completion *vfork_done; /* its parent waits for its exec or its end */
	void *stack;
	struct mm_struct *mm;
	struct files_struct *files;
	struct css_set *cgroups; /* with CONFIG_CGROUPS */
	struct bio_list *bio_list;
	struct rt_mutex_waiter *pi_blocked_on; /* with CONFIG_RT_MUTEXES */
	struct uprobe_task *utask;	       /* with CONFIG_UPROBES */
	struct thread_struct thread;
};

/* A call whose return address the kernel has replaced, to notice its return; the last one first. */
struct return_instance {
	unsigned long stack; /* the stack pointer at the function's first instruction */
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
};

struct uprobe_task {
	struct return_instance *return_instances;
};

struct rt_mutex_base {
};

/* A futex whose owner inherits the priority of those who wait for it, and one who waits. */
struct futex_pi_state {
	struct rt_mutex_base pi_mutex;
	struct task_struct *owner;
};

struct rt_mutex_waiter {
	struct rt_mutex_base *lock;
};

typedef struct {
	__u64 ctx_id; /* x86-64: no other address space ever has it */
} mm_context_t;

struct maple_tree {
	void *ma_root;
};

/* Nodes of it. */
struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
};

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
};

struct mm_struct {
	struct maple_tree mm_mt; /* since 6.1 */
	unsigned long start_code, end_data, start_brk;
	unsigned long arg_start, arg_end;
	unsigned long exec_vm;
	void *pgd;
	mm_context_t context;
};

/* The registers of user code when it entered the kernel. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long cs;
	unsigned long sp;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
	__u64 orig_x0;
	__s32 syscallno; /* -1: it did not come by a system call */
};
#endif

/* Where the CPU was before. */
struct task_struct___before_5_16 {
	unsigned int cpu;
};

/* Before 5.14 the state was a signed long of another name. */
struct task_struct___before_5_14 {
	long state;
};

/* ---- what descriptors mean ---- */

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
};

/* Any word of the kernel's memory is read as the first word of this (read_u64()). */
struct rb_node {
	unsigned long __rb_parent_color;
	struct rb_node *rb_right, *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct rb_root_cached {
	struct rb_root rb_root;
};

/* The pages of a file; i_mmap: all its mappings. */
struct address_space {
	struct rb_root_cached i_mmap;
};

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	__u32 i_generation;
	struct super_block *i_sb;
	struct file_lock_context *i_flctx; /* NULL: the file never had a lock */
};

struct list_head {
	struct list_head *next, *prev;
};

struct file_lock_core { /* since 6.9 */
	struct list_head flc_list;
	void *flc_owner;
	unsigned char flc_type;
	int flc_pid; /* of the process */
	struct file *flc_file;
};

struct file_lock {
	struct file_lock_core c;
	long long fl_start, fl_end;
};

struct file_lock___before_6_9 {
	struct list_head fl_list;
	void *fl_owner;
	unsigned char fl_type;
	unsigned int fl_pid;
	struct file *fl_file;
};

struct file_lock_context {
	struct list_head flc_flock, flc_posix;
};

struct file {
	const void *f_op;
	struct inode *f_inode;
	struct address_space *f_mapping;
	void *private_data;
	struct path f_path;
};

struct in6_addr {
	__u64 any;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_flags, vm_pgoff;
	struct mm_struct *vm_mm;
	struct file *vm_file;
	struct {
		struct rb_node rb;
	} shared;
};

/* Before 6.1. */
struct mm_struct___rb {
	struct rb_root mm_rb;
};

struct vm_area_struct___rb {
	struct rb_node vm_rb;
};

/* A page fault that is being handled. */
struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long pgoff, address;
};

struct sock_common {
	__u32 skc_daddr, skc_rcv_saddr;
	__u16 skc_dport, skc_num;
	unsigned short skc_family;
	unsigned char skc_state;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};

struct wait_queue_head { /* begins with a spinlock, a word that is 0 if nobody holds it */
	struct list_head head;
};

struct socket_wq {
	struct wait_queue_head wait;
};

struct sk_buff_head {
	__u32 qlen;
};

typedef struct {
	int owned; /* by a system call; 0: by a softirq, or by nobody */
} socket_lock_t;

struct bpf_local_storage;

typedef struct {
	int counter;
} atomic_t;

struct numa_drop_counters {
	atomic_t drops0, drops1;
};

struct sock {
	struct sock_common __sk_common;
	socket_lock_t sk_lock;
	struct sk_buff_head sk_receive_queue;
	unsigned char sk_userlocks : 4;
	struct bpf_local_storage *sk_bpf_storage;
	__u16 sk_type, sk_protocol;
	__u8 sk_shutdown;
	atomic_t sk_drops;
	struct numa_drop_counters *sk_drop_counters; /* since 6.18 */
	__u32 sk_ack_backlog, sk_max_ack_backlog;
	struct rb_root tcp_rtx_queue;
	struct pid *sk_peer_pid;
	struct socket *sk_socket;
	struct socket_wq *sk_wq;
};

struct socket {
	struct file *file;
	struct sock *sk;
};

struct epitem;

struct eventpoll {
	struct list_head rdllist;
	struct epitem *ovflist;
};

struct epoll_filefd {
	struct file *file;
	int fd;
};

struct epitem {
	struct list_head rdllink;
	struct epoll_filefd ffd;
};

struct sockaddr_un {
	unsigned short sun_family;
};

struct unix_address {
	int len;
	struct sockaddr_un name[];
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

struct timer_list {
	void (*function)(struct timer_list *);
};

struct inet_connection_sock {
	struct timer_list icsk_retransmit_timer, icsk_delack_timer;
	struct {
		__u8 pending;
	} icsk_ack;
};

struct sk_buff {
	struct rb_node rbnode;
	__u64 skb_mstamp_ns;
	char cb[48];
};

struct tcp_sock {
	__u32 rcv_nxt, copied_seq, write_seq, snd_nxt, snd_una;
	__u64 tcp_mstamp;
};

struct udp_sock {
	struct sk_buff_head reader_queue;
};

struct proto_ops {
	void *sendpage; /* before 6.5, when sendfile() did not pass sock_send_length */
};

/* ---- thread ids ---- */

struct xarray {
	void *xa_head;
};

struct xa_node {
	unsigned char shift;
	void *slots[1];
};

struct idr {
	struct xarray idr_rt;
};

struct pid_namespace {
	struct idr idr;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct hlist_head tasks[1];
	struct upid numbers[1];
};

/* ---- control groups ---- */

struct kernfs_node {
	struct kernfs_node *__parent; /* since 6.15 */
	const char *name;
	__u64 id;
};

struct kernfs_node___before_6_15 {
	struct kernfs_node *parent;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	int level; /* 0: the root of its hierarchy */
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

/* Says that the threads of a css_set are in a group. */
struct cgrp_cset_link {
	struct cgroup *cgrp;
	struct list_head cgrp_link;
};

struct css_set {
	struct cgroup *dfl_cgrp;     /* of version 2 */
	struct list_head cgrp_links; /* of all hierarchies */
};

/* ---- block devices ---- */

struct block_device_operations {
	void *submit_bio; /* devices without requests of their own, as device-mapper */
};

struct gendisk {
	char disk_name[32];
	const struct block_device_operations *fops;
};

struct block_device {
	struct gendisk *bd_disk;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	struct blkcg_gq *bi_blkg; /* with CONFIG_BLK_CGROUP */
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	struct bio *bio;
	__u64 start_time_ns;
};

struct linux_binprm {
	const char *filename;
};

struct kernel_clone_args {
	unsigned int user_worker : 1;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

struct bpf_iter__unix {
	struct bpf_iter_meta *meta;
	struct unix_sock *unix_sk;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct file *file;
};

#pragma clang attribute pop
