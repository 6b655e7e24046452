// SPDX-License-Identifier: GPL-2.0-or-later
#include "request_short.h"

#include <string.h>

#include "chainlog.h"

/*
 * The numbers that are kept, in the order of their bits: where they are in an event, and of what
 * type.
 */
static const struct event_field kept[CHAINLOG_REQUEST_KEPT] = {
#define AT(f) offsetof(struct event, f)
	{ FIELD_NUMBER, AT(request.bytes_read) },
	{ FIELD_NUMBER, AT(request.bytes_written) },
	{ FIELD_OBJECT, AT(request.label) },
	{ FIELD_NUMBER, AT(request.flags) },
	{ FIELD_TID, AT(other) },
	{ FIELD_TID, AT(tid) },
	{ FIELD_OBJECT, AT(request.endpoint) },
#undef AT
};
#define HAS_STACKS (1u << CHAINLOG_REQUEST_KEPT)
/* In the first number: the mask follows; the time since the answer does. */
#define HAS_MASK 1u
#define HAS_ANSWER 2u

#define SHAPE_MASK ((1u << CHAINLOG_REQUEST_SHAPE) - 1)

/* What requests have in common is kept in the place of the oldest. */
static void keep_shape(struct chainlog_requests *r, const uint64_t shape[CHAINLOG_REQUEST_SHAPE])
{
	memcpy(r->shapes[r->next_shape], shape, sizeof(*r->shapes));
	r->next_shape = (r->next_shape + 1) % CHAINLOG_REQUEST_SHAPES;
}

/* Its place; CHAINLOG_REQUEST_SHAPES: it has none. */
static uint32_t find_shape(const struct chainlog_requests *r,
			   const uint64_t shape[CHAINLOG_REQUEST_SHAPE])
{
	uint32_t i = 0;

	while (i < CHAINLOG_REQUEST_SHAPES && memcmp(r->shapes[i], shape, sizeof(*r->shapes)) != 0)
		i++;
	return i;
}

static bool connection_same(const void *at, uint32_t ref, const void *connection)
{
	return ((const struct chainlog_request *)at)[ref].connection ==
	       *(const uint64_t *)connection;
}

/* A connection that the block has not told yet: all else may be as of the last request. */
static uint32_t add_connection(struct chainlog_requests *r, uint64_t connection)
{
	r->at[++r->n] = r->at[r->last];
	r->at[r->n].connection = connection;
	return r->n;
}

void chainlog_requests_begin(struct chainlog_requests *r)
{
	r->n = r->last = r->next_shape = 0;
	memset(r->shapes, 0, sizeof(r->shapes));
	r->at[0] = (struct chainlog_request) { 0 };
}

/* ---- writing -------------------------------------------------------------------------------- */

void chainlog_requests_init(struct chainlog_requests_made *w)
{
	w->index = (struct id_index) { w->slots, CHAINLOG_REQUESTS_SLOTS - 1 };
	id_index_clear(&w->index);
	chainlog_requests_begin(&w->told);
}

void chainlog_requests_renew(struct chainlog_requests_made *w)
{
	if (w->told.n)
		chainlog_requests_init(w);
}

static uint64_t ago(const struct event *ev, uint64_t time_ns, uint64_t most)
{
	uint64_t since = time_ns < ev->time_ns ? ev->time_ns - time_ns : 0;

	return since < most ? since : most;
}

/*
 * What is not as before, by the place of a shape that requests of the block had (odd), or by a mask
 * and the fields that it says (even).
 */
static uint8_t *write_changed(struct chainlog_requests *told, struct chainlog_request *r,
			      uint8_t *p, const struct event *ev, uint32_t changed)
{
	uint32_t shape = CHAINLOG_REQUEST_SHAPES;

	for (uint32_t i = 0; i < CHAINLOG_REQUEST_KEPT; i++)
		r->kept[i] = event_value(ev, &kept[i]);
	if (!(changed & ~SHAPE_MASK))
		shape = find_shape(told, r->kept);
	if (shape < CHAINLOG_REQUEST_SHAPES)
		return chainlog_put_varint(p, 2 * (uint64_t)shape + 1);
	p = chainlog_put_varint(p, 2 * (uint64_t)changed);
	for (uint32_t i = 0; i < CHAINLOG_REQUEST_KEPT; i++)
		if (changed >> i & 1)
			p = chainlog_put_varint(p, r->kept[i]);
	if (changed & SHAPE_MASK)
		keep_shape(told, r->kept);
	return p;
}

