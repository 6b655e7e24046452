/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disk_requests.h - what block devices were asked for, in the order in which it was done
 * (chain-semantics, section 11).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pairs.h"
#include "common/intern.h"

struct disk_request {
	uint64_t asked_ns, issued_ns; /* when the device got it; 0: not known, of both */
	uint64_t done_ns;
	uint32_t thread; /* who asked; THREAD_NONE: not known */
	uint32_t pair;	 /* its stacks then, see timelines_pair(); 0: not known */
	uint32_t kind;	 /* device and operation: see timelines_disk_request_kind() */
	uint32_t bytes;
	uint32_t group; /* if a worker asked: for which control group (string id); 0: not known */
};

/* A device, as an object of the trace, and enum chainlog_disk_op. */
struct disk_request_kind {
	uint32_t disk, op;
	bool held; /* back until asked_ns, by an I/O limit of this group (string id; 0: not known)
		    */
	uint32_t group;
};

/* All zero is empty. */
struct disk_requests {
	struct disk_request *at; /* a request's number counts from 1 */
	size_t n, cap;
	struct pairs kinds;	     /* (disk, op): numbers of kinds count from 1 */
	struct intern asked;	     /* while the trace is read: (time, tid) of what was asked, */
	struct disk_request *askers; /* and by whom, by its id */
	size_t cap_askers;
};

/* Thread asked for something under that tid. */
void disk_requests_ask(struct disk_requests *r, uint32_t tid, uint64_t asked_ns, uint32_t thread,
		       uint32_t pair);
/*
 * It was done: r has all but thread (by which it goes if who asked is not in the trace), pair,
 * kind.
 */
void disk_requests_done(struct disk_requests *r, uint32_t tid, const struct disk_request *done,
			struct disk_request_kind kind);
/* An I/O limit of the request's group held it back until it was asked for. */
void disk_requests_hold(struct disk_requests *r, struct disk_request *held);
struct disk_request_kind disk_requests_kind(const struct disk_requests *r, uint32_t kind);
/* When all events have been read. */
void disk_requests_finish(struct disk_requests *r);
void disk_requests_free(struct disk_requests *r);
