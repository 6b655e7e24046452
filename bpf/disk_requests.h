/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * disk_requests.h - what block devices are asked for: who asked, when the device got it, when it
 * was done. Part of chaincap.bpf.c.
 *
 * A request begins with the bio of the thread that asks for it, which is known by its address until
 * the device gets the request; from then on it is known by its own. Where a device passes bios on
 * to others, as device-mapper does, they are asked for while the thread is still in the call for
 * the first device, which is the one that people know.
 *
 * What a group's I/O limit holds back (blkcg's io.max, blkio.throttle.*) a worker of the kernel
 * asks for when its time has come (blk_throtl_dispatch_work_fn()); before that no tracepoint has
 * it.
 *
 * An empty flush is a request that waits for one of the kernel's own, the device's command, which
 * several may share. It has no bio, and is not recorded: when it is done, those that wait for it
 * are done at once, on the same CPU.
 */
#pragma once

/* include/linux/blk_types.h */
#define REQ_OP_MASK 0xffu
#define REQ_OP_READ 0
#define REQ_OP_WRITE 1
#define REQ_OP_FLUSH 2
#define REQ_OP_DISCARD 3
#define REQ_OP_DRV_IN 34 /* and on: commands that nobody asked for by a bio */

enum req_op {
	REQ_OP_WRITE_ZEROES = 9,
};

struct asked {
	__u64 ns;
	__u32 tid;
	__u32 group; /* of whoever a worker of the kernel asks for, an object; 0: not known */
	char disk[WIRE_DISK_NAME];
};

/*
 * By bio, until the device gets it. An entry of a bio that is merged into a request stays, so that
 * the oldest ones go; a request whose entry is missed is counted by begin_unknown().
 */
MAP(asked_bios, LRU_HASH, 1 << 14, __u64, struct asked);

struct issued {
	struct asked asked;
	__u64 ns;
};

/* By request, while the device has it. */
MAP(issued_requests, HASH, 1 << 14, __u64, struct issued);

struct disk_name {
	char name[WIRE_DISK_NAME];
};

/* By thread: the device without requests of its own that it asks, until it asks another or ends. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 15);
	__uint(map_flags, AS_NEEDED);
	__type(key, __u32);
	__type(value, struct disk_name);
} asked_first SEC(".maps");

/* Of these there are so many, or more: most machines have none. */
volatile __u64 n_asking = 0;

static __always_inline void forget_asked(__u32 tid)
{
	if (n_asking && !bpf_map_delete_elem(&asked_first, &tid))
		__sync_fetch_and_add(&n_asking, -1);
}

/* The last flush that was done on this CPU. */
struct flushed {
	__u64 queue, issued_ns;
};

MAP(last_flush, PERCPU_ARRAY, 1, __u32, struct flushed);

static __always_inline void put_disk(char name[WIRE_DISK_NAME], struct gendisk *disk)
{
	bpf_probe_read_kernel_str(name, WIRE_DISK_NAME, disk->disk_name);
}

SEC("tp_btf/block_bio_queue")
int on_disk_bio(unsigned long long *ctx)
{
	struct bio *bio = UNTRUSTED(bio, ctx[0]);
	struct task_struct *task = bpf_get_current_task_btf();
	struct disk_name name = { { 0 } };
	struct gendisk *disk;
	__u32 tid = task->pid;

	/* Within the call for another device. */
	if (UNTRUSTED(task_struct, task)->bio_list)
		return 0;
	disk = bio->bi_bdev->bd_disk;
	if (disk->fops->submit_bio) {
		put_disk(name.name, disk);
		if (!bpf_map_update_elem(&asked_first, &tid, &name, BPF_NOEXIST))
			__sync_fetch_and_add(&n_asking, 1);
		else if (bpf_map_update_elem(&asked_first, &tid, &name, BPF_EXIST))
			leave_out(CHAINLOG_LEFT_DISK);
	} else {
		forget_asked(tid);
	}
	return 0;
}

/* The group on whose account a bio is. */
static __always_inline __u32 group_of_bio(struct bio *bio, __u64 now)
{
	__u64 group;

	if (PLAIN || !bpf_core_field_exists(bio->bi_blkg))
		return 0;
	group = POINTER(bio, bio, bi_blkg);
	group = group ? POINTER(blkcg_gq, group, blkcg) : 0;
	return group ? group_object(POINTER(blkcg, group, css.cgroup), OBJECT_OF_DISK, now) : 0;
}

/* A bio gets a request, in the thread that asks. */
SEC("tp_btf/block_getrq")
int on_disk_request(unsigned long long *ctx)
{
	struct bio *bio = UNTRUSTED(bio, ctx[0]);
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid = task->pid;
	__u64 now = bpf_ktime_get_ns(), key = ctx[0];
	struct asked a = { .ns = now };
	struct disk_name *first;

	if (!is_recording(now))
		return 0;
	first = bpf_map_lookup_elem(&asked_first, &tid);
	if (first)
		__builtin_memcpy(a.disk, first->name, sizeof(a.disk));
	else
		put_disk(a.disk, bio->bi_bdev->bd_disk);
	a.tid = is_helper(task->tgid) ? self_tgid : tid;
	if (task->flags & PF_WQ_WORKER)
		a.group = group_of_bio(bio, now);
	bpf_map_update_elem(&asked_bios, &key, &a, BPF_ANY);
	return record_running(ctx, task, WIRE_DISK_REQUEST, now, a.tid, true);
}

