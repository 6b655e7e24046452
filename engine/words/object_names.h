/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object_names.h - what threads wait for, as it is written: "[tcp]", or "[tcp 10.0.0.5:5432]"; and
 * the processes at its other end. The recorder says who is at the other end of a unix socket; the
 * other end of a connection between two processes of this machine is an object itself, with its
 * process; and who wrote to a pipe or read from it has woken who waited there.
 */
#pragma once

#include "base/text.h"
#include "kernel_stacks.h"
#include "timeline/timeline.h"

struct object_names;

/* What is given must outlive it. */
void object_names_new(struct object_names **out, const struct timelines *tl,
		      struct kernel_stacks *k);
void object_names_free(struct object_names *o);

/*
 * Appends an object (an id of the trace) as it was recorded, without brackets and not cleaned: its
 * class; with in_full its name, too, and the processes at its other end, or who held it.
 * Nothing: it is not known.
 */
void object_names_put(struct object_names *o, uint32_t object, bool in_full, struct text_buf *b);

/* The process at its other end, of several the first; 0: it is not known. */
uint32_t object_names_peer(struct object_names *o, uint32_t object);
/*
 * The same for what a sleep with this stack pair was for, of several that which was ready: of a
 * pipe who reads it if the sleep was for room in it, who writes to it if it was for data; of a
 * connection that nobody is known to have taken who listens there.
 */
uint32_t object_names_other_end(struct object_names *o, uint32_t pair);
/*
 * The thread (tid) that held it, of a lock that the kernel knows the holder of; 0: it is none, or
 * not known. lock_holder.h knows more.
 */
uint32_t object_names_holder(const struct object_names *o, uint32_t object);

/* Appends what tells it from other objects of its class and name, " (inode 47)"; nothing without
 * any. */
void object_names_put_distinction(struct object_names *o, uint32_t object, struct text_buf *b);
/* The thread that had the tid, of several the last one; THREAD_NONE: there was none. */
uint32_t object_names_thread(struct object_names *o, uint32_t tid);
/* Appends " NAME/ID" of a thread, as it was called last; not cleaned. */
void object_names_put_thread(struct object_names *o, uint32_t thread, struct text_buf *b);
/* What was given. */
const struct timelines *object_names_timelines(const struct object_names *o);

/* ---- block devices, and what they are asked for ---------------------------------------------- */

/* "read", "write" and so on, of enum chainlog_disk_op. */
const char *disk_op_name(unsigned int op);
/* The device's name, not cleaned; "" if it is not known. */
const char *disk_device_name(const struct trace *t, uint32_t disk);
/* Puts "disk vda read", not cleaned. */
void disk_names_put(const struct trace *t, uint32_t disk, unsigned int op, struct text_buf *out);
