/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requests.h - what clients asked servers for, as seen at the servers' sockets or by probes in
 * their programs (chain-semantics, section 15): when each request arrived, who read it when, who
 * answered when and from where.
 *
 * Each answered request of which nothing is missing is also a wait of a client, a thread behind the
 * real ones (timelines_client_threads()) that does nothing but wait for one endpoint. Requests that
 * overlap are those of different clients.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pairs.h"
#include "chainlog.h"
#include "contexts.h"

struct event;
struct wait;

enum request_flags {
	REQUEST_FIRST = CHAINLOG_REQUEST_FIRST, /* of its connection */
	/* It arrived before the answer of the one before it. */
	REQUEST_PIPELINED = CHAINLOG_REQUEST_PIPELINED,
	REQUEST_OLD = CHAINLOG_REQUEST_OLD,	  /* its connection is older than the recording */
	REQUEST_UNSENT = CHAINLOG_REQUEST_UNSENT, /* bytes of the answer were not yet sent */
	/* When it arrived is not known: arrival_ns is when it was read. */
	REQUEST_NO_ARRIVAL = CHAINLOG_REQUEST_NO_ARRIVAL,
	REQUEST_PROBED = CHAINLOG_REQUEST_PROBED, /* probes marked it */
	/* A stream of HTTP/2: others of its connection may overlap it. */
	REQUEST_STREAM = CHAINLOG_REQUEST_STREAM,
	REQUEST_RECORDED = 127,	      /* all of these */
	REQUEST_SEVERAL = 1 << 8,     /* the answer was written in several parts */
	REQUEST_OPEN = 1 << 9,	      /* not answered: it has no writer, and answers at 0 */
	REQUEST_BEFORE = 1 << 10,     /* it arrived before the recording began */
	REQUEST_INCOMPLETE = 1 << 11, /* the last parts of the answer may be missing */
	/* It is counted, but not explained. */
	REQUEST_UNEXPLAINED = REQUEST_OPEN | REQUEST_BEFORE | REQUEST_INCOMPLETE,
};

struct request {
	uint64_t arrival_ns, taken_ns; /* arrival <= taken <= first answer <= answer */
	uint64_t first_answer_ns, answer_ns;
	uint64_t connection; /* 0: a datagram's, or none */
	uint64_t bytes_read, bytes_written;
	uint32_t reader, writer; /* threads; THREAD_NONE: not known */
	uint32_t pair;		 /* the writer's stacks at the first answer */
	uint32_t flags;		 /* enum request_flags, or-ed */
	uint32_t others;	 /* so many that are not told are like it */
	uint32_t object;	 /* of the trace; 0: not known */
	uint32_t endpoint;	 /* see timelines_endpoint() */
	uint32_t label;		 /* object of the trace: what the program calls it; 0: none */
	/*
	 * Likewise: what it asks for, by the context that its program publishes, or by its first
	 * bytes. While the trace is read only the latter.
	 */
	uint32_t route;
	uint32_t context; /* see timelines_context(); 0: none is known */
	/*
	 * Of a TCP connection: its socket, an object of the trace, 0: not known; the sequence
	 * numbers of the first bytes of the answer and of the request; how many bytes the first
	 * write had.
	 */
	uint32_t socket;
	uint32_t answer_seq, request_seq;
	uint64_t first_bytes;
};

/*
 * What clients connect to: an address, what the program calls the work (its route), and the process
 * that answers.
 */
struct request_endpoint {
	uint32_t object; /* of the trace: protocol and own port, or path; 0: not known */
	uint32_t route;	 /* object of the trace; 0: none */
	uint32_t thread; /* one of the process; THREAD_NONE: not known */
	bool first;    /* without a route: only the first requests of connections, or all others */
	uint32_t name; /* string: "tcp :80", "tcp :80 first", "tcp :80 /cart" */
	uint32_t service; /* string: the same without the route */
	uint32_t client;  /* string: "[request tcp :80] nginx" */
	uint32_t for_it;  /* string: "[for tcp :80]" */
	uint32_t process; /* string: "nginx"; 0: not known */
	/*
	 * The same number, from 1 on, for all of one protocol and port, or path, and process name:
	 * for first requests and others, whatever their route.
	 */
	uint32_t address;
	/*
	 * The first endpoint that is called the same: a server may have a process for each
	 * connection.
	 */
	uint32_t alike;
	uint32_t requests; /* how many there are */
};

/* The number of an endpoint's service: the same for all routes of one address. */
static inline uint32_t request_service(const struct request_endpoint *e)
{
	return e->address << 1 | e->first;
}
/* A route with fewer requests is compared with all such routes of its service, together. */
#define REQUESTS_RARE 20u

/*
 * From from_ns to to_ns a thread worked for this request, and for no other. Those of a thread are
 * in order of time and do not overlap. There are none where requests may be missing.
 */
struct request_span {
	uint64_t from_ns, to_ns;
	uint32_t request; /* number */
};

struct request_spans {
	struct request_span *at;
	size_t *first; /* by thread, and one more */
};

/* The members are private to timeline/, but for those that have no function below. */
struct request_list {
	struct request *at; /* numbers from 0, in order of their (first) answers being noticed */
	size_t n, cap;

	struct request_endpoint *endpoints; /* numbers from 0 */
	uint32_t n_endpoints;
	uint32_t queued; /* string: "[queued]" */
	/*
	 * At sockets, numbers of requests by writer and answer, by reader and arrival; where those
	 * begin.
	 */
	uint32_t *by_writer, *by_reader;
	size_t *first_by_writer, *first_by_reader; /* by thread, and one more */
	struct request_spans written; /* the thread is the writer of exactly one that is taken */
	struct request_spans served;  /* likewise reader and writer */

	struct contexts contexts;
	/* Numbers of requests of which the trace id is known: by that, and by arrival. */
	uint32_t *by_trace;
	size_t n_by_trace;

	struct wait *waits; /* of all clients, one after another */
	uint32_t *of_wait;  /* the request of each */
	uint32_t *wait_of;  /* by request: its wait + 1; 0: none; NULL: all have none */
	size_t n_waits;

	/* While the trace is read: the last request of each connection, by its number's halves. */
	struct pair_table connections;
	uint64_t lost_until_ns; /* parts of answers may be missing up to here */
	/* Whole requests may be missing that were answered up to here. */
	uint64_t hidden_until_ns;
};

/* An event of requests: writer and reader are threads or THREAD_NONE. */
void requests_event(struct request_list *r, const struct event *ev, uint32_t writer,
		    uint32_t reader);
/* A STREAM of the writer of a request, which was the last one. */
void requests_stream(struct request_list *r, const struct event *ev, uint32_t writer);
/* Parts of answers are missing; up to last_ns. To be called in order of time. */
void requests_lost(struct request_list *r, uint64_t last_ns);
/* Requests that were answered by then are missing: none is known to be a thread's only one. */
void requests_hidden(struct request_list *r, uint64_t last_ns);
/* After the last event. */
void requests_complete(struct request_list *r);
/* Makes the indexes and spans, of n_threads. */
void requests_index(struct request_list *r, uint32_t n_threads);
/* The numbers of the requests of that trace id, in the order in which they arrived. */
const uint32_t *requests_of_trace(const struct request_list *r, const uint64_t trace[2], size_t *n);
void requests_free(struct request_list *r);
