/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * objects.h - gives what a thread waits for (object_key.h) an id of stack.h, and sends it if it is
 * new. Part of chaincap.bpf.c.
 */
#pragma once

/* ---- sending a new object ------------------------------------------------------------------- */

#define PATH_NAMES 48 /* steps of a walk at most: names and mounts */

/* A walk up a path, from the file to the root; dentry and mount are where it is. */
struct path_walk {
	struct wire_object *o;
	__u64 dentry, mount;
};

/* Puts a name behind those that o->path has; false: there is no room, or it cannot be read. */
static __always_inline bool add_name(struct wire_object *o, __u64 name)
{
	__u32 at = o->path_len;
	long len;

	/* Bounded here: the verifier of 6.1 loses the bounds of spilled values. */
	barrier_var(at);
	if (at > WIRE_OBJECT_PATH)
		return false;
	len = bpf_probe_read_kernel_str(o->path + at, WIRE_NAME_MAX, (void *)name);
	if (len <= 0 || len > WIRE_NAME_MAX)
		return false;
	o->path_len = at + (__u32)len;
	return true;
}

/* One step of a loop: puts a name, or goes up to another mount. Returns 1 at the end. */
static long put_name(__u32 i, struct path_walk *w)
{
	__u64 parent = (__u64)FIELD(dentry, w->dentry, d_parent), name, up;

	(void)i;
	if (w->dentry == (__u64)FIELD(vfsmount, w->mount, mnt_root)) {
		up = w->mount - bpf_core_field_offset(struct mount, mnt);
		parent = (__u64)FIELD(mount, up, mnt_parent);
		if (parent == up || !parent) {
			w->o->whole = 1;
			return 1;
		}
		w->dentry = (__u64)FIELD(mount, up, mnt_mountpoint);
		w->mount = ADDRESS(mount, parent, mnt);
		return 0;
	}
	name = (__u64)FIELD(dentry, w->dentry, d_name.name);
	if (!add_name(w->o, name))
		return 1;
	if (w->dentry == parent) /* the file is in no directory, like a memfd */
		return 1;
	w->dentry = parent;
	return 0;
}

LOOP(put_name, struct path_walk, PATH_NAMES)

/* Puts the names of a file's path into o->path, through mounts, up to their namespace's root. */
__noinline int put_path(struct wire_object *o, __u64 file)
{
	__u64 path = ADDRESS(file, file, f_path);
	struct path_walk w = { .o = o };

	if (!o)
		return 0;
	w.mount = (__u64)FIELD(path, path, mnt);
	w.dentry = (__u64)FIELD(path, path, dentry);
	o->path_len = 0;
	loop_put_name(&w);
	return 0;
}

/* Where in a file a futex lies. */
static __always_inline void put_mapping(struct wire_object *o, struct task_struct *t)
{
	struct seen_mapping *seen = &((struct object_room *)o)->seen;
	__u64 file, inode;

	see_futex((struct object_room *)o, t, o->key.v[0]);
	o->again = !seen->is_found;
	if (!seen->file)
		return;
	o->shared = !!(seen->flags & VM_SHARED);
	o->offset = o->key.v[0] - seen->start + seen->pgoff * page_size;
	file = number_of(&o->inode, seen->file);
	inode = (__u64)FIELD(file, file, f_inode);
	o->inode = FIELD(inode, inode, i_ino);
	inode = (__u64)FIELD(inode, inode, i_sb);
	o->device = FIELD(super_block, inode, s_dev);
	put_path(o, file);
}

/* Puts the address of a unix socket, or of its peer if it has none, into o->path. */
static __always_inline void put_unix_address(struct wire_object *o, __u64 sk)
{
	__u64 address, peer;
	__u32 len;

	if (!HAS_UNIX_SOCKETS)
		return;
	address = (__u64)FIELD(unix_sock, sk, addr);
	peer = address ? 0 : (__u64)FIELD(unix_sock, sk, peer);
	if (peer)
		address = (__u64)FIELD(unix_sock, peer, addr);
	if (!address)
		return;
	len = (__u32)FIELD(unix_address, address, len) - sizeof(struct sockaddr_un);
	address = ADDRESS(unix_address, address, name) + sizeof(struct sockaddr_un);
	barrier_var(len);
	if (len > WIRE_NAME_MAX)
		return;
	if (!bpf_probe_read_kernel(o->path, len, (void *)address))
		o->path_len = len;
}

static __always_inline void put_unix(struct wire_object *o, __u64 file)
{
	__u64 socket = (__u64)FIELD(file, file, private_data);
	__u64 sk = (__u64)FIELD(socket, socket, sk), pid;

	if (!HAS_UNIX_SOCKETS)
		return;
	pid = (__u64)FIELD(sock, sk, sk_peer_pid);
	if (pid)
		o->peer = (__u32)FIELD(pid, pid, numbers[0].nr);
	put_unix_address(o, sk);
}

/* A walk up from a control group to the root of its hierarchy. */
struct group_walk {
	struct wire_object *o;
	__u64 node;
};

static long put_group_name(__u32 i, struct group_walk *w)
{
	__u64 parent, name = POINTER(kernfs_node, w->node, name);

	(void)i;
	if (bpf_core_field_exists(((struct kernfs_node *)0)->__parent))
		parent = POINTER(kernfs_node, w->node, __parent);
	else
		parent = POINTER(kernfs_node___before_6_15, w->node, parent);
	if (!parent) {
		w->o->whole = 1;
		return 1;
	}
	if (!add_name(w->o, name))
		return 1;
	w->node = parent;
	return 0;
}

