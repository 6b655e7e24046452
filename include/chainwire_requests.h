/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chainwire_requests.h - requests at sockets and between probes, and the contexts that programs
 * publish. Part of chainwire.h.
 */
#pragma once

#include "chainwire_record.h"
#include "chainwire_variable.h"

/* The first bytes of a request, of which the collector makes a route. */
#define WIRE_REQUEST_BYTES 256u
/* So many hashes of such bytes a CPU remembers, each at its place by the bits from the second on.
 */
#define WIRE_KNOWN_BYTES 1024u

/* A request at a socket was answered; also WIRE_REQUEST_MORE and WIRE_REQUEST_OPEN. */
struct wire_request {
	struct wire_record r;
	__u64 connection; /* from 1 on; 0: a datagram socket's */
	__u64 arrival_ns; /* MORE: the first write of the answer */
	__u64 taken_ns;	  /* the read that got it */
	__u64 answer_ns;  /* the last write so far */
	__u64 bytes_read, bytes_written;
	__u32 reader, writer; /* threads; 0: not known */
	__u32 kstack, ustack; /* the writer's; 0: not taken */
	__u32 endpoint;	      /* see struct wire_object; 0: not known */
	__u32 flags;	      /* CHAINLOG_REQUEST_*, or-ed */
	__u64 hash;	      /* of its first bytes; 0: they are not known */
	__u32 nth;     /* of those of its connection that were read, from 1 on; a stream's: of its
			  headers */
	__u32 n_bytes; /* so many follow; 0: the CPU sent those of this hash before */
};

/*
 * What requests begin with whose connection is enciphered, but for the first one: a record of TLS
 * that is too long to be one.
 */
#define WIRE_ENCIPHERED "\x17\3\3\xff\xff"

/* The same with its first bytes, zero from n_bytes on. */
struct wire_request_bytes {
	union {
		struct wire_record r;
		struct wire_request request;
	};
	char bytes[WIRE_REQUEST_BYTES];
};

/*
 * The headers that a connection of HTTP/2 has read for a stream, before the stream's request: what
 * they refer to is in those before them, so all are sent.
 */
#define WIRE_HEADERS_BYTES 1024u
#define WIRE_HEADERS_CUT 1 /* these are not all */
#define WIRE_HEADERS_OLD 2 /* those that the connection had first are missing */

struct wire_headers {
	struct wire_record r;
	__u32 connection, nth; /* of the connection's, from 1 on */
	__u16 n_bytes;
	__u8 flags;  /* of the frame */
	__u8 is_cut; /* WIRE_HEADERS_*, or-ed */
	char bytes[WIRE_HEADERS_BYTES];
};

/*
 * A request of some length may get stacks (bpf/requests.h); of the others at most so many are told
 * in a second, on each CPU. Value of the map "request_accounts".
 */
#define WIRE_REQUEST_RATE 50000u

struct wire_request_account {
	__u64 second_ns; /* when the present second began, */
	__u64 told;	 /* requests that were told in it, or would have been */
	__u64 untold;	 /* those that were not, since the beginning */
	__u64 stacks_ns; /* when stacks were taken last, */
	__u64 took_ns;	 /* and how long that request took */
	__u64 busy;	 /* 1: a program is taking stacks */
	__u64 quick;	 /* requests for which another one stands (bpf/request_light.h) */
};

/* A process and its table of files. Reading the iterator gives whole structs. */
struct wire_file_table {
	__u64 files; /* the table's address */
	__u32 tgid;  /* in the recorder's PID namespace; 0: it is not in it */
	__u32 room;  /* files that the table can hold */
};

/*
 * Requests that probes mark: the call of a function, or from one mark to another. A site is a place
 * in a file at which a probe is; its number is the cookie of the probe's attachment.
 */
#define WIRE_PROBE_SITES 256u
#define WIRE_PROBES 16u	    /* names that requests have */
#define WIRE_PROBE_NAME 32  /* of these, with the terminator */
#define WIRE_PROBE_LABEL 65 /* of one request, with the terminator */
#define WIRE_PROBES_OPEN (1u << 16)
#define WIRE_TLS_READERS 16384u	    /* threads that read from connections of TLS */
#define WIRE_TLS_CONNECTIONS 16384u /* that are told apart */

enum wire_probe_act {
	WIRE_PROBE_CALL,   /* a function is entered */
	WIRE_PROBE_RETURN, /* and has returned */
	WIRE_PROBE_BEGIN,
	WIRE_PROBE_END,
	/* Of libssl: what deciphers, SSL_read() or SSL_read_ex(); and what frees a connection's
	   state. */
	WIRE_PROBE_TLS_READ,
	WIRE_PROBE_TLS_READ_DONE,
	WIRE_PROBE_TLS_READ_EX_DONE,
	WIRE_PROBE_TLS_FREE,
};

/* Where a probe finds a number. */
enum wire_probe_source {
	WIRE_PROBE_NOTHING,
	WIRE_PROBE_CONSTANT, /* it is `number` */
	WIRE_PROBE_REGISTER,
	WIRE_PROBE_MEMORY, /* in user memory, at register + index register * scale + number */
};

struct wire_probe_value {
	__s64 number;
	__u16 reg;   /* of a register: its offset in struct pt_regs */
	__u16 index; /* likewise, if scale is not 0 */
	__u8 scale;
	__u8 source;	/* enum wire_probe_source */
	__u8 bytes;	/* 1, 2, 4 or 8 */
	__u8 is_signed; /* a shorter one is extended by its sign */
};

/* Value of the map "probe_sites". */
struct wire_probe_site {
	__u32 act;	/* enum wire_probe_act */
	__u32 request;	/* below WIRE_PROBES: which of the names it belongs to */
	__u32 by_id;	/* 1: id tells requests apart, on any threads of a process; 0: the thread */
	__u32 label_is; /* enum wire_probe_label */
	struct wire_probe_value id, label; /* of libssl: the connection's state; the buffer */
	struct wire_probe_value n;	   /* of libssl: how many bytes, or where that will stand */
	char name[WIRE_PROBE_NAME];
};

/* What is kept of a label: a number, or the string at that address. */
enum wire_probe_label {
	WIRE_LABEL_NONE,
	WIRE_LABEL_SIGNED,
	WIRE_LABEL_UNSIGNED,
	WIRE_LABEL_STRING,
};

/* WIRE_PROBED: a request has ended; WIRE_PROBED_OPEN: it never will, or not in time. */
struct wire_probed {
	struct wire_request request;
	char name[WIRE_PROBE_NAME];
	__u64 number; /* the label, if that is a number */
	__u32 label_is, pad;
	char label[WIRE_PROBE_LABEL]; /* likewise, a string */
	char unused[7];
};

/* From now on, as far as is known, the thread works for this span, or for none. */
struct wire_context {
	struct wire_record r;
	__u64 trace_high, trace_low; /* W3C trace id; 0: none */
	__u64 span;		     /* span id; 0: none */
	__u32 tid;
	__u32 route; /* see struct wire_object; 0: none */
};

#define WIRE_NO_KEY 256u

/*
 * Value of the map "publishers", by process id: where the process keeps the pointer to the context
 * of a thread (OpenTelemetry's thread context).
 */
struct wire_publisher {
	struct wire_variable at;
	__u32 route; /* index of the attribute that is the route; WIRE_NO_KEY: none is */
	__u32 pad;
};

#define WIRE_PUBLISHERS (1u << 14)
#define WIRE_ROUTE_MAX 64u /* bytes; a longer one is cut */
