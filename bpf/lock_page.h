/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lock_page.h - in which file a lock lies, and whether another thread can have that lock: it shares
 * the address space, or the very page. A lock's words are in memory that its own process writes,
 * and even the kernel takes the owner of a lock with priority inheritance from there
 * (attach_to_pi_owner()): any thread's id may be in them. Part of chaincap.bpf.c.
 */
#pragma once

#define VM_SHARED 8

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
	bool was_asked, is_found;
};

/* A walk to the mapping of an address, down the tree of an address space. */
struct mapping_search {
	__u64 node, addr, vma; /* vma: 0: not found */
	__u32 slot;	       /* of the node, the next one to be looked at */
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
	struct mapping_search mapping;
	struct sharer_search search;
	__u32 words[WIRE_LOCK_WORDS]; /* beside the futex */
};

/* What loops and callbacks have on the stack, of which there is little below on_stacks(). */
struct in_room {
	struct object_room *room;
};

MAP(object_scratch, PERCPU_ARRAY, OBJECT_USES, __u32, struct object_room);

/* lib/maple_tree.c: a pointer to a node has its kind in the lowest 8 bits. */
#define MAPLE_NODE_MASK 255ull
#define MAPLE_LEAF 1  /* its slots are mappings */
#define MAPLE_RANGE 2 /* ... nodes */
#define MAPLE_ARANGE 3
#define MAPLE_KIND(entry) ((entry) >> 3 & 15)
#define MAPLE_SLOTS(type) (bpf_core_field_size(((struct type *)0)->slot) / 8)

#define MAPPING_STEPS 192 /* slots of a maple tree's nodes, or nodes of an rb tree */

/*
 * The next slot of a node of mm_struct.mm_mt. It is the address's if its pivot, the last address
 * that is below it, is not less; the last slot in use has none, or 0.
 */
static __always_inline bool is_at_maple_mapping(struct mapping_search *m)
{
	__u64 kind = MAPLE_KIND(m->node), node = m->node & ~MAPLE_NODE_MASK, slots, pivots, pivot;
	__u32 n, i = m->slot;

	if (kind == MAPLE_ARANGE) {
		n = MAPLE_SLOTS(maple_arange_64);
		pivots = ADDRESS(maple_arange_64, node, pivot);
		slots = ADDRESS(maple_arange_64, node, slot);
	} else if (kind == MAPLE_LEAF || kind == MAPLE_RANGE) {
		n = MAPLE_SLOTS(maple_range_64);
		pivots = ADDRESS(maple_range_64, node, pivot);
		slots = ADDRESS(maple_range_64, node, slot);
	} else {
		return true;
	}
	pivot = i + 1 < n ? (__u64)read_u64(pivots + i * 8ull) : 0;
	m->slot++;
	if (pivot < m->addr && (pivot || !i) && i + 1 < n)
		return false;
	m->node = read_u64(slots + i * 8ull);
	m->slot = 0;
	if (kind == MAPLE_LEAF)
		m->vma = m->node;
	return kind == MAPLE_LEAF;
}

/* The next node of mm_struct.mm_rb, before 6.1. */
static __always_inline bool is_at_rb_mapping(struct mapping_search *m)
{
	__u64 vma = m->node - bpf_core_field_offset(struct vm_area_struct___rb, vm_rb);

	if (!m->node)
		return true;
	if ((__u64)FIELD(vm_area_struct, vma, vm_start) > m->addr) {
		m->node = POINTER(rb_node, m->node, rb_left);
		return false;
	}
	if ((__u64)FIELD(vm_area_struct, vma, vm_end) > m->addr) {
		m->vma = vma;
		return true;
	}
	m->node = POINTER(rb_node, m->node, rb_right);
	return false;
}

static long look_for_mapping(__u32 i, struct in_room *in)
{
	(void)i;
	return bpf_core_field_exists(((struct mm_struct *)0)->mm_mt)
		       ? is_at_maple_mapping(&in->room->mapping)
		       : is_at_rb_mapping(&in->room->mapping);
}

LOOP(look_for_mapping, struct in_room, MAPPING_STEPS)

/*
 * Finds the mapping of a futex, once for an object. bpf_find_vma() would not do: of all tracers
 * that call it while a thread is switched, only the first one succeeds. So the tree is walked
 * without its lock, and as it may change meanwhile, what was found is looked at again. A program's
 * .bss is memory without a file, so the mapping of the data right before it is asked for.
 */
static __always_inline void see_futex(struct object_room *room, struct task_struct *t, __u64 addr)
{
	__u64 mm = (__u64)UNTRUSTED(task_struct, t)->mm, vma;
	struct seen_mapping *seen = &room->seen;
	struct mapping_search *m = &room->mapping;
	struct in_room in = { room };

	if (seen->was_asked)
		return;
	seen->was_asked = true;
	seen->file = 0;
	if (addr >= (__u64)FIELD(mm_struct, mm, end_data) &&
	    addr < (__u64)FIELD(mm_struct, mm, start_brk))
		addr = (__u64)FIELD(mm_struct, mm, end_data) - 1;
	m->node = bpf_core_field_exists(((struct mm_struct *)0)->mm_mt)
			  ? POINTER(mm_struct, mm, mm_mt.ma_root)
			  : POINTER(mm_struct___rb, mm, mm_rb.rb_node);
	m->addr = addr;
	m->vma = 0;
	m->slot = 0;
	loop_look_for_mapping(&in);
	vma = m->vma;
	seen->start = (__u64)FIELD(vm_area_struct, vma, vm_start);
	seen->is_found =
		vma && (__u64)FIELD(vm_area_struct, vma, vm_mm) == mm &&
		addr - seen->start < (__u64)FIELD(vm_area_struct, vma, vm_end) - seen->start;
	if (!seen->is_found)
		return;
	seen->flags = (__u64)FIELD(vm_area_struct, vma, vm_flags);
	seen->pgoff = (__u64)FIELD(vm_area_struct, vma, vm_pgoff);
	seen->file = (__u64)FIELD(vm_area_struct, vma, vm_file);
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