LOOP(put_group_name, struct group_walk, PATH_NAMES)

/* Puts the names of a control group's path into o->path. */
__noinline int put_group(struct wire_object *o, __u64 node)
{
	struct group_walk w = { .o = o, .node = node };

	if (!o)
		return 0;
	o->path_len = 0;
	loop_put_group_name(&w);
	return 0;
}

/*
 * Sends the object under this id. file: its struct file, of an endpoint its struct sock, of a route
 * the length of its text, which is in o->path already, of a control group its kernfs_node, else
 * anything. t: the thread in whose memory the object lies, if it is a lock; may be NULL for others.
 * False: it has to be sent again. Not inlined: with it object_id(), and what that calls otherwise,
 * would need too much stack.
 */
static __noinline bool send_object(struct wire_object *o, struct task_struct *t, __u64 now,
				   __u32 id, __u64 file)
{
	void *ring = this_ring();
	__u32 len;

	if (!ring)
		return false;
	fill_record(&o->r, now, WIRE_OBJECT);
	o->id = id;
	o->peer = o->path_len = o->whole = 0;
	o->shared = o->again = 0;
	o->offset = o->inode = 0;
	o->device = 0;
	if (t && o->key.kind == WIRE_OBJECT_FUTEX)
		put_mapping(o, t);
	else if (o->key.kind == WIRE_OBJECT_UNIX)
		put_unix(o, file);
	else if (o->key.kind == WIRE_OBJECT_ENDPOINT && (__u8)o->key.v[0] == AF_UNIX)
		put_unix_address(o, file);
	else if (o->key.kind == WIRE_OBJECT_FILE || o->key.kind == WIRE_OBJECT_LOCK ||
		 o->key.kind == WIRE_OBJECT_ANON ||
		 (o->key.kind == WIRE_OBJECT_PIPE && o->key.v[2]))
		put_path(o, file);
	else if (o->key.kind == WIRE_OBJECT_GROUP)
		put_group(o, file);
	else if (o->key.kind == WIRE_OBJECT_ROUTE)
		o->path_len = (__u32)file;
	len = o->path_len;
	barrier_var(len);
	if (len > sizeof(o->path))
		len = sizeof(o->path);
	return !bpf_ringbuf_output(ring, o, __builtin_offsetof(struct wire_object, path) + len,
				   BPF_RB_NO_WAKEUP) &&
	       !o->again;
}

static __always_inline __u64 hash_key(const struct wire_object_key *key)
{
	__u64 h = mix_chosen(hash_seed + WIRE_OBJECT,
			     (__u64)key->tgid << 32 | (__u64)key->call << 16 | key->kind);

#pragma unroll
	for (int i = 0; i < 5; i++)
		h = mix_chosen(h, key->v[i]);
	return h;
}

/*
 * As recent_id(), for an object, by its key. 0: the map has no room for it now. An object that
 * could not be sent whole is sent again when it is seen the next time.
 */
static __always_inline __u32 id_of_object(struct wire_object *o, struct task_struct *t, __u64 now,
					  __u64 file)
{
	__u64 hash = hash_key(&o->key), word;
	struct wire_known_stack *known;
	__u32 id = recent_of(hash), fresh;

	if (id)
		return id;
	word = known_or_new(hash, &known, &fresh);
	if (!word)
		return 0;
	if (!(word & WORD_IS_SENT)) {
		if (!send_object(o, t, now, (__u32)word, file))
			return (__u32)word;
		note_sent(known, word);
	}
	keep_recent(hash, (__u32)word);
	return (__u32)word;
}

static __always_inline __u32 object_of(struct task_struct *t, __u64 now, bool current)
{
	__u32 slot = current ? OBJECT_OF_SWITCH : OBJECT_OF_LISTED;
	struct wire_object *o = bpf_map_lookup_elem(&object_scratch, &slot);
	__u64 file;

	if (!o)
		return 0;
	__builtin_memset(&o->key, 0, sizeof(o->key));
	o->owner = t->tgid;
	o->holder = 0;
	((struct object_room *)o)->seen.was_asked = false;
	file = find_object_key(o, t, now, current);
	return file ? id_of_object(o, t, now, file) : 0;
}

/* The id of what the current thread, which goes to sleep, waits for; 0: not known. */
__noinline __u32 object_id(__u64 now)
{
	return object_of(bpf_get_current_task_btf(), now, true);
}

/* The same of a thread that is asleep. The collector reads who holds a lock. */
static __always_inline void list_object(struct wire_thread *t, struct task_struct *task)
{
	__u32 slot = OBJECT_OF_LISTED;
	struct wire_object *o = bpf_map_lookup_elem(&object_scratch, &slot);

	t->object = object_of(task, t->seen_ns, false);
	if (!o || !t->object || !o->holder)
		return;
	t->lock = o->key.v[0];
	t->lock_expects = o->holder;
}

/* Says who holds the lock that object_id() has just found, if that is known. */
static __always_inline void record_holder(__u32 tid, __u64 now)
{
	__u32 slot = OBJECT_OF_SWITCH;
	struct wire_object *o = bpf_map_lookup_elem(&object_scratch, &slot);
	struct wire_holder *ev;

	if (!o || !o->holder)
		return;
	ev = record_event(WIRE_HOLDER, now, struct wire_holder);
	if (!ev)
		return;
	ev->tid = tid;
	ev->holder = o->holder;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}