uint8_t *chainlog_request_write(struct chainlog_requests_made *w, uint8_t *p,
				const struct event *ev)
{
	uint64_t arrival = ago(ev, ev->request.arrival_ns, UINT64_MAX);
	uint64_t taken = ago(ev, ev->request.taken_ns, arrival);
	uint64_t answer = ago(ev, ev->request.answer_ns, taken);
	uint64_t connection = ev->request.connection;
	uint32_t h = hash_pair((uint32_t)connection, (uint32_t)(connection >> 32));
	uint32_t *slot = id_index_slot(&w->index, h, connection_same, w->told.at, &connection);
	uint32_t ref = *slot, changed = ev->kstack || ev->ustack ? HAS_STACKS : 0;
	struct chainlog_request *r;

	if (!ref && w->told.n == CHAINLOG_REQUESTS_ROOM)
		return NULL;
	if (!ref)
		*slot = add_connection(&w->told, connection);
	r = &w->told.at[*slot];
	w->told.last = *slot;
	for (uint32_t i = 0; i < CHAINLOG_REQUEST_KEPT; i++)
		changed |= (uint32_t)(event_value(ev, &kept[i]) != r->kept[i]) << i;
	p = chainlog_put_varint(p, 4 * (uint64_t)ref + (changed ? HAS_MASK : 0) +
					   (answer != r->answer ? HAS_ANSWER : 0));
	if (!ref)
		p = chainlog_put_varint(p, connection);
	if (changed)
		p = write_changed(&w->told, r, p, ev, changed);
	if (changed & HAS_STACKS)
		p = chainlog_put_varint(chainlog_put_varint(p, ev->kstack), ev->ustack);
	if (answer != r->answer)
		p = chainlog_put_varint(p, r->answer = answer);
	return chainlog_put_varint(chainlog_put_varint(p, taken - answer), arrival - taken);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Reads a number up to most; NULL: it is not. */
static const uint8_t *get_up_to(const uint8_t *p, const uint8_t *end, uint64_t most, uint64_t *v)
{
	p = p ? chainlog_get_varint(p, end, v) : NULL;
	return p && *v <= most ? p : NULL;
}

/* The connection that the number says, which follows if it is new; 0: there is none. */
static uint32_t get_connection(struct chainlog_requests *r, const uint8_t **p, const uint8_t *end,
			       uint64_t ref)
{
	uint64_t connection;

	if (ref > r->n || (!ref && r->n == CHAINLOG_REQUESTS_ROOM))
		return 0;
	if (ref)
		return (uint32_t)ref;
	*p = chainlog_get_varint(*p, end, &connection);
	return *p ? add_connection(r, connection) : 0;
}

static void set_field(struct event *ev, const struct event_field *f, uint64_t v)
{
	if (f->type >= FIELD_NUMBER)
		*(uint64_t *)(void *)event_id(ev, f) = v;
	else
		*event_id(ev, f) = v <= UINT32_MAX ? (uint32_t)v : 0;
}

/* Reads how much longer ago something was than *since, at most since the beginning. */
static const uint8_t *get_longer(const uint8_t *p, const uint8_t *end, const struct event *ev,
				 uint64_t *since)
{
	uint64_t more = 0;

	p = p ? chainlog_get_varint(p, end, &more) : NULL;
	*since = *since < ev->time_ns && more < ev->time_ns - *since ? *since + more : ev->time_ns;
	return p;
}

/* Reads what is not as before. *changed: the mask of it. */
static const uint8_t *get_changed(struct chainlog_requests *r, struct chainlog_request *of,
				  const uint8_t *p, const uint8_t *end, bool has_shapes,
				  uint64_t *changed)
{
	uint64_t n = 0;

	p = get_up_to(p, end, has_shapes ? 4 * HAS_STACKS - 1 : 2 * HAS_STACKS - 1, &n);
	*changed = has_shapes ? n / 2 : n;
	if (p && has_shapes && n & 1) {
		*changed = 0;
		if (n / 2 >= CHAINLOG_REQUEST_SHAPES)
			return NULL;
		memcpy(of->kept, r->shapes[n / 2], sizeof(*r->shapes));
		return p;
	}
	for (uint32_t i = 0; p && i < CHAINLOG_REQUEST_KEPT; i++)
		if (*changed >> i & 1)
			p = get_up_to(p, end,
				      kept[i].type == FIELD_TID ? CHAINLOG_TID_LIMIT - 1
								: UINT64_MAX,
				      &of->kept[i]);
	if (p && has_shapes && *changed & SHAPE_MASK)
		keep_shape(r, of->kept);
	return p;
}

bool chainlog_request_read(struct chainlog_requests *r, const uint8_t *p, const uint8_t *end,
			   bool has_shapes, struct event *ev)
{
	uint64_t what = 0, changed = 0, stacks[2] = { 0, 0 }, since;
	struct chainlog_request *of;
	uint32_t number;

	p = chainlog_get_varint(p, end, &what);
	number = p ? get_connection(r, &p, end, what / 4) : 0;
	if (!number)
		return false;
	of = &r->at[number];
	r->last = number;
	if (what & HAS_MASK)
		p = get_changed(r, of, p, end, has_shapes, &changed);
	for (uint32_t i = 0; changed & HAS_STACKS && i < 2; i++)
		p = get_up_to(p, end, UINT32_MAX, &stacks[i]);
	if (what & HAS_ANSWER)
		p = get_up_to(p, end, UINT64_MAX, &of->answer);
	ev->request.answer_ns = ev->time_ns - (of->answer < ev->time_ns ? of->answer : ev->time_ns);
	since = ev->time_ns - ev->request.answer_ns;
	p = get_longer(p, end, ev, &since);
	ev->request.taken_ns = ev->time_ns - since;
	p = get_longer(p, end, ev, &since);
	ev->request.arrival_ns = ev->time_ns - since;
	if (!p)
		return false;
	for (uint32_t i = 0; i < CHAINLOG_REQUEST_KEPT; i++)
		set_field(ev, &kept[i], of->kept[i]);
	ev->kstack = (uint32_t)stacks[0];
	ev->ustack = (uint32_t)stacks[1];
	ev->request.connection = of->connection;
	return true;
}
