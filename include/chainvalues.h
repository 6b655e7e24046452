/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chainvalues.h - what is the same in the trace and in the records. Part of chainlog.h and
 * chainwire.h. */
#pragma once

/*
 * What a recorder left out for want of room or of time, and counted. Its tag in the END block is
 * CHAINLOG_END_UNTOLD and the value; include/common/left_out.c has the words.
 */
enum chainlog_left_out {
	CHAINLOG_LEFT_REQUESTS, /* requests that came too fast */
	CHAINLOG_LEFT_PROBED,	/* those of --request, as too many others had begun */
	CHAINLOG_LEFT_LISTS,	/* lists of threads and connections that took too long */
	CHAINLOG_LEFT_OPEN, /* tables of files that were not searched for open requests at the end
			     */
	CHAINLOG_LEFT_DATAGRAMS, /* that were read by more threads of a socket than are kept */
	CHAINLOG_LEFT_QUOTAS, /* times in which threads had no quota: too many had none at once */
	CHAINLOG_LEFT_DISK,   /* requests to disks, or their askers: too many at once */
	CHAINLOG_LEFT_WORK,   /* work items that were forgotten before they began, or cancelled */
	CHAINLOG_LEFT_CODE, /* frames of interpreted code that was forgotten: there was too much */
	CHAINLOG_LEFT_PROCESSES, /* with contexts or an interpreter: there were too many */
	CHAINLOG_LEFT_SOCKETS,	 /* times a socket got no room: too many were in use */
	CHAINLOG_LEFT_MAPPED,	 /* files that were mapped and not looked at for interpreters */
	CHAINLOG_LEFT_STACKS,  /* user stacks that were cut, as rules came too late, or no room was
				  left */
	CHAINLOG_LEFT_ROUTES,  /* of requests: too many routes, endpoints or statements */
	CHAINLOG_LEFT_QUICK,   /* requests of a light recording for which another one stands */
	CHAINLOG_LEFT_STREAMS, /* of HTTP/2: too many of a connection, or not followed */
	CHAINLOG_LEFT_OUTS,
};

/* Why a user stack has no more frames; a stack that no STACK_ENDS block lists: UNKNOWN. */
enum chainlog_stack_end {
	CHAINLOG_STACK_UNKNOWN,	   /* not known */
	CHAINLOG_STACK_WHOLE,	   /* its last frame is the outermost one */
	CHAINLOG_STACK_DEPTH,	   /* it has more frames than a stack can have here */
	CHAINLOG_STACK_UNREADABLE, /* the stack's memory could not be read */
	CHAINLOG_STACK_NO_RULE,	   /* no rule says where the caller's frame is */
	CHAINLOG_STACK_GUESSED,	   /* found by a frame pointer that may not be one, or is 0 */
	CHAINLOG_STACK_ENDS,
};

/* Why a timer of TCP put something off in TCP_TIMER. */
enum chainlog_tcp_timer {
	CHAINLOG_TCP_NONE,	   /* never written */
	CHAINLOG_TCP_DELAYED_ACK,  /* the other end waited for an acknowledgement */
	CHAINLOG_TCP_RETRANSMIT,   /* what was sent was lost, and sent again */
	CHAINLOG_TCP_ACCEPT_QUEUE, /* likewise, as the queue of who listens was full */
	CHAINLOG_TCP_TIMERS,
};

/* What a worker executes in WORK. */
enum chainlog_work {
	CHAINLOG_WORK_NONE,    /* no item */
	CHAINLOG_WORK_QUEUED,  /* it is known who queued it, and when */
	CHAINLOG_WORK_UNKNOWN, /* not known: queued_ns is when its execution began */
	CHAINLOG_WORKS,
};

/* Whose quota it was in UNTHROTTLED. */
enum chainlog_quota {
	CHAINLOG_QUOTA_GROUP,
	CHAINLOG_QUOTA_DEADLINE, /* the thread's own runtime of SCHED_DEADLINE */
	CHAINLOG_QUOTA_REALTIME, /* that of all realtime threads (sched_rt_runtime_us) */
	CHAINLOG_QUOTAS,
};

/* Flags of REQUEST, REQUEST_MORE and REQUEST_OPEN. */
#define CHAINLOG_REQUEST_FIRST 0x01u	  /* of its connection */
#define CHAINLOG_REQUEST_PIPELINED 0x02u  /* arrived before the answer of the one before it */
#define CHAINLOG_REQUEST_OLD 0x04u	  /* its connection is older than the recording */
#define CHAINLOG_REQUEST_UNSENT 0x08u	  /* bytes of the answer were not yet sent */
#define CHAINLOG_REQUEST_NO_ARRIVAL 0x10u /* when it arrived is not known: as it was read */
#define CHAINLOG_REQUEST_PROBED 0x20u	  /* it was marked by probes, not found at a socket */
#define CHAINLOG_REQUEST_STREAM 0x40u	  /* a stream: others of its connection may overlap it */
/*
 * From this bit on of a REQUEST: so many others like it, each quicker than most, were answered
 * before it and are not told.
 */
#define CHAINLOG_REQUEST_OTHERS 8

/* Operations of DISK_DONE; a reader takes others as OTHER. */
enum chainlog_disk_op {
	CHAINLOG_DISK_READ,
	CHAINLOG_DISK_WRITE,
	CHAINLOG_DISK_FLUSH,
	CHAINLOG_DISK_DISCARD,
	CHAINLOG_DISK_ZERO, /* write zeroes */
	CHAINLOG_DISK_OTHER,
	CHAINLOG_DISK_OPS,
};