/* What was noted of the first bio of a request, which others may have been put before. */
static __always_inline bool take_asked(struct request *rq, struct asked *a)
{
	struct bio *bio = rq->bio;
	struct asked *known;
	__u64 key;

	for (int i = 0; i < 4; i++) {
		if (!bio)
			break;
		key = (__u64)bio;
		known = bpf_map_lookup_elem(&asked_bios, &key);
		if (known) {
			*a = *known;
			bpf_map_delete_elem(&asked_bios, &key);
			return true;
		}
		bio = bio->bi_next;
	}
	return false;
}

/*
 * Who asked is not known: of a request from before the recording, or of the kernel's own, which has
 * no bio; or it has been forgotten.
 */
static __always_inline void begin_unknown(struct request *rq, struct asked *a)
{
	a->ns = rq->start_time_ns;
	if (rq->bio && a->ns > record_from_ns && (rq->cmd_flags & REQ_OP_MASK) < REQ_OP_DRV_IN)
		leave_out(CHAINLOG_LEFT_DISK);
	put_disk(a->disk, rq->q->disk);
}

/* The device gets a request; once more if it was put back. */
SEC("tp_btf/block_rq_issue")
int on_disk_issue(unsigned long long *ctx)
{
	struct request *rq = UNTRUSTED(request, ctx[0]);
	struct issued i = { .ns = bpf_ktime_get_ns() }, *again;
	__u64 key = ctx[0];

	if (!is_recording(i.ns))
		return 0;
	if (!take_asked(rq, &i.asked)) {
		again = bpf_map_lookup_elem(&issued_requests, &key);
		if (again) {
			again->ns = i.ns;
			return 0;
		}
		begin_unknown(rq, &i.asked);
	}
	/* If there is no room, it is found unknown when it is done. */
	bpf_map_update_elem(&issued_requests, &key, &i, BPF_ANY);
	return 0;
}

static __always_inline __u32 operation_of(struct request *rq)
{
	__u32 op = rq->cmd_flags & REQ_OP_MASK;

	switch (op) {
	case REQ_OP_READ:
		return CHAINLOG_DISK_READ;
	case REQ_OP_WRITE:
		/* Only a flush is a write of nothing. */
		return rq->__data_len ? CHAINLOG_DISK_WRITE : CHAINLOG_DISK_FLUSH;
	case REQ_OP_FLUSH:
		return CHAINLOG_DISK_FLUSH;
	case REQ_OP_DISCARD:
		return CHAINLOG_DISK_DISCARD;
	}
	if (bpf_core_enum_value_exists(enum req_op, REQ_OP_WRITE_ZEROES) &&
	    op == bpf_core_enum_value(enum req_op, REQ_OP_WRITE_ZEROES))
		return CHAINLOG_DISK_ZERO;
	return CHAINLOG_DISK_OTHER;
}

/* Bytes of a request are done; the last ones are all that are left of it. */
SEC("tp_btf/block_rq_complete")
int on_disk_done(unsigned long long *ctx)
{
	struct request *rq = UNTRUSTED(request, ctx[0]);
	__u64 now = bpf_ktime_get_ns(), key = ctx[0];
	struct wire_disk_done *ev;
	struct issued i = { 0 }, *known;
	struct flushed *flush;
	__u32 zero = 0;

	if ((__u32)ctx[2] < rq->__data_len || !is_recording(now))
		return 0;
	flush = bpf_map_lookup_elem(&last_flush, &zero);
	known = bpf_map_lookup_elem(&issued_requests, &key);
	if (known) {
		i = *known;
		bpf_map_delete_elem(&issued_requests, &key);
	} else if (!take_asked(rq, &i.asked)) {
		begin_unknown(rq, &i.asked);
	} else if (flush && flush->queue == (__u64)rq->q) {
		i.ns = flush->issued_ns;
	}
	if (!rq->bio && (rq->cmd_flags & REQ_OP_MASK) == REQ_OP_FLUSH) {
		if (flush) {
			flush->queue = (__u64)rq->q;
			flush->issued_ns = i.ns;
		}
		return 0;
	}
	ev = record_event(WIRE_DISK_DONE, now, struct wire_disk_done);
	if (!ev)
		return 0;
	ev->asked_ns = i.asked.ns;
	ev->issued_ns = i.ns;
	ev->tid = i.asked.tid;
	ev->op = operation_of(rq);
	ev->bytes = rq->__data_len;
	ev->group = i.asked.group;
	__builtin_memcpy(ev->disk, i.asked.disk, sizeof(ev->disk));
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	return 0;
}
