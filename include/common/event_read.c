// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "event_read.h"

const uint8_t *chainlog_get_head(const uint8_t *p, const uint8_t *end,
				 struct chainlog_events_head *head)
{
	uint64_t limit = (uint64_t)(end - p) / 3 + 1; /* no event has fewer than three bytes */
	uint64_t first_ns = 0, span = 0;

	p = chainlog_get_below(p, end, CHAINLOG_CPU_LIMIT, &head->cpu);
	if (p)
		p = chainlog_get_varint(p, end, &first_ns);
	if (p)
		p = chainlog_get_varint(p, end, &span);
	if (!p || first_ns > INT64_MAX || span > INT64_MAX - first_ns)
		return NULL;
	head->first_ns = first_ns;
	head->last_ns = first_ns + span;
	return chainlog_get_below(p, end, limit < UINT32_MAX ? limit : UINT32_MAX, &head->count);
}

void chainlog_reader_free(struct chainlog_reader *r)
{
	free(r->threads);
	free(r->pairs);
	free(r->requests);
	*r = (struct chainlog_reader) { .p = NULL };
}

/* Makes room for what an EVENTS block with so many events in len bytes can name. */
static int make_room(struct chainlog_reader *r, uint32_t count, size_t len)
{
	/* A new thread takes two bytes or more, a new pair three; an event names two threads. */
	uint64_t room = len / 2;

	if (room > 2 * (uint64_t)count)
		room = 2 * (uint64_t)count;
	if (r->threads && room <= r->room)
		return 0;
	chainlog_reader_free(r);
	r->threads = malloc((room + 1) * sizeof(*r->threads));
	r->pairs = malloc((room + 1) * sizeof(*r->pairs));
	if (!r->threads || !r->pairs) {
		chainlog_reader_free(r);
		return -ENOMEM;
	}
	r->room = (uint32_t)room;
	return 0;
}

/* The same for requests of an AUX_EVENTS block. */
static int begin_requests(struct chainlog_reader *r)
{
	if (!r->requests)
		r->requests = malloc(sizeof(*r->requests));
	if (!r->requests)
		return -ENOMEM;
	chainlog_requests_begin(r->requests);
	return 0;
}

int chainlog_reader_begin(struct chainlog_reader *r, bool aux, const uint8_t *p, const uint8_t *end)
{
	struct chainlog_events_head head;
	int err;

	p = chainlog_get_head(p, end, &head);
	if (!p)
		return -EBADMSG;
	err = aux ? begin_requests(r) : make_room(r, head.count, (size_t)(end - p));
	if (err)
		return err;
	r->p = p;
	r->end = end;
	r->cpu = head.cpu;
	r->left = head.count;
	r->aux = aux;
	r->time_ns = head.first_ns;
	r->last_ns = head.last_ns;
	r->current = 0;
	r->n_threads = r->n_pairs = 0;
	return 0;
}

/* The time a field says, which is v as written. *ago as when it was written. */
static uint64_t field_time(const struct event *ev, enum event_field_type type, uint64_t v,
			   uint64_t *ago)
{
	switch (type) {
	case FIELD_SINCE:
		return v && v < ev->time_ns ? ev->time_ns - v : 0;
	case FIELD_UNTIL:
		return v < INT64_MAX - ev->time_ns ? ev->time_ns + v : INT64_MAX;
	case FIELD_FIRST:
		v = v < *ago ? *ago : v;
		return v < ev->time_ns ? ev->time_ns - v : 0;
	default:
		*ago = v < *ago ? v : *ago;
		return ev->time_ns - *ago;
	}
}

/*
 * Reads the known fields of a kind off [p, end); false if one is impossible. Those that an older
 * writer did not write are 0.
 */
static bool read_fields(const uint8_t *p, const uint8_t *end, struct event *ev)
{
	uint64_t v, ago = ev->time_ns;

	for (const struct event_field *f = event_fields(ev->kind); f->type; f++) {
		uint64_t *wide = (void *)((char *)ev + f->at);

		v = 0;
		if (p != end)
			p = chainlog_get_varint(p, end, &v);
		if (!p || (f->type <= FIELD_SMALL && v >= CHAINLOG_TID_LIMIT) ||
		    (f->type == FIELD_STACK && v > UINT32_MAX))
			return false;
		if (f->type > FIELD_NUMBER)
			*wide = field_time(ev, f->type, v, &ago);
		else if (f->type == FIELD_NUMBER)
			*wide = v;
		else
			*event_id(ev, f) = v <= UINT32_MAX ? (uint32_t)v : 0;
	}
	return true;
}

int chainlog_read_aux(struct chainlog_reader *r, struct event *ev)
{
	uint64_t kind, delta, len;
	const uint8_t *p;

	while (r->left) {
		p = chainlog_get_varint(r->p, r->end, &kind);
		if (p)
			p = chainlog_get_varint(p, r->end, &delta);
		if (p)
			p = chainlog_get_varint(p, r->end, &len);
		if (!p || delta > r->last_ns - r->time_ns || len > (uint64_t)(r->end - p))
			return -EBADMSG;
		r->time_ns += delta;
		r->left--;
		r->p = p + len;
		*ev = (struct event) { .time_ns = r->time_ns, .cpu = r->cpu };
		if (kind >= CHAINLOG_AUX_SHORT) {
			kind -= CHAINLOG_AUX_SHORT;
			if (kind / 2 <= UINT32_MAX)
				ev->awaited.object = (uint32_t)(kind / 2);
			ev->kind = kind & 1 ? EVENT_WOKEN_READY : EVENT_WAITS_FOR;
			return 1;
		}
		if (kind == CHAINLOG_REQUEST_SHORT || kind == CHAINLOG_REQUEST_MASKED) {
			ev->kind = EVENT_REQUEST;
			return chainlog_request_read(r->requests, p, r->p,
						     kind == CHAINLOG_REQUEST_SHORT, ev)
				       ? 1
				       : -EBADMSG;
		}
		if (kind >= CHAINLOG_AUX_KINDS ||
		    !event_fields((uint32_t)(CHAINLOG_AUX + kind))->type)
			continue;
		ev->kind = (uint8_t)(CHAINLOG_AUX + kind);
		return read_fields(p, r->p, ev) ? 1 : -EBADMSG;
	}
	return r->p == r->end && r->time_ns == r->last_ns ? 0 : -EBADMSG;
}
