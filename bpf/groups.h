/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * groups.h - in which control group a thread is, and which id its process has in its own PID
 * namespace. Part of chaincap.bpf.c.
 *
 * A child is in its parent's group unless it is told otherwise, so a group is recorded only for
 * the threads that are there at the start, for a child that was put elsewhere, and for a move. A
 * group is an object (objects.h), whose path is sent when it is new: it is known then, also if the
 * group is removed a moment later.
 *
 * In version 2 there is one hierarchy. Where version 1 is in use, a thread has a group in each of
 * several, and may be in the root of most; then the deepest one says most of where it belongs.
 */
#pragma once

#define HIERARCHIES 64 /* that are looked at, at most */

/* How many groups were renamed: a group that was is another object from then on. */
volatile __u64 group_renames = 0;

struct group_search {
	__u64 head, at; /* of the list of links from a css_set to its groups */
	__u64 group;
	int level; /* of group, from the root of its hierarchy */
};

static long look_at_group(__u32 i, struct group_search *s)
{
	__u64 link, group;
	int level;

	(void)i;
	if (!s->at || s->at == s->head)
		return 1;
	link = s->at - bpf_core_field_offset(struct cgrp_cset_link, cgrp_link);
	group = POINTER(cgrp_cset_link, link, cgrp);
	level = FIELD(cgroup, group, level);
	if (level > s->level) {
		s->level = level;
		s->group = group;
	}
	s->at = POINTER(list_head, s->at, next);
	return 0;
}

LOOP(look_at_group, struct group_search, HIERARCHIES)

/* The group that stands for the css_set: that of version 2, or the deepest. */
static __always_inline __u64 chosen_group(__u64 set)
{
	struct group_search s = { 0 };

	s.group = POINTER(css_set, set, dfl_cgrp);
	s.level = FIELD(cgroup, s.group, level);
	if (s.level)
		return s.group;
	s.head = ADDRESS(css_set, set, cgrp_links);
	s.at = POINTER(list_head, s.head, next);
	loop_look_at_group(&s);
	return s.group;
}

static __always_inline __u32 group_object(__u64 group, __u32 slot, __u64 now)
{
	struct wire_object *o = bpf_map_lookup_elem(&object_scratch, &slot);
	__u64 node, root;

	if (!o || !group)
		return 0;
	node = POINTER(cgroup, group, kn);
	root = POINTER(cgroup, group, root);
	__builtin_memset(&o->key, 0, sizeof(o->key));
	o->owner = 0;
	o->holder = 0;
	o->key.kind = WIRE_OBJECT_GROUP;
	o->key.v[0] = FIELD(kernfs_node, node, id);
	o->key.v[1] = (__u32)FIELD(cgroup_root, root, hierarchy_id);
	o->key.v[2] = group_renames;
	return id_of_object(o, NULL, now, node);
}

/* The object of the group of a css_set; 0: not known. slot: enum object_use. */
__noinline __u32 group_of_set(__u64 set, __u32 slot, __u64 now)
{
	if (slot >= OBJECT_USES)
		return 0;
	return group_object(chosen_group(set), slot, now);
}

/* The css_set of a thread, which threads in the same groups share; 0: the kernel has no groups. */
static __always_inline __u64 group_set(struct task_struct *t)
{
	return bpf_core_field_exists(t->cgroups) ? POINTER(task_struct, t, cgroups) : 0;
}

static __always_inline void record_group(__u64 now, __u32 tid, __u32 object, bool process)
{
	struct wire_group *ev = record_event(WIRE_GROUP, now, struct wire_group);

	if (!ev)
		return;
	ev->tid = tid;
	ev->object = object;
	ev->process = process;
	ev->pad = 0;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}

/* A child that does not begin in its parent's group, as with CLONE_INTO_CGROUP. */
static __always_inline void record_group_of_child(struct task_struct *parent,
						  struct task_struct *child, __u64 now)
{
	__u64 set = group_set(child);

	if (set && set != group_set(parent))
		record_group(now, child->pid, group_of_set(set, OBJECT_OF_FORKED, now), false);
}

/* The process of a container has another id there. */
static __always_inline void record_own_id(struct task_struct *child, __u64 now)
{
	struct wire_own_id *ev;
	__u32 level = 0, id = 0;

	if (child->pid != child->tgid || !own_namespace(child, &level, &id) || !level)
		return;
	ev = record_event(WIRE_OWN_ID, now, struct wire_own_id);
	if (!ev)
		return;
	ev->tid = child->pid;
	ev->id = id;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}

/* After a thread, or all threads of a process, were moved. The kernel holds a lock meanwhile. */
SEC("tp_btf/cgroup_attach_task")
int on_group_move(unsigned long long *ctx)
{
	struct task_struct *task = (void *)ctx[2];
	__u64 now = bpf_ktime_get_ns();
	__u32 object;

	if (is_recorder(task->tgid) || !is_recording(now))
		return 0;
	object = group_of_set(group_set(task), OBJECT_OF_MOVED, now);
	record_group(now, task->pid, object, (bool)ctx[3]);
	return 0;
}

/* Only groups of version 1 can be renamed. */
SEC("tp_btf/cgroup_rename")
int on_group_rename(unsigned long long *ctx)
{
	__u64 now = bpf_ktime_get_ns();

	__sync_fetch_and_add(&group_renames, 1);
	if (is_recording(now))
		record_group(now, 0, group_object(ctx[0], OBJECT_OF_RENAMED, now), false);
	return 0;
}
