/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lock_page.h - in which file a lock lies, and whether another thread can have that lock: it shares
 * the address space, or the very page. A lock's words are in memory that its own process writes,
 * and even the kernel takes the owner of a lock with priority inheritance from there
 * (attach_to_pi_owner()): any thread's id may be in them. Part of chaincap.bpf.c.
 */
#pragma once

#define VM_SHARED 8
#define EBUSY 16

/* Set before loading. */
const volatile __u32 page_size = 4096;

/* What an object is put together for; each use has memory of its own on each CPU. */
enum object_use {
	OBJECT_OF_SWITCH,
	OBJECT_OF_LISTED,
	OBJECT_OF_WAKING,
	OBJECT_OF_REQUEST,
	OBJECT_OF_CONTEXT,
	OBJECT_OF_FORKED, /* these are groups */
	OBJECT_OF_MOVED,
	OBJECT_OF_RENAMED,
	OBJECT_OF_QUOTA,
	OBJECT_OF_DISK,
	OBJECT_USES
};

/* The mapping in which a futex lies. */
struct seen_mapping {
	__u64 start, flags, pgoff, file; /* file: 0: it is not known, or there is none */
	bool was_asked, was_busy;
};

/*
 * A walk through all mappings of a file, the tree address_space.i_mmap, from node to node: from the
 * one above, then back from each of those below. It changes meanwhile, so that some may be missed.
 */
struct sharer_search {
	__u64 node, from, page, mm;
	bool is_found;
};

struct object_room {
	struct wire_object o; /* first: a pointer to it is one to the room */
	struct seen_mapping seen;
	struct sharer_search search;
	__u32 words[WIRE_LOCK_WORDS]; /* beside the futex */
};

/* What loops and callbacks have on the stack, of which there is little below on_stacks(). */
struct in_room {
	struct object_room *room;
};

MAP(object_scratch, PERCPU_ARRAY, OBJECT_USES, __u32, struct object_room);

static long see_mapping(struct task_struct *t, struct vm_area_struct *vma, struct in_room *in)
{
	struct seen_mapping *s = &in->room->seen;

	(void)t;
	s->start = vma->vm_start;
	s->flags = vma->vm_flags;
	s->pgoff = vma->vm_pgoff;
	s->file = (__u64)vma->vm_file;
	return 0;
}

/*
 * Finds the mapping of a futex. bpf_find_vma() is called only once for an object, as only one call
 * succeeds while interrupts are off, and it does not wait for the lock. A program's .bss is memory
 * without a file, so the mapping of the data right before it is asked for.
 */
static __always_inline void see_futex(struct object_room *room, struct task_struct *t, __u64 addr)
{
	struct mm_struct *mm = UNTRUSTED(task_struct, t)->mm;
	struct seen_mapping *seen = &room->seen;
	struct in_room in = { room };

	if (seen->was_asked)
		return;
	seen->was_asked = true;
	seen->was_busy = false;
	seen->file = 0;
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
		return;
	if (addr >= mm->end_data && addr < mm->start_brk)
		addr = mm->end_data - 1;
	seen->was_busy = bpf_find_vma(t, addr, see_mapping, &in, 0) == -EBUSY;
}

#define SHARER_STEPS (OLDER ? 192 : 512) /* two for each mapping */

/* Whether the mapping of a node shares the page of the file, and is of that address space. */
static __always_inline bool is_of_sharer(const struct sharer_search *s, __u64 node)
{
	__u64 vma = node - bpf_core_field_offset(struct vm_area_struct, shared.rb), bytes;

	if ((__u64)FIELD(vm_area_struct, vma, vm_mm) != s->mm ||
	    !(FIELD(vm_area_struct, vma, vm_flags) & VM_SHARED))
		return false;
	bytes = FIELD(vm_area_struct, vma, vm_end) - FIELD(vm_area_struct, vma, vm_start);
	return s->page - FIELD(vm_area_struct, vma, vm_pgoff) < bytes / page_size;
}

static long look_at_sharer(__u32 i, struct in_room *in)
{
	struct sharer_search *s = &in->room->search;
	__u64 node = s->node, from = s->from;
	__u64 up = FIELD(rb_node, node, __rb_parent_color) & ~3ull, next = up;
	__u64 left = POINTER(rb_node, node, rb_left);
	__u64 right = POINTER(rb_node, node, rb_right);

	(void)i;
	if (from == up)
		next = left ? left : right ? right : up;
	else if (from == left && right)
		next = right;
	s->from = node;
	s->node = next;
	if (from == up)
		s->is_found = is_of_sharer(s, node);
	return s->is_found || !s->node;
}

LOOP(look_at_sharer, struct in_room, SHARER_STEPS)

/*
 * Whether the address space room->search.mm shares the page in which the futex at addr of thread t
 * lies. A function of its own, as what calls it has little left of the stack.
 */
static __noinline bool is_page_shared(struct object_room *room, struct task_struct *t, __u64 addr)
{
	struct seen_mapping *seen = &room->seen;
	struct sharer_search *s = &room->search;
	struct in_room in = { room };

	see_futex(room, t, addr);
	if (!seen->file || !(seen->flags & VM_SHARED))
		return false;
	s->page = (addr - seen->start) / page_size + seen->pgoff;
	s->node = POINTER(file, seen->file, f_mapping);
	s->node = POINTER(address_space, s->node, i_mmap.rb_root.rb_node);
	s->from = 0;
	s->is_found = false;
	if (s->node)
		loop_look_at_sharer(&in);
	return s->is_found;
}

/*
 * Whether the thread task can have the lock at addr, for which t sleeps. is_private: the futex is
 * the process's own.
 */
static __always_inline bool can_have_lock(struct object_room *room, struct task_struct *t,
					  __u64 task, __u64 addr, bool is_private)
{
	__u64 mm = POINTER(task_struct, task, mm), own = (__u64)UNTRUSTED(task_struct, t)->mm;

	if (!mm || mm == own || is_private)
		return mm && mm == own;
	room->search.mm = mm;
	return is_page_shared(room, t, addr);
}
