/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request_short.h - the short form of REQUEST events in a block of AUX_EVENTS: a request is told by
 * what is not as with the one before it on its connection. Part of event_block.h.
 */
#pragma once

#include "event.h"
#include "id_index.h"

/* Connections of a block; requests of further ones have the long form. */
#define CHAINLOG_REQUESTS_ROOM 1024u
#define CHAINLOG_REQUESTS_SLOTS (2 * CHAINLOG_REQUESTS_ROOM)
/* What requests have in common, the first of these numbers: so many of them are told by their
 * place. */
#define CHAINLOG_REQUEST_SHAPE 4u
#define CHAINLOG_REQUEST_SHAPES 64u
/* Numbers of a request that are kept for the next one, beside how long ago it was answered. */
#define CHAINLOG_REQUEST_KEPT 7u

struct chainlog_request {
	uint64_t connection;
	uint64_t answer;
	uint64_t kept[CHAINLOG_REQUEST_KEPT];
};

/* What a block has told of connections so far, by reference. */
struct chainlog_requests {
	uint32_t n;
	uint32_t last; /* the reference of the last request; 0: none yet */
	uint32_t next_shape;
	uint64_t shapes[CHAINLOG_REQUEST_SHAPES][CHAINLOG_REQUEST_SHAPE];
	struct chainlog_request at[CHAINLOG_REQUESTS_ROOM + 1];
};

/* A block begins. */
void chainlog_requests_begin(struct chainlog_requests *r);

/* The same for who writes it, who has to find connections. */
struct chainlog_requests_made {
	struct id_index index;
	struct chainlog_requests told;
	uint32_t slots[CHAINLOG_REQUESTS_SLOTS];
};

void chainlog_requests_init(struct chainlog_requests_made *w);
/* Another block begins. */
void chainlog_requests_renew(struct chainlog_requests_made *w);
/*
 * Writes the fields of a REQUEST, at most CHAINLOG_REQUEST_MAX bytes. Returns their end; NULL:
 * there is no room for its connection, and nothing is written.
 */
uint8_t *chainlog_request_write(struct chainlog_requests_made *w, uint8_t *p,
				const struct event *ev);
#define CHAINLOG_REQUEST_MAX (5 * 3 + 10 * 10)

/*
 * Reads the fields at p into a REQUEST whose time is set. has_shapes: they are of
 * CHAINLOG_REQUEST_SHORT, not of CHAINLOG_REQUEST_MASKED. False: they are impossible.
 */
bool chainlog_request_read(struct chainlog_requests *r, const uint8_t *p, const uint8_t *end,
			   bool has_shapes, struct event *ev);
